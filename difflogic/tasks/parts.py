"""What a task is described by: samples, exhibits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from difflogic.system.array_types import Bits, Float64s
from difflogic.system.errors import ConfigError

Sample = tuple[Bits, Float64s]
"""A start state, shape (channels, height, width), and a target, (loss channels, height, width).

A cell whose target is NaN in all loss channels does not count.
"""


class TaskError(ConfigError):
    """A task that fails, or returns something that no automaton can be trained on."""


class InapplicableError(ConfigError):
    """A test that has no meaning for a task. The message says why, without the task's name."""


@dataclass(frozen=True)
class Exhibit:
    """How a page presents an automaton of the task to somebody who has never seen one."""

    invitation: str = "Press play, and paint on the cells."
    target: Mapping[str, Any] | None = None
    """What the page compares cells with, as plain values for its script."""
    view: Mapping[str, Any] = field(default_factory=dict)
    """The page's first settings, as far as they are not the usual ones."""
    wrong: str = "Cells that differ from the picture"
    """Caption of the count of wrong cells."""
