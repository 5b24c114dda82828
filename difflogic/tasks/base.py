"""The base class of all tasks: starts, targets, loss, and what counts as exact."""

from __future__ import annotations

import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from difflogic.circuit.grid import Boundary, Start, center_start
from difflogic.circuit.specification import Bits, Cases, Machine, Rule
from difflogic.examples.encoding import Encoding
from difflogic.examples.pairs import Pair
from difflogic.system.errors import ConfigError, DctError, described
from difflogic.system.streams import Purpose, stream
from difflogic.tasks.parts import Exhibit, Preview, Sample, TaskError
from difflogic.tasks.section import AutomatonConfig, TaskSection


class Task(ABC):
    """What an automaton is trained to do. A custom task defines `sample`, and may define more.

    The same section, automaton and generator state must always give the same sample.
    """

    Section: ClassVar[type[TaskSection]] = TaskSection
    """The model of its keys of [task]."""

    stays: ClassVar[bool] = False
    """Whether the target should stay once reached. Exactness is then tested at several steps."""

    published_robustness: ClassVar[Mapping[str, int]] = {}
    """Published mean wrong cells for `dct eval --test robustness`, by training method."""

    source: ClassVar[str | None] = None
    """The file of a custom task, for messages."""

    section: TaskSection

    def __init__(self, section: TaskSection, automaton: AutomatonConfig) -> None:
        """`section` is a checked instance of the class's `Section`."""
        self.section, self.automaton = section, automaton

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> Sample:
        """Draw a start state and its target, using only `rng`.

        The start has shape (channels, height, width), uint8 of 0 and 1; the target (loss channels,
        height, width), float64. A cell whose target is NaN does not count. The arrays may be
        shared: callers do not write to them.
        """

    @property
    def steps_seen(self) -> Sequence[int]:
        """The steps whose states `loss` reads, ascending, from 1 to the automaton's steps."""
        return (self.automaton.steps,)

    def loss(
        self, states: npt.NDArray[np.floating], target: npt.NDArray[np.float64]
    ) -> tuple[float, npt.NDArray[np.floating]]:
        """Return the loss of a sample, and its gradient with respect to `states`, of that shape.

        `states` (steps seen, channels, height, width) are those of the soft circuit. By default the
        loss is the sum of squared errors in the loss channels.
        """
        channels = list(self.loss_channels)
        errors = np.where(np.isnan(target), 0.0, states[:, channels] - target)
        gradient = np.zeros_like(states)
        gradient[:, channels] = 2 * errors
        return float((errors**2).sum()), gradient

    def advance(self, board: Bits) -> Bits:
        """Return the target (height, width) one step later, if targets change with each step."""
        raise NotImplementedError

    def cases(self) -> Cases | None:
        """Return all cases if they can be listed, else None."""
        return None

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

    @property
    def stages(self) -> tuple[Task, ...]:
        """Tasks to learn one after the other, this one last.

        Each begins with the circuit that solved the one before. All have the same channels.
        """
        return (self,)

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
    def asks_every_size(self) -> bool:
        """Whether an exact circuit must be right on every grid with zeros around, by proof."""
        return False

    def lasting_target_on(
        self, height: int, width: int, *, boundary: Boundary | None = "zero"
    ) -> Bits:
        """Return the lasting target on another grid, with zeros beyond its edge, or its own."""
        found = self.on_grid(height, width, boundary=boundary).find_lasting_target()
        assert found is not None, "a task has such targets on all grids, or on none"
        return found

    def on_grid(
        self, height: int, width: int, *, boundary: Boundary | None = None, steps: int | None = None
    ) -> Task:
        """Return the task on another grid. Raises InapplicableError if it has no meaning there."""
        changes = {"boundary": boundary, "steps": steps}
        return type(self)(
            self.section.model_copy(update={"height": height, "width": width}),
            self.automaton.model_copy(
                update={key: value for key, value in changes.items() if value is not None}
            ),
        )

    def larger(self) -> Larger:
        """Return a larger task that a circuit should solve without training on it.

        Raises InapplicableError, with the reason, if the task has no larger version.
        """
        times, steps = 4, self.automaton.steps
        rows = 1 if self.height == 1 else times * self.height  # a line stays a line
        large = self.on_grid(rows, times * self.width)
        if not self.stays:
            return Larger(large, f"{times} × side, same steps", (steps,))
        later = times * self.due
        return Larger(large, f"{times} × side, {times} × steps", (later, later + 1))

    @property
    def encoding(self) -> Encoding | None:
        """What the channels say of a grid's symbols, if the task learns from examples."""
        return None

    @property
    def examples(self) -> dict[str, tuple[Pair, ...]]:
        """The examples by their part, "training" and "held out", if the task learns from them."""
        return {}

    @property
    def due(self) -> int:
        """The step from which on a target that stays must be right; a later one comes too late."""
        return self.automaton.steps

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

    @property
    def damages(self) -> dict[int, int]:
        """The number of `patches` by size."""
        return {size: len(patches) for size, patches in self.patches.items()}

    @property
    def palette(self) -> tuple[tuple[int, int, int], ...]:
        """The colour of each number that the bits of the loss channels give; () for no colours.

        The first loss channel is the lowest bit.
        """
        return ()

    @property
    def exactness_note(self) -> str | None:
        """What to know about how this task is tested for exactness, if anything."""
        return None

    @property
    def preview(self) -> Preview | None:
        """What to show before training, if anything."""
        return None

    @property
    def exhibit(self) -> Exhibit:
        """How a page presents it."""
        return Exhibit()

    @property
    def title(self) -> str:
        """Its name in `dct config list`, with its main setting."""
        return self.name

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

    # Derived from the above.

    @property
    def name(self) -> str:
        """Its kind, for messages."""
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
        """The channels that are compared with the target, in its order."""
        return self.section.loss_channels

    @property
    def settings(self) -> dict[str, Any]:
        """The keys that only this kind of task has, with their values."""
        common = TaskSection.model_fields
        return {
            key: value
            for key, value in self.section.model_dump(mode="json").items()
            if key not in common
        }

    @classmethod
    def has_changing_targets(cls) -> bool:
        """Whether targets change with each step: whether the class defines `advance`."""
        return cls.advance is not Task.advance

    @classmethod
    def has_loss(cls) -> bool:
        """Whether the class defines its own `loss`; the engine computes the usual one."""
        return cls.loss is not Task.loss

    @property
    def decisive_steps(self) -> tuple[int, ...]:
        """The steps at which an exact circuit has no wrong cell, ascending."""
        steps = self.due if self.stays else self.automaton.steps
        return later_steps(steps) if self.stays or self.holds else (steps,)

    @cached_property
    def has_random_start(self) -> bool:
        """Whether starts are random: whether a sample uses its generator."""
        rng = np.random.default_rng(0)
        before = rng.bit_generator.state
        self.draw(rng)
        return bool(rng.bit_generator.state != before)

    @property
    def prefix(self) -> str:
        """Begins a message about the task: its class, after the file of a custom one."""
        name = type(self).__name__
        return name if self.source is None else f"{self.source}: {name}"

    def draw(self, rng: np.random.Generator) -> Sample:
        """Return a checked sample. Raises TaskError."""
        sample = self.call("sample", rng)
        if not (isinstance(sample, tuple) and len(sample) == 2):
            raise TaskError(f"{self.prefix}.sample must return a start and a target, two arrays")
        channels = {"start": self.channels, "target": len(self.loss_channels)}
        for array, (name, count) in zip(sample, channels.items(), strict=True):
            found, shape = getattr(array, "shape", None), (count, self.height, self.width)
            if found != shape:
                what = "channels" if name == "start" else "loss channels"
                raise TaskError(
                    f"{self.prefix}.sample gives a {name} of shape {found}, but {shape} is needed: "
                    f"{what}, rows and columns"
                )
        if sample[0].dtype != np.uint8:
            raise TaskError(
                f"{self.prefix}.sample gives a start of type {sample[0].dtype}: uint8 is needed, "
                "each element 0 or 1: use start.astype(np.uint8)"
            )
        return sample

    def draw_all(self, rngs: Iterable[np.random.Generator]) -> Sample:
        """Return one sample from each of `rngs`, stacked. Raises TaskError.

        Override it to draw many samples faster than one by one.
        """
        starts, targets = zip(*(self.draw(rng) for rng in rngs), strict=True)
        return np.stack(starts), np.stack(targets)

    def draw_numbered(self, seed: int, purpose: Purpose, epoch: int, numbers: range) -> Sample:
        """Return the samples of an epoch with these numbers, stacked, each from its own stream.

        Override it to draw from many streams faster than one by one. Raises TaskError.
        """
        return self.draw_all(stream(seed, purpose, epoch, number) for number in numbers)

    def find_lasting_target(self) -> Bits | None:
        """Return a checked `lasting_target`. Raises TaskError."""
        target = self.call("lasting_target")
        if target is None:
            return None
        shape = (len(self.loss_channels), self.height, self.width)
        bits = np.asarray(target)
        if bits.shape != shape or not np.isin(bits, (0, 1)).all():
            raise TaskError(
                f"{self.prefix}.lasting_target must be bits of shape {shape}: loss channels, rows "
                f"and columns of 0 and 1; it is of shape {bits.shape}"
            )
        return bits.astype(np.uint8)

    def find_lasting_period(self, side: int) -> int | None:
        """Return `lasting_period`, on trust only beyond grids of `side` cells. Raises TaskError.

        What a shipped task says is not checked.
        """
        period: int | None = self.call("lasting_period")
        if period is None or self.source is None:
            return period
        if type(period) is not int or period < 1:
            raise TaskError(
                f"{self.prefix}.lasting_period must be a whole number of cells, or None"
            )

        target = partial(self.lasting_target_on, boundary=None)
        part = target(side, side)[:, :period, :period]
        plane = np.pad(part, ((0, 0), *((0, side),) * 2), mode="wrap")
        for height, width in product(range(1, side + 1), range(1, side + 1)):
            if (target(height, width) != plane[:, :height, :width]).any():
                raise TaskError(
                    f"{self.prefix}.lasting_period is {period}, but the target on "
                    f"{height}×{width} cells is not the upper left part of one picture that "
                    "repeats so"
                )
        return period

    def find_steps_seen(self) -> tuple[int, ...]:
        """Return checked `steps_seen`. Raises TaskError."""
        found, last = self.call("steps_seen"), self.automaton.steps
        steps = list(found) if isinstance(found, Sequence | np.ndarray) else []
        whole = all(isinstance(step, int | np.integer) for step in steps)
        if not (steps and whole and steps == sorted({*steps} & {*range(1, last + 1)})):
            raise TaskError(
                f"{self.prefix}.steps_seen must be whole numbers from 1 to {last} ([automaton] "
                f"steps), ascending, each once; it is {found!r:.100}"
            )
        return tuple(map(int, steps))

    def find_loss(
        self, states: npt.NDArray[np.floating], target: npt.NDArray[np.float64]
    ) -> tuple[float, npt.NDArray[np.floating]]:
        """Return a checked `loss`. Raises TaskError."""
        found = self.call("loss", states.copy(), target)
        if not (isinstance(found, tuple) and len(found) == 2):
            raise TaskError(
                f"{self.prefix}.loss must return a number and its gradient with respect to the "
                f"states; it returns {described(found)}"
            )
        value, gradient = (np.asarray(each) for each in found)
        for name, array, shape in ("value", value, ()), ("gradient", gradient, states.shape):
            if array.shape != shape or array.dtype.kind not in "buif":
                raise TaskError(
                    f"{self.prefix}.loss gives a {name} of shape {array.shape} and type "
                    f"{array.dtype}: real numbers of shape {shape} are needed"
                )
            if not np.isfinite(array).all():
                raise TaskError(
                    f"{self.prefix}.loss gives a {name} with NaN or infinity: keep the states in a "
                    "safe range, as with np.clip(states, 1e-6, 1 - 1e-6)"
                )
        return float(value), gradient

    def find_cases(self) -> Cases | None:
        """Return checked `cases`. Raises TaskError."""
        cases = self.call("cases")
        if cases is None:
            return None
        if not isinstance(cases, Cases):
            raise TaskError(
                f"{self.prefix}.cases must return a difflogic.Cases, or None if the cases cannot "
                f"be listed; it returns {described(cases)}: stack the starts to one array and the "
                "targets to another, and return Cases(name, starts, targets, boundary, steps, note)"
            )
        for name, channels in ("starts", self.channels), ("targets", len(self.loss_channels)):
            array = getattr(cases, name)
            shape: tuple[int, ...] = getattr(array, "shape", ())
            if len(shape) != 4 or shape[1] != channels or not min(shape):
                raise TaskError(
                    f"{self.prefix}.cases gives {name} that are {described(array)}: an array of "
                    f"shape (cases, {channels}, rows, columns) is needed"
                )
            # A cell of a target that does not count is NaN.
            numbers = np.nan_to_num(array) if array.dtype.kind == "f" else array
            kinds = "u" if name == "starts" else "uf"
            if array.dtype.kind not in kinds or not np.isin(numbers, (0, 1)).all():
                raise TaskError(
                    f"{self.prefix}.cases gives {name} of type {array.dtype}: uint8 is needed, "
                    f"each element 0 or 1: use {name}.astype(np.uint8)"
                )
        starts, targets = cases.starts.shape, cases.targets.shape
        if (starts[0], starts[2:]) != (targets[0], targets[2:]):
            raise TaskError(
                f"{self.prefix}.cases gives starts of shape {starts} and targets of shape "
                f"{targets}: one target for each case is needed, with the same rows and columns"
            )
        return cases

    def call(self, name: str, *arguments: object) -> Any:
        """Call a method, or read a property. Errors of a custom task become TaskErrors."""
        try:
            found = getattr(self, name)
            return found(*arguments) if callable(found) else found
        except DctError:
            raise
        except Exception as error:
            if self.source is None:
                raise
            raise TaskError(
                f"{self.prefix}.{name} failed{line_of(error, self.source)}: "
                f"{type(error).__name__}: {error}"
            ) from error


