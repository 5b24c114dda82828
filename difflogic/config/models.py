"""The sections and keys of a configuration, with their types, ranges and meaning.

Every description says what the key means and its unit. `dct config show` prints it as a
comment, followed by the range, which is derived from the constraints and never written twice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
import tomli_w
from pydantic import Field, model_validator

from difflogic.config.running import CheckpointConfig, ParallelConfig
from difflogic.errors import ConfigError
from difflogic.netlist import Architecture, wire
from difflogic.sections import AutomatonConfig, Section, Size
from difflogic.tasks import AnySection, own, task_class
from difflogic.wiring import FIRST_TOPOLOGIES, TOPOLOGIES

MAX_GATES = 2**20
"""Gates per cell: 80 times the largest published circuit. Guards memory against slips."""

Count = Annotated[int, Field(ge=1, le=10**9)]
Epoch = Annotated[int, Field(ge=0, le=10**9)]
Share = Annotated[float, Field(ge=0, le=1)]
# A TOML array arrives as a list; only the array itself is converted, its items stay strict.
Layers = Annotated[tuple[Size, ...], Field(min_length=1, max_length=1000, strict=False)]
if TYPE_CHECKING:
    Topology: TypeAlias = str
    FirstTopology: TypeAlias = str
else:
    Topology, FirstTopology = Literal[*TOPOLOGIES], Literal[*FIRST_TOPOLOGIES]


class PerceptionConfig(Section):
    """The kernels, small circuits that read the 3×3 neighbourhood of one channel."""

    kernels: Size = Field(description="number of kernels, each with logits of its own")
    gates: Layers = Field(
        default=(8, 4, 2), description="gates per layer of one kernel, on 9 inputs"
    )
    first_wiring: FirstTopology = Field(
        default="moore", description="wiring of the first layer; moore needs 8 gates there"
    )
    wiring: Topology = Field(default="unique", description="wiring of later layers")
    distinct_wiring: bool = Field(
        default=False, description="every kernel draws a wiring of its own, instead of sharing one"
    )


class UpdateConfig(Section):
    """The circuit that maps a cell's channels and all it perceives to its next state."""

    gates: Layers = Field(description="gates per layer; the last layer has one per channel")
    wiring: Topology = Field(default="unique", description="wiring of all layers")


class TrainingConfig(Section):
    """Gradient descent on the logits: AdamW. See [schedule] and [hardening] for more."""

    # Bounds on the numbers keep them meaningful in float32, which most runs train in.
    seed: Annotated[int, Field(ge=0, lt=2**63)] = Field(
        default=23, description="names all random streams: wiring, start states, masks"
    )
    epochs: Count = Field(description="training steps, one optimizer step each")
    batch: Size = Field(description="samples per training step")
    learning_rate: Annotated[float, Field(gt=0, le=1000)] = Field(
        description="AdamW's step size, in logits per step"
    )
    beta1: Annotated[float, Field(ge=0, le=0.999999)] = Field(
        default=0.9, description="AdamW's decay of the mean gradient, per step"
    )
    beta2: Annotated[float, Field(ge=0, le=0.999999)] = Field(
        default=0.99, description="AdamW's decay of the mean squared gradient, per step"
    )
    epsilon: Annotated[float, Field(ge=1e-30, le=1)] = Field(
        default=1e-8, description="AdamW's guard against division by zero"
    )
    weight_decay: Annotated[float, Field(ge=0, le=1000)] = Field(
        default=1e-2, description="decoupled decay: learning_rate * weight_decay * logit per step"
    )
    gradient_clip: Annotated[float, Field(gt=0, le=1e9)] = Field(
        default=100.0, description="bound on each element of the gradient"
    )
    later_steps: Annotated[int, Field(ge=0, le=10**6)] = Field(
        default=0,
        description="the target is also compared with at a random step up to so many after the "
        "last, drawn anew at each epoch; 0 is never",
    )
    restart_every: Epoch = Field(
        default=0,
        description="epochs after which learning starts over, with another wiring and other start "
        "states; [schedule] and [hardening] start over too, and the best circuit is kept; 0 is "
        "never",
    )
    initial_logit: Annotated[float, Field(ge=-1000, le=1000)] = Field(
        default=10.0, description="first logit of the op A (pass-through); the others start at 0"
    )
    precision: Literal["float32", "float64"] = Field(
        default="float32", description="type of logits and soft states; float64 is for verification"
    )


