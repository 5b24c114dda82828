"""Base classes of a configuration's sections: [automaton], and the keys of every [task]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from difflogic.pictures.places import Places

Size = Annotated[int, Field(ge=1, le=65536)]
Channels = Annotated[
    # A TOML array arrives as a list; only the array itself is converted, its items stay strict.
    tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1, max_length=1000, strict=False)
]
Inputs = Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(max_length=1000, strict=False)]


class Section(BaseModel):
    """Base of all sections: immutable, without unknown keys or conversions, finite numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    gone: ClassVar[Mapping[str, Any]] = {}
    """Keys that older files have: left out if they have these values, or, by None, any."""

    @model_validator(mode="before")
    @classmethod
    def _leave_out_gone(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {key: value for key, value in given.items() if not cls._is_gone(key, value)}

    @classmethod
    def _is_gone(cls, key: str, value: object) -> bool:
        return key in cls.gone and cls.gone[key] in (None, value)


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
    tough: bool = Field(
        default=False,
        description="whether places are told by majorities of neighbours, so that damage stays "
        "where it is; takes three more channels, before those of places",
    )
    periods: Annotated[tuple[Size, ...], Field(max_length=2, strict=False)] = Field(
        default=(),
        description="rows and columns of a tile, within which places are counted again and again; "
        "gates then read only the cell's own places",
    )

    gone: ClassVar = {"switch": False}

    @field_validator("periods")
    @classmethod
    def _two(cls, periods: tuple[int, ...]) -> tuple[int, ...]:
        if len(periods) == 1:
            raise ValueError("must be none or two numbers, of rows and of columns")
        return periods

    def counted(self, height: int, width: int) -> Places | None:
        """Return what cells count on a grid, by gates that do not learn, if anything."""
        if self.places and len(self.periods) == 2:
            return Places.within(self.periods)
        return Places.over(height, width, self.tough) if self.places else None


class TaskSection(Section):
    """What the automaton should do: its start states and targets."""

    resolved: ClassVar[tuple[str, ...]] = ()
    """The keys of a picture to grow, as target.py reads them. Errors are about the first."""

    kind: str = Field(description="the task's name")
    height: Size = Field(description="rows of the grid, in cells")
    width: Size = Field(description="columns of the grid, in cells")
    loss_channels: Channels = Field(
        default=(0,), description="channels that are compared with the target"
    )
    inputs: Inputs = Field(
        default=(), description="channels that keep their start values: no step changes them"
    )

    @property
    def moving(self) -> tuple[tuple[int, int, int], ...]:
        """Wired channels, each a copy of a neighbour's: (channel, neighbour, its channel)."""
        return ()

    def problems(self, automaton: AutomatonConfig) -> list[str]:
        """Return problems of values that are valid alone, as "[task] key: problem"."""
        return []
