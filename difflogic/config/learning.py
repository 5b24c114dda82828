"""The sections about how a circuit is learned, with their types, ranges and meaning.

Every key of theirs is a lever, or belongs to the experiment: recipes.py says which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import Field

from difflogic.circuit.forms import FORMS
from difflogic.tasks.sections import Section, Size

Count = Annotated[int, Field(ge=1, le=10**9)]
Epoch = Annotated[int, Field(ge=0, le=10**9)]
Share = Annotated[float, Field(ge=0, le=1)]
Temperature = Annotated[float, Field(ge=0.01, le=100)]
if TYPE_CHECKING:
    Form: TypeAlias = str
else:
    Form = Literal[*FORMS]


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
    abandon_after: Epoch = Field(
        default=0,
        description="epochs of such an attempt from which on it is given up if a search leaves it "
        "far from right, and learning starts over at once; 0 is never",
    )
    abandon_above: Share = Field(
        default=0.1,
        description="share of the cells' compared bits that the search leaves wrong at most, on "
        "fresh start states, if the attempt is to go on",
    )
    form: Form = Field(
        default="ops",
        description="what is learned about a gate: ops is a logit of each of the 16 ops, of which "
        "it is a softmax mixture; truth-table only four, one of each row of its truth table; "
        "polynomial the four coefficients of its polynomial, the nearer to an op's the likelier "
        "that op",
    )
    initial_logit: Annotated[float, Field(ge=-1000, le=1000)] = Field(
        default=10.0,
        description="first logit of the op A (pass-through); the others start at 0; in the other "
        "forms by how much A leads the next",
    )
    initial_spread: Annotated[float, Field(ge=0, le=1000)] = Field(
        default=0.0,
        description="standard deviation of normal noise on all first logits, or on what else is "
        "learned about a gate",
    )
    precision: Literal["float32", "float64"] = Field(
        default="float32", description="type of logits and soft states; float64 is for verification"
    )
    start_from: Annotated[str | None, Field(pattern=r"^[0-9a-f]{64}$")] = Field(
        default=None,
        description="SHA-256 of the model's file that training starts from, and starts over from; "
        "--from names the file, and sets this",
        json_schema_extra={"accepted": "64 hexadecimal digits"},
    )


class PoolConfig(Section):
    """Further samples, which start where the hard circuit's own run comes to.

    So that its target stays, and grows back (Mordvintsev et al. 2020, "Growing neural cellular
    automata", keep such states in a pool; here each is run anew, so that it is never out of date).
    """

    batch: Annotated[int, Field(ge=0, le=65536)] = Field(
        default=0, description="such samples per training step, beside [training] batch; 0 is none"
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
    restart_every: Epoch = Field(
        default=0,
        description="epochs of a pool that waited for growth after which learning starts over; "
        "[training] restart_every, above 0, then counts only until the target is grown; 0 is to "
        "count all epochs there",
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
    damage_tries: Annotated[int, Field(ge=1, le=1024)] = Field(
        default=1,
        description="damages that are tried in the hard circuit's run for such a sample, until one "
        "does not grow back in time",
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
    temperature_unsure: Temperature = Field(
        default=1.0,
        description="temperature of the mixture whose gradient such a gate gets, where its ops are "
        "equally probable; 1 is the mixture's own",
    )
    temperature_sure: Temperature = Field(
        default=1.0,
        description="the same where it is sure of one op; between the two in proportion to that "
        "op's probability",
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
    rectify: Annotated[int, Field(ge=0, le=10**9)] = Field(
        default=0,
        description="wrong cells up to which a search that no change of one gate helps makes gates "
        "that do nothing a detector of one of them, where there is one start, or all cases are "
        "listed, and neither chance nor damage; 0 is never",
    )
    starts: Size = Field(
        default=8, description="start states that a search begins with; counterexamples join them"
    )
    verified_starts: Size = Field(
        default=1024, description="further start states on which a circuit must have no wrong cell"
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
