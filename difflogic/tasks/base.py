"""What every task answers: how it starts, what it is to become, and how that is tested."""

from __future__ import annotations

import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from difflogic.circuit.grid import Boundary
from difflogic.system.errors import ConfigError, DctError, described
from difflogic.system.streams import Purpose, stream
from difflogic.tasks.machine import Machine
from difflogic.tasks.rule import Rule
from difflogic.tasks.sections import AutomatonConfig, TaskSection

Bits = npt.NDArray[np.uint8]
Sample = tuple[Bits, npt.NDArray[np.float64]]
"""A start state, shape (channels, height, width), and a target, (loss channels, height, width).

In cells whose target is NaN, in all loss channels, any state is right.
"""

Start = Literal["random", "center", "zeros"]
"""Random bits in all channels, one cell of ones in the middle of zeros, or zeros alone."""


class TaskError(ConfigError):
    """A task that breaks off, or gives what no automaton can be trained on."""


class InapplicableError(ConfigError):
    """A test that a task has no meaning for; the message says why, without a name before it."""


@dataclass(frozen=True)
class Cases:
    """All there is to check, where it can be listed: a circuit right on all of them is proved."""

    what: str
    """As "all 512 boards"."""
    starts: Bits
    """Shape (cases, channels, height, width)."""
    targets: Bits
    """Shape (cases, loss channels, height, width), after `steps` steps at fire rate 1."""
    boundary: Boundary
    steps: int
    note: str
    """Why these are all."""
    repeats: int | None = None
    """How often the cases have each neighbourhood, if that can be said."""


@dataclass(frozen=True)
class Larger:
    """A task on more cells than it was trained on, and when its circuit is looked at there."""

    task: Task
    what: str
    """As "4 × side, same steps"."""
    steps: tuple[int, ...]
    note: str | None = None


@dataclass(frozen=True)
class Preview:
    """What a person is shown before training."""

    caption: str
    bits: Bits
    """Shape (loss channels, height, width)."""
    palette: tuple[tuple[int, int, int], ...] = ()
    """The colour of each number that the bits give, channel 0 the lowest; () if they have none."""


@dataclass(frozen=True)
class Exhibit:
    """How a page shows an automaton of the task to somebody who has never seen one."""

    invitation: str = "Press play, and paint on the cells."
    target: Mapping[str, Any] | None = None
    """What the page compares cells with, as plain values that its script knows."""
    view: Mapping[str, Any] = field(default_factory=dict)
    """How the page begins, where that is not as usual."""
    wrong: str = "Cells that differ from the picture"
    """What is counted as wrong."""