class PoolConfig(Section):
    """Further samples, which start where the hard circuit's own run comes to.

    So that its target stays, and grows back (Mordvintsev et al. 2020, "Growing neural cellular
    automata", keep such states in a pool; here each is run anew, so that it is never out of date).
    """

    batch: Annotated[int, Field(ge=0, le=65536)] = Field(
        default=0,
        description="such samples per training step, beside [training] batch; 0 is none",
    )
    after_growth: bool = Field(
        default=False,
        description="whether it begins only once a search has found a circuit that is right at the "
        "last step of training; learning goes on from that one, with [hardening] at full strength",
    )
    later: Annotated[int, Field(ge=0, le=10**6)] = Field(
        default=48,
        description="each starts from the state after a random number of steps, from the last one "
        "of training to so many more",
    )
    tolerance: Share = Field(
        default=0.05,
        description="share of the cells' compared bits that may be wrong in such a state; from the "
        "first step with more on there are none",
    )
    steps: Annotated[int, Field(ge=1, le=10**6)] = Field(
        default=6,
        description="and is compared with the target after a random number of further steps, up to "
        "so many; where it is damaged, after [automaton] steps and so many more",
    )
    damage_from: Epoch = Field(
        default=500,
        description="epochs of the pool after which some are damaged, where the task asks for it",
    )


class ScheduleConfig(Section):
    """The learning rate falls along half a cosine, if it falls (Loshchilov and Hutter 2017)."""

    share: Annotated[float, Field(gt=0, le=1)] = Field(
        default=1.0, description="last learning rate as a share of the first; 1 is constant"
    )
    from_epoch: Epoch = Field(default=0, description="epoch at which it begins to fall")
    to_epoch: Epoch = Field(default=1000, description="epoch from which it falls no more")


class HardeningConfig(Section):
    """Levers that bring the soft circuit close to a hard one; each grows with the epochs."""

    share: Share = Field(
        default=0.0,
        description="share of the gates that run as one op, drawn anew at each epoch; their "
        "gradient is that of the mixture (straight-through)",
    )
    op: Literal["argmax", "sample"] = Field(
        default="argmax", description="that op: the most probable one, or one drawn by probability"
    )
    gumbel: Annotated[float, Field(ge=0, le=100)] = Field(
        default=0.0, description="scale of Gumbel noise on all logits, drawn anew at each epoch"
    )
    entropy: Annotated[float, Field(ge=0, le=1000)] = Field(
        default=0.0,
        description="pressure on each gate's entropy, decoupled: learning_rate * entropy * "
        "gradient per step",
    )
    from_epoch: Epoch = Field(default=300, description="epoch at which these begin to grow")
    to_epoch: Epoch = Field(default=1200, description="epoch from which they are at full strength")


class FinishingConfig(Section):
    """Looks for exact circuits while training goes on, and finishes them by discrete search."""

    every: Epoch = Field(
        default=0, description="epochs from one check of the hard circuit to the next; 0 is never"
    )
    from_epoch: Epoch = Field(default=0, description="epoch before which nothing is checked")
    candidates: Annotated[int, Field(ge=0, le=10**9)] = Field(
        default=0,
        description="circuits that a search may try at a check to make the circuit exact, and "
        "another to make the best one so far exact; 0 only checks",
    )
    starts: Size = Field(
        default=8, description="start states that a search begins with; counterexamples join them"
    )
    verified_starts: Size = Field(
        default=1024,
        description="further start states on which a circuit must have no wrong cell",
    )
    adopt: bool = Field(
        default=False,
        description="whether training goes on from what a search found, if that halved the errors",
    )
    polish: Annotated[int, Field(ge=0, le=10**9)] = Field(
        default=0,
        description="circuits that are tried, once one is verified, for one of fewer gates that is "
        "right no later, and proved as well; 0 is none",
    )
    stop: bool = Field(default=False, description="whether a verified circuit ends the run")


class EvaluationConfig(Section):
    """How the hard circuit, each gate replaced by its most probable op, is scored."""

    hard_every: Count = Field(default=1, description="epochs from one hard evaluation to the next")
    starts: Size = Field(default=64, description="held-out start states for the final scores")


