"""What all tests of a circuit have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

from difflogic.config import Config
from difflogic.evaluation.scene import Scene, Streams
from difflogic.evaluation.trial import Count, Ops, count_wrong
from difflogic.model.model import Model
from difflogic.system.streams import Purpose
from difflogic.tasks import InapplicableError, Task, make_task


class Draw(IntEnum):
    """Separates the tests' random streams. The numbers determine results: never change one."""

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
    """The seed of all streams; it and the model determine the results."""
    starts: int | None = None
    """Number of starts per scene; None lets the test decide."""

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
        """Return a test's random streams."""
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
    """One line about what it measures."""
    require: Callable[[Task], None]
    """Raises InapplicableError, with the reason, if it does not apply to a task."""
    run: Callable[[Subject], dict[str, Any]]
    """Returns JSON values, among them `notes`, and `counts`, a list of Count, if there are any."""

    def refusal(self, task: Task) -> str | None:
        """Return why it does not apply to a task; None if it does."""
        try:
            self.require(task)
        except InapplicableError as error:
            return str(error)
        return None


def any_task(task: Task) -> None:
    """Accept every task."""


def require_lasting_target(task: Task) -> None:
    """Refuse tasks whose target does not stay: later steps and other grids have no target."""
    if not task.stays:
        if task.holds:
            raise InapplicableError(
                "the target has to persist from every start, in any update order, but that of "
                f"{task.name} persists only from its own start, if all cells update in each step"
            )
        raise InapplicableError(f"the target has to persist, but that of {task.name} does not")


def require_any_grid(task: Task) -> None:
    """Refuse tasks without a target that stays and fits any grid."""
    require_lasting_target(task)
    task.on_grid(task.height + 1, task.width + 1)