class Task(ABC):
    """What an automaton is to do. A task of one's own has to say `sample`, and may say more.

    The same section, automaton and generator state give the same sample, whatever was before.
    """

    Section: ClassVar[type[TaskSection]] = TaskSection
    """Its keys of [task]."""

    stays: ClassVar[bool] = False
    """Whether the target is to stay once it is reached: exact then asks for more than one step."""

    published_robustness: ClassVar[Mapping[str, int]] = {}
    """Mean wrong cells of `dct eval --test robustness`, as published, by how it was trained."""

    source: ClassVar[str | None] = None
    """The file that messages blame, of a task that is not the program's own."""

    section: TaskSection

    def __init__(self, section: TaskSection, automaton: AutomatonConfig) -> None:
        """Take a checked section of the class's own, and the automaton that is to do it."""
        self.section, self.automaton = section, automaton

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> Sample:
        """Draw a start state and its target, by `rng` alone.

        Shapes (channels, height, width), uint8 of 0 and 1, and (loss channels, height, width),
        float64. The arrays may be shared: nobody writes to them. A cell does not count where its
        target is NaN.
        """

    @property
    def steps_seen(self) -> Sequence[int]:
        """The steps after which `loss` sees the states: ascending, from 1 to the automaton's."""
        return (self.automaton.steps,)

    def loss(
        self, states: npt.NDArray[np.floating], target: npt.NDArray[np.float64]
    ) -> tuple[float, npt.NDArray[np.floating]]:
        """Return the loss of one sample, and its gradient by `states`, of their shape.

        `states` (steps seen, channels, height, width) are those of the soft circuit. Unless a
        class says otherwise, it is the sum of squared errors in the loss channels, by their weight.
        """
        channels, weights = list(self.loss_channels), self._weights
        errors = np.where(np.isnan(target), 0.0, states[:, channels] - target)
        slopes = errors if weights is None else weights * errors
        gradient = np.zeros_like(states)
        gradient[:, channels] = 2 * slopes
        return float((slopes * errors).sum()), gradient

    @cached_property
    def _weights(self) -> npt.NDArray[np.float64] | None:
        return self.section.spread_weights()

    def advance(self, board: Bits) -> Bits:
        """Return what a target (height, width) is one step later, if targets move on."""
        raise NotImplementedError

    def cases(self) -> Cases | None:
        """Return all cases where they can be listed, None where they cannot."""
        return None

    @property
    def each(self) -> tuple[Task, ...]:
        """Return tasks of one start each, all of which are asked for; none if this is one."""
        return ()

    @property
    def stages(self) -> tuple[Task, ...]:
        """Return what is learned one after the other, this task last.

        Each begins with the circuit that solved the one before; channels are the same in all.
        """
        return (self,)

    @property
    def machine(self) -> Machine | None:
        """Return the machine whose prints a line of any length is to show; None if there is none.

        Its inputs are in channels 0 and following, and all else of a start is 0.
        """
        return None

    @property
    def rule(self) -> Rule | None:
        """Return bounds of each step that suffice on grids of any size; None if none are known."""
        return None

    @property
    def lasting_target(self) -> Bits | None:
        """Return what every state, as a start, is to end in and keep; None if there is no such.

        Shape (loss channels, height, width). A certificate proves that all states do.
        """
        return None

    def on_grid(
        self, height: int, width: int, *, boundary: Boundary | None = None, steps: int | None = None
    ) -> Task:
        """Return the task on another grid. Raises InapplicableError if there is no such thing."""
        changes = {"boundary": boundary, "steps": steps}
        sizes: dict[str, Any] = {"height": height, "width": width}
        if np.ndim(self.section.weights) > 1 and (height, width) != (self.height, self.width):
            sizes["weights"] = ()  # given for the cells of the other size alone
        return type(self)(
            self.section.model_copy(update=sizes),
            self.automaton.model_copy(
                update={key: value for key, value in changes.items() if value is not None}
            ),
        )

    def larger(self) -> Larger:
        """Return what a circuit should be right on without having been trained on it.

        Raises InapplicableError, with the reason, if there is nothing like that.
        """
        times, steps = 4, self.automaton.steps
        large = self.on_grid(times * self.height, times * self.width)
        if not self.stays:
            return Larger(large, f"{times} × side, same steps", (steps,))
        later = times * steps
        return Larger(large, f"{times} × side, {times} × steps", (later, later + 1))

    @property
    def holds(self) -> bool:
        """Whether what its one start grows into is to stay, at every later step."""
        return False

    @property
    def patches(self) -> dict[int, Bits]:
        """Return the damages that it is to grow back after: by their size, where each zeroes cells.

        Shape (damages, height, width) each, 1 where a cell is zeroed.
        """
        return {}

    @property
    def palette(self) -> tuple[tuple[int, int, int], ...]:
        """The colour of each number that the bits of the loss channels give; () if they have none.

        The first loss channel is the lowest bit.
        """
        return ()

    @property
    def exactness_note(self) -> str | None:
        """What one should know about when this task counts as exact."""
        return None

    @property
    def preview(self) -> Preview | None:
        """What is shown before training, if there is anything to see."""
        return None

    @property
    def exhibit(self) -> Exhibit:
        """How a page shows it."""
        return Exhibit()

    @property
    def title(self) -> str:
        """What `dct config list` calls it: the name, and what matters most."""
        return self.name

    @property
    def start(self) -> Start:
        """Where a circuit of this task starts when it is simulated or shipped.

        Follows from the sample; a task whose one start is neither of the two has to say.
        """
        if self.has_random_start:
            return "random"
        start, _ = self.draw(np.random.default_rng(0))
        if not start.any():
            return "zeros"
        if (start == center_start(*start.shape)).all():
            return "center"
        raise TaskError(
            f"{self.blamed}: its only start is neither zeros nor one cell of ones in the middle, "
            'the only starts that a circuit file can name: give the class start = "random", '
            '"center" or "zeros", whichever is nearest'
        )

    # What follows from the above.

    @property
    def name(self) -> str:
        """What messages call the task."""
        return self.section.kind

    @property
    def height(self) -> int:
        """Rows of the grid."""
        return self.section.height

    @property
    def width(self) -> int:
        """Columns of the grid."""
        return self.section.width

    @property
    def channels(self) -> int:
        """Bits of state per cell."""
        return self.automaton.channels

    @property
    def loss_channels(self) -> tuple[int, ...]:
        """The channels that the target is compared with, in its order."""
        return self.section.loss_channels

    @property
    def settings(self) -> dict[str, Any]:
        """The keys that this kind of task alone has, with their values."""
        common = TaskSection.model_fields
        return {
            key: value
            for key, value in self.section.model_dump(mode="json").items()
            if key not in common
        }

    @classmethod
    def moves_on(cls) -> bool:
        """Whether targets change with every further step, as `advance` says."""
        return cls.advance is not Task.advance

    @classmethod
    def has_loss(cls) -> bool:
        """Whether it has a loss of its own."""
        return cls.loss is not Task.loss

    @property
    def has_plain_loss(self) -> bool:
        """Whether the loss is the sum of squared errors, all of one weight: the engine has that."""
        return not (self.has_loss() or self.section.weights)

    @property
    def decisive_steps(self) -> tuple[int, ...]:
        """The steps after which an exact circuit has no wrong cell, ascending."""
        steps = self.automaton.steps
        return later_steps(steps) if self.stays or self.holds else (steps,)

    @cached_property
    def has_random_start(self) -> bool:
        """Whether there is more than one start: whether drawing a sample draws anything."""
        rng = np.random.default_rng(0)
        before = rng.bit_generator.state
        self.draw(rng)
        return bool(rng.bit_generator.state != before)

    @property
    def blamed(self) -> str:
        """Begins a message about the task: its class, and the file if it is not our own."""
        own = type(self).__name__
        return own if self.source is None else f"{self.source}: {own}"

    def draw(self, rng: np.random.Generator) -> Sample:
        """Return a sample that is as it has to be. Raises TaskError."""
        sample = self.call("sample", rng)
        if not (isinstance(sample, tuple) and len(sample) == 2):
            raise TaskError(f"{self.blamed}.sample must return a start and a target, two arrays")
        grid = (self.height, self.width)
        wanted = ((self.channels, *grid), (len(self.loss_channels), *grid))
        names = ("start", "channels"), ("target", "loss channels")
        for array, shape, (name, first) in zip(sample, wanted, names, strict=True):
            found = getattr(array, "shape", None)
            if found != shape:
                raise TaskError(
                    f"{self.blamed}.sample gives a {name} of shape {found}, and {shape} is needed: "
                    f"{first}, rows and columns"
                )
        if sample[0].dtype != np.uint8:
            raise TaskError(
                f"{self.blamed}.sample gives a start of type {sample[0].dtype}, and uint8 is "
                "needed, each element 0 or 1: use start.astype(np.uint8)"
            )
        return sample

    def draw_all(self, rngs: Iterable[np.random.Generator]) -> Sample:
        """Return a sample of each of `rngs`, as stacked arrays: what `draw` gives, one by one.

        A task that makes many at once in less time does it here. Raises TaskError.
        """
        starts, targets = zip(*(self.draw(rng) for rng in rngs), strict=True)
        return np.stack(starts), np.stack(targets)

    def draw_numbered(self, seed: int, purpose: Purpose, epoch: int, numbers: range) -> Sample:
        """Return the samples of an epoch by their numbers, stacked, each from its own stream.

        A task that draws many streams at once in less time does it here. Raises TaskError.
        """
        return self.draw_all(stream(seed, purpose, epoch, number) for number in numbers)

    def find_lasting_target(self) -> Bits | None:
        """Return `lasting_target`, as it has to be. Raises TaskError."""
        target = self.call("lasting_target")
        if target is None:
            return None
        shape = (len(self.loss_channels), self.height, self.width)
        bits = np.asarray(target)
        if bits.shape != shape or not np.isin(bits, (0, 1)).all():
            raise TaskError(
                f"{self.blamed}.lasting_target must be bits of shape {shape}: loss channels, rows "
                f"and columns of 0 and 1; it is of shape {bits.shape}"
            )
        return bits.astype(np.uint8)

    def find_steps_seen(self) -> tuple[int, ...]:
        """Return `steps_seen`, as they have to be. Raises TaskError."""
        found, last = self.call("steps_seen"), self.automaton.steps
        steps = list(found) if isinstance(found, Sequence | np.ndarray) else []
        whole = all(isinstance(step, int | np.integer) for step in steps)
        if not (steps and whole and steps == sorted({*steps} & {*range(1, last + 1)})):
            raise TaskError(
                f"{self.blamed}.steps_seen must be whole numbers from 1 to {last} ([automaton] "
                f"steps), ascending, each once; it is {found!r:.100}"
            )
        return tuple(map(int, steps))

    def find_loss(
        self, states: npt.NDArray[np.floating], target: npt.NDArray[np.float64]
    ) -> tuple[float, npt.NDArray[np.floating]]:
        """Return `loss`, as it has to be. Raises TaskError."""
        found = self.call("loss", states.copy(), target)
        if not (isinstance(found, tuple) and len(found) == 2):
            raise TaskError(
                f"{self.blamed}.loss must return a number and its gradient by the states; it "
                f"returns {described(found)}"
            )
        value, gradient = (np.asarray(each) for each in found)
        for name, array, shape in ("value", value, ()), ("gradient", gradient, states.shape):
            if array.shape != shape or array.dtype.kind not in "buif":
                raise TaskError(
                    f"{self.blamed}.loss gives a {name} of shape {array.shape} and type "
                    f"{array.dtype}, and real numbers of shape {shape} are needed"
                )
            if not np.isfinite(array).all():
                raise TaskError(
                    f"{self.blamed}.loss gives a {name} with NaN or infinity: keep the states away "
                    "from where that happens, as with np.clip(states, 1e-6, 1 - 1e-6)"
                )
        return float(value), gradient

    def find_cases(self) -> Cases | None:
        """Return `cases`, as they have to be. Raises TaskError."""
        cases = self.call("cases")
        if cases is None:
            return None
        if not isinstance(cases, Cases):
            raise TaskError(
                f"{self.blamed}.cases must return a difflogic.Cases, or None if the cases cannot "
                f"be listed; it returns {described(cases)}: stack the starts to one array and the "
                "targets to another, and return Cases(what, starts, targets, boundary, steps, note)"
            )
        for name, array, first in (
            ("starts", cases.starts, self.channels),
            ("targets", cases.targets, len(self.loss_channels)),
        ):
            found = getattr(array, "shape", None)
            fits = found is not None and len(found) == 4 and found[1] == first and min(found)
            if not fits or len(array) != len(cases.starts):
                raise TaskError(
                    f"{self.blamed}.cases gives {name} that are {described(array)}: an array of "
                    f"shape (cases, {first}, rows, columns) is needed, with one start and one "
                    "target for each case"
                )
            if array.dtype != np.uint8 or array.max() > 1:
                raise TaskError(
                    f"{self.blamed}.cases gives {name} of type {array.dtype}: uint8 is needed, "
                    f"each element 0 or 1: use {name}.astype(np.uint8)"
                )
        if cases.starts.shape[2:] != cases.targets.shape[2:]:
            raise TaskError(
                f"{self.blamed}.cases gives starts of {described(cases.starts)} and targets of "
                f"{described(cases.targets)}: rows and columns must be the same"
            )
        return cases

    def call(self, name: str, *arguments: object) -> Any:
        """Call a method, or read a property; errors of a class not our own become TaskErrors."""
        try:
            found = getattr(self, name)
            return found(*arguments) if callable(found) else found
        except DctError:
            raise
        except Exception as error:
            if self.source is None:
                raise
            raise TaskError(
                f"{self.blamed}.{name} failed{line_of(error, self.source)}: "
                f"{type(error).__name__}: {error}"
            ) from error

    @classmethod
    def of(cls, automaton: AutomatonConfig, **keys: Any) -> Self:
        """Return the task with these keys of its section, checked. For tests and experiments."""
        return cls(cls.Section(**keys), automaton)