class PublishedConfig(Section):
    """What the reference published for this experiment. Only --recipe reference uses it."""

    epochs: Count | None = Field(default=None, description="training steps, as published")
    learned_by: Count | None = Field(
        default=None, description="epoch from which its hard loss was 0, with its one seed"
    )
    active_gates: Count | None = Field(
        default=None, description="gates of its circuit whose op is neither A nor B"
    )


class Config(Section):
    """One experiment, whole and checked."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=64)] = Field(
        description="names the experiment and its run directories",
        json_schema_extra={"accepted": "1 to 64 letters, digits, - and _, no - or _ first"},
    )
    task: AnySection
    automaton: AutomatonConfig
    perception: PerceptionConfig
    update: UpdateConfig
    training: TrainingConfig
    pool: PoolConfig = PoolConfig()
    schedule: ScheduleConfig = ScheduleConfig()
    hardening: HardeningConfig = HardeningConfig()
    finishing: FinishingConfig = FinishingConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    parallel: ParallelConfig = ParallelConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()
    published: PublishedConfig = PublishedConfig()

    @property
    def architecture(self) -> Architecture:
        """The sizes of the circuit."""
        return Architecture(
            channels=self.automaton.channels,
            kernels=self.perception.kernels,
            perception=self.perception.gates,
            update=self.update.gates,
            perception_first=self.perception.first_wiring,
            perception_wiring=self.perception.wiring,
            update_wiring=self.update.wiring,
            distinct_wiring=self.perception.distinct_wiring,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain tables, lists and scalars, as TOML and JSON know them.

        Keys that have no value are left out.
        """
        return _plain(self.model_dump(exclude_none=True))

    def to_toml(self) -> str:
        """Return the configuration as TOML; `load_config` reads it back to an equal one."""
        return tomli_w.dumps(self.to_dict(), multiline_strings=True)

    @model_validator(mode="after")
    def _check_sections_agree(self) -> Config:
        problems = [*_task_problems(self), *_circuit_problems(self)]
        if problems:
            raise ValueError("\n".join(problems))
        return self


def _task_problems(config: Config) -> list[str]:
    task, channels = config.task, config.automaton.channels
    problems = task.problems(config.automaton)
    if config.training.restart_every and not config.finishing.every:
        problems.append(
            "[training] restart_every: would throw away what was learned, since without checks no "
            "circuit is kept: set it to 0, or [finishing] every above 0"
        )
    if config.pool.batch and config.pool.after_growth and not config.finishing.every:
        problems.append(
            "[pool] after_growth: without searches no circuit is found to begin with: set it to "
            "false, or [finishing] every above 0"
        )
    if config.training.later_steps and own.is_loaded(task) and task_class(task).moves_on():
        problems.append(
            "[training] later_steps: the targets of this task do not stay as they are: leave it "
            "at 0"
        )
    if config.pool.batch and own.is_loaded(task) and task_class(task).moves_on():
        problems.append(
            "[pool] batch: the targets of this task do not stay as they are: leave it at 0"
        )
    if config.pool.batch and config.automaton.fire_rate < 1:
        problems.append(
            "[pool] batch: the pool's cells all fire: it needs [automaton] fire_rate = 1"
        )
    beyond = [channel for channel in task.loss_channels if channel >= channels]
    if beyond:
        problems.append(
            f"[task] loss_channels: no channel {beyond[0]}, as the automaton has {channels}: "
            f"use 0 to {channels - 1}"
        )
    if len(set(task.loss_channels)) < len(task.loss_channels):
        problems.append("[task] loss_channels: a channel is listed twice: list it once")
    return problems


def _circuit_problems(config: Config) -> list[str]:
    channels, update = config.automaton.channels, config.update.gates
    if update[-1] != channels:
        return [
            f"[update] gates: the last layer is the cell's next state and needs one gate per "
            f"channel: {channels} ([automaton] channels), not {update[-1]}"
        ]
    architecture = config.architecture
    if architecture.gates > MAX_GATES:
        return [
            f"[perception] and [update] gates: {architecture.gates} gates per cell are more than "
            f"the {MAX_GATES} that this program accepts: use fewer kernels, channels or gates"
        ]
    try:
        # Which layers can be wired depends on sizes only: any generator and one kernel will do.
        wire(replace(architecture, distinct_wiring=False), np.random.default_rng(0))
    except ConfigError as error:
        return [str(error)]
    return []


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return list(value)
    return value
