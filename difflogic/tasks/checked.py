"""What dct makes of a task: its sizes, and what it draws, asks and is told, checked."""

from __future__ import annotations

import traceback
from abc import ABC
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from itertools import product
from typing import Any, ClassVar

import numpy as np

from difflogic.circuit.grid import Boundary
from difflogic.circuit.specification import Cases
from difflogic.examples.encoding import Encoding
from difflogic.examples.pairs import Pair
from difflogic.system.array_types import Bits, Float64s, Floats
from difflogic.system.errors import ConfigError, DctError, described
from difflogic.system.streams import Purpose, stream
from difflogic.tasks.parts import Sample, TaskError
from difflogic.tasks.section import AutomatonConfig, TaskSection

UNSAMPLED_CELLS = 2**18
"""Cells of a grid above which no sample is drawn to see whether starts are random."""


class CheckedTask(ABC):
    """The half of a task that its author leaves as it is."""

    Section: ClassVar[type[TaskSection]]
    stays: ClassVar[bool]

    published_robustness: ClassVar[Mapping[str, int]] = {}
    """Published mean wrong cells for `dct eval --test robustness`, by training method."""

    source: ClassVar[str | None] = None
    """The file of a custom task, for messages."""

    section: TaskSection

    def __init__(self, section: TaskSection, automaton: AutomatonConfig) -> None:
        """`section` is a checked instance of the class's `Section`."""
        self.section = section
        self.automaton = automaton
        self.name = section.kind
        self.height = section.height
        self.width = section.width
        self.channels = automaton.channels
        self.loss_channels = section.loss_channels

    @property
    def prefix(self) -> str:
        """Begins a message about the task: its class, after the file of a custom one."""
        name = type(self).__name__
        return name if self.source is None else f"{self.source}: {name}"

    @property
    def decisive_steps(self) -> tuple[int, ...]:
        """The steps at which an exact circuit has no wrong cell, ascending."""
        steps = self.call("due") if self.stays else self.automaton.steps
        return later_steps(steps) if self.stays or self.call("holds") else (steps,)

    @cached_property
    def has_random_start(self) -> bool:
        """Whether starts are random: whether a sample uses its generator."""
        rng = np.random.default_rng(0)
        before = rng.bit_generator.state
        self.draw(rng)
        return bool(rng.bit_generator.state != before)

    # What only shipped tasks say.

    @property
    def encoding(self) -> Encoding | None:
        """What the channels say of a grid's symbols, if the task learns from examples."""
        return None

    @property
    def examples(self) -> dict[str, tuple[Pair, ...]]:
        """The examples by their part, "training" and "held out", if any."""
        return {}

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
    def shown_target(self) -> Bits | None:
        """The picture that is learned, if any, as bits of shape (loss channels, height, width)."""
        return None

    @property
    def title(self) -> str:
        """Its name in `dct config list`, with its main setting."""
        return self.name

    @property
    def asks_every_size(self) -> bool:
        """Whether an exact circuit must be right on every grid with zeros around, by proof."""
        return False

    @property
    def damages(self) -> dict[int, int]:
        """The number of `patches` by size."""
        return {size: len(patches) for size, patches in self.call("patches").items()}

    # What a class defines, checked.

    def lasting_target_on(
        self, height: int, width: int, *, boundary: Boundary | None = "zero"
    ) -> Bits:
        """Return the lasting target on another grid, with zeros beyond its edge, or its own."""
        task: CheckedTask = self.call("on_grid", height, width, boundary=boundary)
        found = task.find_lasting_target()
        assert found is not None, "a task has such targets on all grids, or on none"
        return found

    def draw(self, rng: np.random.Generator) -> Sample:
        """Return a checked sample. Raises TaskError."""
        sample: Sample = self.call("sample", rng)
        is_pair = isinstance(sample, tuple) and len(sample) == 2
        self.require("sample", sample, is_pair, "a start and a target, two arrays")
        start, target = sample
        grid = (self.height, self.width)
        self.require_array("sample gives a start", start, (self.channels, *grid), "u")
        self.require_array("sample gives a target", target, (len(self.loss_channels), *grid))
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
        right = bits.shape == shape and np.isin(bits, (0, 1)).all()
        words = f"bits of shape {shape}: loss channels, rows and columns of 0 and 1"
        self.require("lasting_target", bits if bits.shape == shape else bits.shape, right, words)
        return bits.astype(np.uint8)

    def find_lasting_period(self, side: int) -> int | None:
        """Return `lasting_period`, on trust only beyond grids of `side` cells. Raises TaskError.

        What a shipped task says is not checked.
        """
        period: int | None = self.call("lasting_period")
        if period is None or self.source is None:
            return period
        right = type(period) is int and period >= 1
        self.require("lasting_period", period, right, "a whole number of cells, or None")

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
        found = self.call("steps_seen")
        last = self.automaton.steps
        steps = list(found) if isinstance(found, Sequence | np.ndarray) else []
        whole = all(isinstance(step, int | np.integer) for step in steps)
        right = steps and whole and steps == sorted({*steps} & {*range(1, last + 1)})
        words = f"whole numbers from 1 to {last} ([automaton] steps), ascending, each once"
        self.require("steps_seen", found, right, words)
        return tuple(map(int, steps))

    def find_loss(self, states: Floats, target: Float64s) -> tuple[float, Floats]:
        """Return a checked `loss`. Raises TaskError."""
        found = self.call("loss", states.copy(), target)
        right = isinstance(found, tuple) and len(found) == 2
        self.require("loss", found, right, "a number and its gradient with respect to the states")
        value, gradient = (np.asarray(each) for each in found)
        for name, array, shape in ("value", value, ()), ("gradient", gradient, states.shape):
            self.require_array(f"loss gives a {name}", array, shape)
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
        sizes = np.shape(cases.starts)
        many, _, *grid = sizes if len(sizes) == 4 and min(sizes) else (1, 1, 1, 1)
        channels = (many, self.channels, *grid)
        self.require_array("cases gives starts", cases.starts, channels, "u")
        channels = (many, len(self.loss_channels), *grid)
        self.require_array("cases gives targets", cases.targets, channels, "uf")
        for name, array in ("starts", cases.starts), ("targets", cases.targets):
            # A cell of a target that does not count is NaN.
            if not np.isin(np.nan_to_num(array), (0, 1)).all():
                raise TaskError(f"{self.prefix}.cases gives {name} other than 0 and 1")
        return cases

    def require(self, name: str, found: object, right: object, words: str) -> None:
        """Raise TaskError unless what the class says is right."""
        if not right:
            raise TaskError(f"{self.prefix}.{name} must be {words}; it is {found!r:.100}")

    def require_array(
        self, what: str, array: Any, shape: tuple[int, ...], kinds: str = "buif"
    ) -> None:
        """Raise TaskError unless an array has a shape, and a type of these `kinds`; u is uint8."""
        is_array = isinstance(array, np.ndarray)
        has_kind = is_array and array.dtype.kind in kinds and (kinds != "u" or array.itemsize == 1)
        if not (has_kind and array.shape == shape):
            dtype = f" and type {array.dtype}" if is_array else ""
            numbers = "uint8, each 0 or 1," if kinds == "u" else "real numbers"
            needed = f"{numbers} of shape {shape} are needed: channels, rows and columns"
            if not shape:
                needed = "one real number is needed"
            raise TaskError(f"{self.prefix}.{what}, {described(array)}{dtype}: {needed}")

    def call(self, name: str, *arguments: object, **options: object) -> Any:
        """Call a method, or read a property. Errors of a custom task become TaskErrors."""
        with blamed(f"{self.prefix}.{name} failed", self.source, DctError):
            found = getattr(self, name)
            return found(*arguments, **options) if callable(found) else found


