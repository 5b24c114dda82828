"""The sections of a configuration, with the types, ranges and meaning of their keys.

`[task]` and `[automaton]` are in `difflogic.tasks.section`. Every description says what the key
means, and its unit. Ranges follow from the constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field

from difflogic.circuit.forms import FORMS
from difflogic.circuit.grid import Start
from difflogic.circuit.wiring import FIRST_TOPOLOGIES
from difflogic.system.elementary import power
from difflogic.system.quantities import BYTES
from difflogic.system.strategy import Strategy
from difflogic.tasks.section import Section, Size

Auto = Literal["auto"]
WholeNumber = Annotated[int, Field(ge=1, le=10**9)]
Epoch = Annotated[int, Field(ge=0, le=10**9)]
LearningRate = Annotated[float, Field(gt=0, le=1000)]
Decay = Annotated[float, Field(ge=0, le=0.999999)]
Sha256 = Annotated[
    str, Field(pattern=r"^[0-9a-f]{64}$", json_schema_extra={"accepted": "64 hexadecimal digits"})
]
# A TOML array arrives as a list; only the array itself is converted, its items stay strict.
Layers = Annotated[tuple[Size, ...], Field(min_length=1, max_length=1000, strict=False)]
if TYPE_CHECKING:
    Form: TypeAlias = str
    FirstTopology: TypeAlias = str
else:
    Form = Literal[*FORMS]
    FirstTopology = Literal[*FIRST_TOPOLOGIES]

CHANGEABLE = ("parallel", "checkpoint")
"""Sections that a resumed run may change: they do not change results, except `device`, since a GPU
rounds differently."""


class PerceptionConfig(Section):
    """The kernels: small circuits that read the 3×3 neighbourhood of one channel."""

    kernels: Size = Field(description="number of kernels, each with its own logits")
    gates: Layers = Field(
        default=(8, 4, 2), description="gates per layer of one kernel, which has 9 inputs"
    )
    wiring: FirstTopology = Field(
        default="moore",
        description="wiring of all layers. With moore, von-neumann, hexagonal, line or corner, "
        "each gate of the first layer compares the centre with one of 8, 4, 6, 2 or 3 neighbours "
        "(corner: N, W and NW), each as often as the others; later layers are unique. unique: no "
        "two gates of a layer read the same pair of inputs",
    )
    directions: Literal["same", "random", "all"] = Field(
        default="same",
        description="where untrained kernels look. same: all share one wiring; random: each has "
        "its own; all: each has its own, and together they look in as many directions as the "
        "wires allow: NW, NE, SE, SW, S, N, W, E in turn; with fewer than five kernels, the last "
        "one also looks S; needs wiring moore",
    )


class UpdateConfig(Section):
    """The circuit that maps a cell's channels and its perception to its next state."""

    gates: Layers = Field(
        description="gates per layer, with wiring unique; the last layer has one per channel"
    )
    carry: Annotated[float, Field(ge=0, le=1e6)] = Field(
        default=0.0,
        description="mean number of steps for which untrained cells pass a signal on in one "
        "direction, through nearly all channels in turn; at least 1, or 0 to wire at random",
    )
    corrected: bool = Field(
        default=False,
        description="whether gates or wires were changed after training: a picture with places "
        "was corrected, or a tough circuit rewired. Runs set it in their models; such a circuit "
        "cannot be trained again",
    )


