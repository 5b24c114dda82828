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
if TYPE_CHECKING:
    Form: TypeAlias = str
else:
    Form = Literal[*FORMS]


class TrainingConfig(Section):
    """Gradient descent on the logits: AdamW. See [pool] for more."""

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
    weight_decay: Annotated[float, Field(ge=0, le=1000)] = Field(
        default=1e-2, description="decoupled decay: learning_rate * weight_decay * logit per step"
    )
    gradient_clip: Annotated[float, Field(gt=0, le=1e9)] = Field(
        default=100.0, description="bound on each element of the gradient"
    )
    later_steps: Annotated[int, Field(ge=0, le=10**6)] = Field(
        default=0,
        description="most steps after the last at which the target is compared once more; the "
        "step is drawn at random in each epoch; 0 is never",
    )
    restart_every: Epoch = Field(
        default=0,
        description="epochs after which learning starts over, with another wiring and other start "
        "states; the best circuit is kept; 0 is never",
    )
    form: Form = Field(
        default="ops",
        description="what is learned about a gate: ops is a logit for each of the 16 ops, mixed "
        "by a softmax; truth-table only four, one for each row of its truth table",
    )
    initial_logit: Annotated[float, Field(ge=-1000, le=1000)] = Field(
        default=10.0,
        description="first logit of the op A (pass-through); the others start at 0; in the "
        "form truth-table by how much A leads the next",
    )
    initial_spread: Annotated[float, Field(ge=0, le=1000)] = Field(
        default=0.0,
        description="standard deviation of normal noise on all first logits, or on what else is "
        "learned about a gate",
    )
    precision: Literal["float32", "float64"] = Field(
        default="float32", description="type of logits and soft states; float64 is for verification"
    )


class PoolConfig(Section):
    """Further samples, which start where the hard circuit's own run comes to.

    So that its target stays, and grows back (Mordvintsev et al. 2020, "Growing neural cellular
    automata", keep such states in a pool; here each is run again, so that it is never out of date).
    """

    batch: Annotated[int, Field(ge=0, le=65536)] = Field(
        default=0,
        description="such samples per training step, beside [training] batch; twice as many once "
        "damage is to grow back; 0 disables",
    )
    later: Annotated[int, Field(ge=0, le=10**6)] = Field(
        default=48,
        description="most steps after the last one of training at which such a sample starts; the "
        "number is drawn at random",
    )
    steps: Annotated[int, Field(ge=1, le=10**6)] = Field(
        default=6,
        description="most further steps, drawn at random, after which it is compared with the "
        "target; a damaged sample has [automaton] steps more",
    )
    damage_tries: Annotated[int, Field(ge=1, le=1024)] = Field(
        default=1,
        description="damages that are tried in the hard circuit's run for such a sample, until one "
        "does not grow back in time",
    )


class FinishingConfig(Section):
    """Looks for exact circuits in training, by discrete search; a verified one ends the run."""

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
        description="when a search is stuck with at most this many wrong cells, it turns unused "
        "gates into detectors of them; 0 disables. Needs a single start or listed cases, without "
        "chance or damage",
    )
    polish: Annotated[int, Field(ge=0, le=10**9)] = Field(
        default=0,
        description="circuits that are tried, once one is verified, for one of fewer gates that is "
        "right no later, and proved as well; 0 disables",
    )