def draw_batch(
    task: CheckedTask,
    seed: int,
    epoch: int,
    batch: int,
    purpose: Purpose = Purpose.START,
    first: int = 0,
) -> Sample:
    """Draw `batch` samples of an epoch, numbered from `first`, each from its own stream.

    Returns start states (batch, channels, height, width) and targets (batch, loss channels,
    height, width). Raises ConfigError if a start has values other than 0 and 1, or if a target is
    above 1e9, NaN in only some loss channels of a cell, or nothing but NaN.
    """
    starts, targets = task.draw_numbered(seed, purpose, epoch, range(first, first + batch))
    targets = targets.astype(np.float64, copy=False)
    if starts.max() > 1:
        raise TaskError(
            f"{task.prefix}.sample gives a start with the value {starts.max()}: each element must "
            "be 0 or 1"
        )
    free = np.isnan(targets)
    # Squares of larger targets, summed, could exceed float32.
    wrong = np.argwhere((np.abs(targets) > 1e9) | free & ~free.all(axis=1, keepdims=True))
    if len(wrong):
        sample, channel, y, x = wrong[0]
        raise ConfigError(
            f"{task.prefix}: the target of sample {first + sample} in epoch {epoch} is "
            f"{targets[sample, channel, y, x]} in loss channel {channel} at row {y}, column {x}: "
            "every target must be a number up to 1e9, 0 or 1 for bits, or NaN in all loss channels "
            "of a cell that does not count"
        )
    if free.all(axis=(1, 2, 3)).any():
        raise TaskError(f"{task.prefix}.sample gives a target of NaN alone: some cell must count")
    return starts, targets


@contextmanager
def blamed(what: str, source: str | None, *passing: type[Exception]) -> Iterator[None]:
    """Turn what the code of a file raises into a TaskError with its line, an exit of Python too.

    Ctrl-C, a stop and the classes `passing` pass, and so does everything if there is no `source`.
    """
    try:
        yield
    except BaseException as error:
        if source is None or isinstance(error, (KeyboardInterrupt, *passing)):
            raise
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == source]
        place = f" in line {lines[-1]}" if lines else ""
        raise TaskError(f"{what}{place}: {type(error).__name__}: {error}") from error


def later_steps(steps: int) -> tuple[int, ...]:
    """Return T, T + 1, 2T and 2T + 1, each once."""
    return tuple(sorted({steps, steps + 1, 2 * steps, 2 * steps + 1}))