def fit_layer_widths(gates: Sequence[int], inputs: int, channels: int) -> list[int]:
    """Return layer widths like `gates` for an update circuit from `inputs` bits to `channels`.

    Each layer is at least half as wide as the one before, so that every output is read, and has at
    most one gate per pair of inputs. Widths that fit are returned unchanged.
    """
    if channels == gates[-1]:
        return list(gates)
    widths: list[int] = []
    for size in gates[:-1]:
        if size <= channels and widths:
            break
        pairs = inputs * (inputs - 1) // 2
        inputs = max(1, min(max(size, (inputs + 1) // 2), pairs))
        widths.append(inputs)
    while inputs > 2 * channels:
        inputs = (inputs + 1) // 2
        widths.append(inputs)
    return [*widths, channels]


EPSILON = 1e-8
"""AdamW's guard against division by zero. Source: Kingma and Ba 2015, algorithm 1; the DiffLogic CA
notebook."""


class TrainingConfig(Section):
    """Gradient descent on the logits, by AdamW. See also [pool]."""

    # The bounds keep numbers meaningful in float32, which most runs train in.
    seed: Annotated[int, Field(ge=0, lt=2**63)] = Field(
        default=23, description="seed of all random choices: wiring, start states, cells that fire"
    )
    epochs: WholeNumber = Field(description="training steps, one optimizer step each")
    batch: Size = Field(description="samples per training step")
    learning_rate: LearningRate = Field(description="AdamW's step size, in logits per step")
    beta1: Decay = Field(
        default=0.0, description="AdamW's decay of the mean gradient, per step; 0: no momentum"
    )
    beta2: Decay = Field(
        default=0.99, description="AdamW's decay of the mean squared gradient, per step"
    )
    weight_decay: Annotated[float, Field(ge=0, le=1000)] = Field(
        default=1e-2, description="decoupled decay: learning_rate * weight_decay * logit per step"
    )
    gradient_clip: Annotated[float, Field(gt=0, le=1e9)] = Field(
        default=100.0, description="bound on each element of the gradient"
    )
    later_steps: Annotated[int, Field(ge=0, le=10**6)] = Field(
        default=0,
        description="each epoch also compares the state with the target at a random step, at "
        "most this many after the last; 0: never",
    )
    restart_every: Epoch = Field(
        default=0,
        description="epochs after which learning starts over, with other wires and starts; the "
        "best circuit is kept; 0: never",
    )
    form: Form = Field(
        default="ops",
        description="what each gate learns. ops: a logit for each of the 16 ops, mixed by a "
        "softmax; truth-table: four numbers, one for each row of its truth table",
    )
    initial_logit: Annotated[float, Field(ge=-1000, le=1000)] = Field(
        default=10.0,
        description="initial logit of op A (pass-through); the other logits start at 0. With form "
        "truth-table: the lead of A over the next op",
    )
    initial_spread: Annotated[float, Field(ge=0, le=1000)] = Field(
        default=0.0,
        description="standard deviation of normal noise on all initial logits or truth-table rows",
    )
    precision: Literal["float32", "float64"] = Field(
        default="float32", description="type of logits and soft states; float64 is for verification"
    )

    def rates(self, steps: int) -> list[float]:
        """Return the numbers of AdamW's step number `steps`, from 1, as its kernels take them."""
        return [
            self.gradient_clip,
            self.beta1,
            1 - self.beta1,
            self.beta2,
            1 - self.beta2,
            1 / (1 - power(self.beta1, steps)),
            1 / (1 - power(self.beta2, steps)),
            EPSILON,
            self.learning_rate,
            1 - self.learning_rate * self.weight_decay,
        ]


class PoolConfig(Section):
    """Extra samples that start from later states of the hard circuit's own rollout.

    They teach it to keep its target and to grow it back, as in Mordvintsev et al. 2020, "Growing
    neural cellular automata".
    """

    batch: Annotated[int, Field(ge=0, le=65536)] = Field(
        default=0,
        description="pool samples per training step, beside [training] batch; twice as many if "
        "the task has damage to heal; 0: none",
    )
    later: Annotated[int, Field(ge=0, le=10**6)] = Field(
        default=48,
        description="a pool sample starts at a random step, at most this many after training's "
        "last",
    )
    steps: Annotated[int, Field(ge=1, le=10**6)] = Field(
        default=8,
        description="a pool sample is compared with the target at a random step, at most this "
        "many after its start; after damage, [automaton] steps are added",
    )
    damage_tries: Annotated[int, Field(ge=1, le=1024)] = Field(
        default=1,
        description="patches of damage to try on the hard circuit per pool sample, until one "
        "does not grow back in time",
    )


class FinishingConfig(Section):
    """Searches for exact circuits during training. A verified circuit ends the run."""

    every: Epoch = Field(
        default=0, description="epochs between checks of the hard circuit; 0: never"
    )
    from_epoch: Epoch = Field(default=0, description="earliest epoch of the first check")
    candidates: Annotated[int, Field(ge=0, le=10**9)] = Field(
        default=0,
        description="circuits that a check may try to make the current one exact, and as many "
        "for the best so far; 0: it only checks",
    )
    rectify: Annotated[int, Field(ge=0, le=10**9)] = Field(
        default=0,
        description="when a search is stuck with at most this many wrong bits, it turns unused "
        "gates into detectors for them; 0: never. Needs a single start or listed cases, without "
        "chance or damage",
    )
    tough: Annotated[float, Field(ge=0, le=4096)] = Field(
        default=0.0,
        description="if [task] wounds are taught, a circuit ends the run only if at most this "
        "many of 64×64 cells are wrong on average while squares of 10×10 are erased, one after "
        "each step, at a fire rate of 0.6, and if wounds of 10×10 cells are proved to stay "
        "local; 0: neither",
    )
    polish: Annotated[int, Field(ge=0, le=10**9)] = Field(
        default=0,
        description="circuits to try after one is verified, to find a proved one with fewer "
        "gates that is right no later; for tough circuits also with other wires; 0: none",
    )


class ParallelConfig(Section):
    """How the work is shared. Only device changes results: their last bits."""

    workers: Auto | Annotated[int, Field(ge=1, le=1024)] = Field(
        default="auto",
        description="worker threads; auto: as many as help, at most one per available core",
    )
    strategy: Strategy = Field(
        default="auto",
        description="how workers share a step. sequential: one worker; samples: one worker per "
        "sample; cells: the cells of a sample, with a barrier at each step; steps: the same as a "
        "pipeline, without barriers; auto: samples while there is one for each worker, then "
        "steps",
    )
    memory_budget: Annotated[str, Field(pattern=rf"^auto$|{BYTES}")] = Field(
        default="auto",
        description="bytes for all workers' buffers. To stay within it, fewer samples are "
        "computed at once, then fewer workers run; auto: the available memory",
        json_schema_extra={"accepted": '"auto" or a number of bytes, such as "512MB" or "2GiB"'},
    )
    device: Literal["cpu", "gpu"] = Field(
        default="cpu",
        description="what trains. cpu: these workers; gpu: a graphics processor (needs the gpu "
        "extra and float32), while the workers search and prove",
    )

    gone: ClassVar = {
        **dict.fromkeys(("lanes", "chunk", "tasks_per_worker", "samples_at_once")),
        "strategy": "gates",
    }
    """Keys for tiles, tasks and waves; runs that were shared by gates go on by default."""


class CheckpointConfig(Section):
    """When a run saves its state. This changes no results."""

    every_seconds: Annotated[float, Field(ge=0, le=1e6)] = Field(
        default=10.0, description="seconds between checkpoints; 0: none by time"
    )
    every_epochs: Epoch = Field(
        default=0, description="epochs between checkpoints; 0: none by epochs"
    )


class PublishedConfig(Section):
    """What the reference published; only --recipe reference and --recipe benchmark use it."""

    epochs: WholeNumber | None = Field(default=None, description="training steps, as published")
    batch: Size | None = Field(
        default=None,
        description="samples per training step, as published, if another number works better here",
    )
    learning_rate: LearningRate | None = Field(
        default=None,
        description="AdamW's step size, as published, if another one works better here",
    )
    learned_by: WholeNumber | None = Field(
        default=None, description="first epoch with a hard loss of 0, with the one published seed"
    )
    active_gates: WholeNumber | None = Field(
        default=None, description="gates of the published circuit whose op is neither A nor B"
    )


class RunFacts(Section):
    """Facts that the program recorded about a run. A resumed run must find the same."""

    start_sha256: Sha256 | None = Field(
        default=None, description="hash of the model file that training starts from"
    )
    task_sha256: Sha256 | None = Field(
        default=None, description="hash of the code of a custom task"
    )
    task_start: Start | None = Field(
        default=None, description="where simulations of a custom task's circuits start"
    )