def draw_batch(
    task: Task, seed: int, epoch: int, batch: int, purpose: Purpose = Purpose.START, first: int = 0
) -> Sample:
    """Draw `batch` samples of an epoch, numbered from `first`, each from its own stream.

    Returns start states (batch, channels, height, width) and targets (batch, loss channels,
    height, width). Raises ConfigError if a start has values other than 0 and 1, or if a target has
    infinity, NaN in only some loss channels of a cell, or nothing but NaN.
    """
    starts, targets = task.draw_numbered(seed, purpose, epoch, range(first, first + batch))
    targets = targets.astype(np.float64, copy=False)
    if starts.max() > 1:
        raise TaskError(
            f"{task.prefix}.sample gives a start with the value {starts.max()}: each element must "
            "be 0 or 1"
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
        raise TaskError(f"{task.prefix}.sample gives a target of NaN alone: some cell must count")
    return starts, targets


def line_of(error: BaseException, source: str) -> str:
    """Return the last line of a file in an error's traceback, as " in line 3"; "" if none."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == source
    ]
    return f" in line {lines[-1]}" if lines else ""


def later_steps(steps: int) -> tuple[int, ...]:
    """Return T, T + 1, 2T and 2T + 1, each once."""
    return tuple(sorted({steps, steps + 1, 2 * steps, 2 * steps + 1}))


@dataclass(frozen=True)
class Larger:
    """A task on a larger grid than it was trained on, and the steps at which it is tested."""

    task: Task
    name: str
    """Such as "4 × side, same steps"."""
    steps: tuple[int, ...]
    note: str | None = None
