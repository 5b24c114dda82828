"""What sections of a configuration are made of, and the one that tasks read beside their own."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Size = Annotated[int, Field(ge=1, le=65536)]
Channels = Annotated[
    # A TOML array arrives as a list; only the array itself is converted, its items stay strict.
    tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1, max_length=1000, strict=False)
]


class Section(BaseModel):
    """Base of all sections: immutable, no unknown key, no silent conversion, finite numbers."""

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