def draw_batch(
    task: Task, seed: int, epoch: int, batch: int, purpose: Purpose = Purpose.START, first: int = 0
) -> Sample:
    """Draw `batch` samples of an epoch, from number `first` on, each from a stream of its own.

    Returns start states (batch, channels, height, width) and targets (batch, loss channels,
    height, width). Raises ConfigError if a target holds infinity, NaN in some loss channels of a
    cell, or NaN alone, and if a start holds no bits.
    """
    starts, targets = task.draw_numbered(seed, purpose, epoch, range(first, first + batch))
    targets = targets.astype(np.float64, copy=False)
    if starts.max() > 1:
        raise TaskError(
            f"{task.blamed}.sample gives a start with the value {starts.max()}: every element of a "
            "start must be 0 or 1"
        )
    free = np.isnan(targets)
    wrong = np.argwhere(np.isinf(targets) | free & ~free.all(axis=1, keepdims=True))
    if len(wrong):
        sample, channel, y, x = wrong[0]
        raise ConfigError(
            f'task "{task.name}": the target of sample {first + sample} in epoch {epoch} is '
            f"{targets[sample, channel, y, x]} in loss channel {channel} at row {y}, column {x}: "
            "every target must be a finite number, 0 or 1 for bits, or NaN in all loss channels of "
            "a cell that does not count"
        )
    if free.all(axis=(1, 2, 3)).any():
        raise TaskError(f"{task.blamed}.sample gives a target of NaN alone: some cell must count")
    return starts, targets


def line_of(error: BaseException, source: str) -> str:
    """Return the line of a file that an error passed last, as " in line 3"; "" if none."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == source
    ]
    return f" in line {lines[-1]}" if lines else ""


def later_steps(steps: int) -> tuple[int, ...]:
    """Return T, T + 1, 2T and 2T + 1, each once."""
    return tuple(sorted({steps, steps + 1, 2 * steps, 2 * steps + 1}))


def center_start(channels: int, height: int, width: int) -> Bits:
    """Return one cell of ones in the middle of zeros, shape (channels, height, width)."""
    start = np.zeros((channels, height, width), np.uint8)
    start[:, height // 2, width // 2] = 1
    return start
