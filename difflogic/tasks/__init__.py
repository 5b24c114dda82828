"""Tasks: what automata are trained to do. Each has its section, samples, targets and tests."""

from __future__ import annotations

from functools import lru_cache
from threading import get_ident
from typing import TYPE_CHECKING, Annotated, Any, Protocol, Union

from pydantic import Discriminator, Tag

from difflogic.system.errors import ConfigError
from difflogic.tasks import custom
from difflogic.tasks.base import Task
from difflogic.tasks.checked import draw_batch
from difflogic.tasks.checkerboard import Checkerboard
from difflogic.tasks.custom import CustomSection, is_custom
from difflogic.tasks.examples import ExamplesTask
from difflogic.tasks.flood import DeadEnds, Flood
from difflogic.tasks.life import Life
from difflogic.tasks.line import Line
from difflogic.tasks.pattern import Pattern
from difflogic.tasks.section import AutomatonConfig, TaskSection
from difflogic.tasks.tile import Tile

__all__ = [
    "TASKS",
    "AnySection",
    "CustomSection",
    "Task",
    "TaskSection",
    "draw_batch",
    "is_custom",
    "make_task",
    "require_task",
    "task_class",
]

TASKS: dict[str, type[Task]] = {
    "checkerboard": Checkerboard,
    "dead-ends": DeadEnds,
    "examples": ExamplesTask,
    "flood": Flood,
    "life": Life,
    "line": Line,
    "pattern": Pattern,
    "tile": Tile,
}
"""The built-in tasks, by the `kind` of their sections."""

CUSTOM = "custom"


def _tag(value: Any) -> str | None:
    """Return the kind of section to check a table as; None if it is unknown."""
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    if is_custom(kind):
        return CUSTOM
    return kind if isinstance(kind, str) and kind in TASKS else None


if TYPE_CHECKING:
    AnySection = TaskSection
else:
    _sections = [Annotated[task.Section, Tag(kind)] for kind, task in TASKS.items()]
    AnySection = Annotated[
        Union[(*_sections, Annotated[CustomSection, Tag(CUSTOM)])], Discriminator(_tag)
    ]
"""The section of any task. Its `kind` says which."""


class HasTask(Protocol):
    """Anything with a task and an automaton, such as a configuration."""

    @property
    def task(self) -> TaskSection: ...

    @property
    def automaton(self) -> AutomatonConfig: ...


def task_class(section: TaskSection) -> type[Task]:
    """Return the class of a section's task. Raises ConfigError if its code is not loaded."""
    return custom.class_of(section) if isinstance(section, CustomSection) else TASKS[section.kind]


def make_task(config: HasTask) -> Task:
    """Return a configuration's task, the same one for equal sections in each thread.

    Raises ConfigError if its code is not loaded.
    """
    task_class(config.task)
    return _made(config.task, config.automaton, get_ident())


@lru_cache(maxsize=4)
def _made(section: TaskSection, automaton: AutomatonConfig, thread: int) -> Task:
    if isinstance(section, CustomSection):
        return custom.make(section, automaton)
    return task_class(section)(section, automaton)


def require_task(config: HasTask, kind: str, name: str) -> None:
    """Raise ConfigError unless the configuration called `name` is of this kind."""
    if config.task.kind != kind:
        raise ConfigError(
            f'{name} is of kind "{config.task.kind}", but this command trains kind "{kind}": use '
            "dct train"
        )
