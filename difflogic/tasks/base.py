"""The author's contract of a task: what a class may define. `checked.py` calls and checks it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from difflogic.circuit.grid import Boundary, Start, center_start
from difflogic.circuit.specification import Cases, Machine, Rule
from difflogic.system.array_types import Bits, Float64s, Floats
from difflogic.tasks.checked import CheckedTask
from difflogic.tasks.parts import Exhibit, Sample, TaskError
from difflogic.tasks.section import TaskSection


class Task(CheckedTask):
    """What an automaton is trained to do. A custom task defines `sample`, and may define more.

    The same section, automaton and generator state must always give the same sample.
    """

    # What most tasks define.

    Section: ClassVar[type[TaskSection]] = TaskSection
    """The model of its keys of [task]."""

    stays: ClassVar[bool] = False
    """Whether the target should stay once reached. Exactness is then tested at several steps."""

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> Sample:
        """Draw a start state and its target, using only `rng`.

        The start has shape (channels, height, width), uint8 of 0 and 1; the target (loss channels,
        height, width), float64. A cell whose target is NaN does not count. The arrays may be
        shared: callers do not write to them.
        """

    def advance(self, board: Bits) -> Bits:
        """Return the target (height, width) one step later, if targets change with each step."""
        raise NotImplementedError

    def cases(self) -> Cases | None:
        """Return all cases if they can be listed, else None."""
        return None

    @property
    def due(self) -> int:
        """The step from which on a target that stays must be right; a later one comes too late."""
        return self.automaton.steps

    def larger(self) -> Larger:
        """Return a larger task that a circuit should solve without training on it.

        Raises InapplicableError, with the reason, if the task has no larger version.
        """
        times = 4
        steps = self.automaton.steps
        rows = 1 if self.height == 1 else times * self.height  # a line stays a line
        large = self.on_grid(rows, times * self.width)
        if not self.stays:
            return Larger(large, f"{times} × side, same steps", (steps,))
        later = times * self.due
        return Larger(large, f"{times} × side, {times} × steps", (later, later + 1))

    def on_grid(
        self, height: int, width: int, *, boundary: Boundary | None = None, steps: int | None = None
    ) -> Self:
        """Return the task on another grid. Raises InapplicableError if it has no meaning there."""
        changes = {"boundary": boundary, "steps": steps}
        return type(self)(
            self.section.model_copy(update={"height": height, "width": width}),
            self.automaton.model_copy(
                update={key: value for key, value in changes.items() if value is not None}
            ),
        )

    @property
    def exhibit(self) -> Exhibit:
        """How a page presents it."""
        return Exhibit()

    @property
    def start(self) -> Start:
        """Where a circuit of this task starts when it is simulated or exported.

        Found from a sample. A task with another single start must define it.
        """
        if self.has_random_start:
            return "random"
        start, _ = self.draw(np.random.default_rng(0))
        if not start.any():
            return "zeros"
        if (start == center_start(*start.shape)).all():
            return "center"
        raise TaskError(
            f"{self.prefix}: its only start is neither zeros nor one cell of ones in the middle, "
            'and a circuit file can name no other: give the class start = "random", "center" or '
            '"zeros", whichever is nearest'
        )

    # What can be proved of it, beyond its cases.

    @property
    def lasting_target(self) -> Bits | None:
        """The bits (loss channels, height, width) that every state should reach and keep, if any.

        A certificate proves that all states do.
        """
        return None

    @property
    def lasting_period(self) -> int | None:
        """Rows, and columns, after which the lasting targets of all grids repeat; None if unknown.

        They must be the upper left parts of one picture of the plane.
        """
        return None

    @property
    def machine(self) -> Machine | None:
        """The machine whose output a line of any length should show, if there is one.

        Its inputs are the first channels of a start; the other channels start at 0.
        """
        return None

    @property
    def rule(self) -> Rule | None:
        """Bounds of each step that suffice on grids of any size, if any are known."""
        return None

    @property
    def holds(self) -> bool:
        """Whether the target of its only start should stay at every later step."""
        return False

    @property
    def patches(self) -> dict[int, Bits]:
        """The damages that should grow back, by size.

        Each array has shape (damages, height, width), 1 where a cell is zeroed.
        """
        return {}

    # How it is learned.

    @property
    def steps_seen(self) -> Sequence[int]:
        """The steps whose states `loss` reads, ascending, from 1 to the automaton's steps."""
        return (self.automaton.steps,)

    def loss(self, states: Floats, target: Float64s) -> tuple[float, Floats]:
        """Return the loss of a sample, and its gradient with respect to `states`, of that shape.

        `states` (steps seen, channels, height, width) are those of the soft circuit. By default the
        loss is the sum of squared errors in the loss channels.
        """
        channels = list(self.loss_channels)
        errors = np.where(np.isnan(target), 0.0, states[:, channels] - target)
        gradient = np.zeros_like(states)
        gradient[:, channels] = 2 * errors
        return float((errors**2).sum()), gradient

    @property
    def stages(self) -> tuple[Task, ...]:
        """Tasks to learn one after the other, this one last.

        Each begins with the circuit that solved the one before. All have the same channels.
        """
        return (self,)

    # What only shipped tasks define.

    @property
    def lessons(self) -> Task:
        """The task that gradient descent trains on, with the same grid and channels.

        Searches, proofs and tests use this task itself.
        """
        return self

    @property
    def whole(self) -> Task:
        """The task that a circuit must be proved for; lessons name the one that they are about."""
        return self

    @classmethod
    def has_changing_targets(cls) -> bool:
        """Whether targets change with each step: whether the class defines `advance`."""
        return cls.advance is not Task.advance

    @classmethod
    def has_loss(cls) -> bool:
        """Whether the class defines its own `loss`; the engine computes the usual one."""
        return cls.loss is not Task.loss


@dataclass(frozen=True)
class Larger:
    """A task on a larger grid than it was trained on, and the steps at which it is tested."""

    task: Task
    name: str
    """Such as "4 × side, same steps"."""
    steps: tuple[int, ...]
    note: str | None = None
