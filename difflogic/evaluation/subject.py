"""What all tests of a circuit have in common: what is tested, and what a test is."""

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
from difflogic.model.model import Model
from difflogic.system.streams import Purpose
from difflogic.tasks import InapplicableError, Task, make_task


class Draw(IntEnum):
    """Tells the tests' streams apart. The numbers are part of results: never change one."""

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
    """Starts of each scene; None leaves it to the test."""

    @property
    def config(self) -> Config:
        return self.model.config

    @cached_property
    def task(self) -> Task:
        return make_task(self.config)

    @cached_property
    def ops(self) -> Ops:
        return self.model.ops

    def streams(self, draw: Draw) -> Streams:
        """Return the streams of a test."""
        return Streams(self.seed, Purpose.EVALUATION_START, Purpose.EVALUATION_MASK, draw)

    def count(self, what: str, scene: Scene, starts: int) -> list[Count]:
        """Return the wrong cells at each counted step of a scene, over `starts` starts."""
        wrong = count_wrong(self.model.netlist, self.ops, scene, starts)
        return list(Count.of_scene(what, scene, wrong))


@dataclass(frozen=True)
class CircuitTest:
    """One test of a trained circuit."""

    name: str
    about: str
    """What it measures, in a line."""
    require: Callable[[Task], None]
    """Raises InapplicableError, with the reason, for a task that it does not apply to."""
    run: Callable[[Subject], dict[str, Any]]
    """Returns plain values, `notes` among them, and `counts`, a list of Count, if it has any."""

    def refusal(self, task: Task) -> str | None:
        """Why it does not apply to a task; None if it does."""
        try:
            self.require(task)
        except InapplicableError as error:
            return str(error)
        return None


def any_task(task: Task) -> None:
    """Refuse none."""


def require_lasting_target(task: Task) -> None:
    """Refuse tasks whose target does not stay: what comes later, or elsewhere, has none."""
    if not task.stays:
        if task.holds:
            raise InapplicableError(
                "it needs a target that stays from every start and however cells update, and that "
                f"of {task.name} stays from its own start, where all update in each step"
            )
        raise InapplicableError(f"it needs a target that stays, and that of {task.name} does not")


def require_any_grid(task: Task) -> None:
    """Refuse tasks without a target that stays, and fits a grid of any size."""
    require_lasting_target(task)
    task.on_grid(task.height + 1, task.width + 1)
