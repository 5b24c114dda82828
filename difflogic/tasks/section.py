"""The keys of [task] that all tasks have, and what their names stand for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from difflogic.tasks.sections import AutomatonConfig, Channels, Section, Size


@dataclass(frozen=True)
class Surroundings:
    """What a section is told when names in it are to be replaced by what they stand for."""

    directory: Path
    """Of the configuration's file: where a relative path in it starts."""
    overridden: Collection[str]
    """Keys of [task] that an override set. Their relative paths start at the working directory."""
    pictures: Path
    """Where the shipped pictures are."""

    def base(self, key: str) -> Path:
        """Return where a relative path that is the value of `key` starts."""
        return Path() if key in self.overridden else self.directory


class TaskSection(Section):
    """What the automaton is to do: its start states and its targets."""

    resolved: ClassVar[tuple[str, ...]] = ()
    """The keys that `resolve` reads; a problem that it finds is one of the first of them."""

    kind: str = Field(description="the task's name")
    height: Size = Field(description="rows of the grid, in cells")
    width: Size = Field(description="columns of the grid, in cells")
    loss_channels: Channels = Field(
        default=(0,), description="channels that the target is compared with, all below channels"
    )

    @classmethod
    def resolve(cls, task: dict[str, Any], surroundings: Surroundings) -> None:
        """Replace names in `task`, not yet checked, by what they stand for. Raises ConfigError."""

    def problems(self, automaton: AutomatonConfig) -> list[str]:
        """Return what is wrong though each value is right alone, as "[task] key: what is"."""
        return []
