"""Base classes of a configuration's sections: [automaton], and the keys of every [task]."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from difflogic.system.errors import ConfigError

Size = Annotated[int, Field(ge=1, le=65536)]
Channels = Annotated[
    # A TOML array arrives as a list; only the array itself is converted, its items stay strict.
    tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1, max_length=1000, strict=False)
]
Inputs = Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(max_length=1000, strict=False)]
Weights = Annotated[
    tuple[Any, ...],
    Field(
        strict=False,
        json_schema_extra={"accepted": "a list of numbers from 0, or nested lists of them"},
    ),
]


class Section(BaseModel):
    """Base of all sections: immutable, without unknown keys or conversions, finite numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class AutomatonConfig(Section):
    """The cellular automaton that the circuit drives."""

    channels: Size = Field(description="bits of state per cell")
    boundary: Literal["zero", "periodic"] = Field(
        description="what lies beyond the grid's edge: zeros, or the opposite edge"
    )
    steps: Annotated[int, Field(ge=1, le=10**6)] = Field(
        description="automaton steps per rollout, from start state to loss"
    )
    fire_rate: Annotated[float, Field(gt=0, le=1)] = Field(
        default=1.0,
        description="probability that a cell takes its new state in a step; 1 is synchronous",
    )
    places: bool = Field(
        default=False,
        description="whether the last channels count each cell's row and column from the edges, by "
        "fixed gates; all other gates then read only these channels",
    )
    switch: bool = Field(
        default=False,
        description="whether the automaton has one more channel, before those of places, that "
        "spreads to all cells once it is 1 in one cell; with it, the start can choose one of two "
        "pictures",
    )


class TaskSection(Section):
    """What the automaton should do: its start states and targets."""

    resolved: ClassVar[tuple[str, ...]] = ()
    """The keys of a picture to grow, as resolving.py reads them. Errors are about the first."""

    kind: str = Field(description="the task's name")
    height: Size = Field(description="rows of the grid, in cells")
    width: Size = Field(description="columns of the grid, in cells")
    loss_channels: Channels = Field(
        default=(0,), description="channels that are compared with the target"
    )
    inputs: Inputs = Field(
        default=(), description="channels that keep their start values: no step changes them"
    )
    weights: Weights = Field(
        default=(),
        description="weights of squared errors in the loss: one number for each loss channel, or "
        "rows with one for each cell, or such rows for each loss channel; []: 1 everywhere",
    )

    def spread_weights(self) -> npt.NDArray[np.float64] | None:
        """Return the weights, (loss channels, height, width), or None if there are none.

        Raises ConfigError unless they are numbers from 0 of a valid shape, not all 0.
        """
        if not self.weights:
            return None
        compared = len(self.loss_channels)
        try:
            given = np.array(self.weights)
            if given.dtype.kind not in "iuf":
                raise TypeError
            given = given.astype(np.float64)
            given = given[:, None, None] if given.ndim == 1 else given
            spread = np.broadcast_to(given, (compared, self.height, self.width))
        except (TypeError, ValueError):
            spread = np.zeros(1)
        if not ((spread >= 0) & (spread < np.inf)).all() or not spread.any():
            raise ConfigError(
                f"[task] weights: give numbers from 0, not all 0: {compared}, one for each loss "
                f"channel; {self.height} rows of {self.width}, one for each cell; or {compared} "
                "lists of such rows"
            )
        return spread

    def problems(self, automaton: AutomatonConfig) -> list[str]:
        """Return problems of values that are valid alone, as "[task] key: problem"."""
        return []
