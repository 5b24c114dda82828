"""What all suites have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

from difflogic.config import Config
from difflogic.evaluation.counts import Count
from difflogic.evaluation.scene import Scene, Streams
from difflogic.evaluation.trial import Ops, count_wrong
from difflogic.model import Model
from difflogic.streams import Purpose


class Draw(IntEnum):
    """Tells the suites' streams apart. The numbers are part of results: never change one."""

    GENERALISATION = 0
    DAMAGE = 1
    ASYNCHRONOUS = 2
    ROBUSTNESS = 3
    SOUP = 4


@dataclass(frozen=True)
class Subject:
    """A circuit that is evaluated."""

    model: Model
    seed: int
    """Names all streams; results follow from it and the model."""
    starts: int | None = None
    """Starts of each scene; None leaves it to the suite."""

    @property
    def config(self) -> Config:
        return self.model.config

    @cached_property
    def ops(self) -> Ops:
        return self.model.ops

    def streams(self, draw: Draw) -> Streams:
        """Return the streams of a suite."""
        return Streams(self.seed, Purpose.EVALUATION_START, Purpose.EVALUATION_MASK, draw)

    def count(self, what: str, scene: Scene, starts: int) -> list[Count]:
        """Return the wrong cells at each counted step of a scene, over `starts` starts."""
        wrong = count_wrong(self.model.netlist, self.ops, scene, starts)
        return list(Count.of_scene(what, scene, wrong))


@dataclass(frozen=True)
class Suite:
    """One test of a trained circuit."""

    name: str
    about: str
    """What it measures, in a line."""
    refuse: Callable[[Config], str | None]
    """Why it does not apply to a configuration; None if it does."""
    run: Callable[[Subject], dict[str, Any]]
    """Returns plain values, `notes` among them, and `counts`, a list of Count, if it has any."""


def only_checkerboard(config: Config) -> str | None:
    """Refuse tasks without a target that stays and fits a grid of any size."""
    kind = config.task.kind
    if kind == "checkerboard":
        return None
    return f"it is defined for checkerboards, and this is a task of kind {kind}"
