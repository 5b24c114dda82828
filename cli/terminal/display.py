"""The progress of a training run on stderr: a live display, plain lines, or nothing."""

from __future__ import annotations

import math
import textwrap
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cli.failures import note
from cli.terminal.screen import Bar, Display, Screen, can_animate, clock
from difflogic.run.story import by_phase, in_training, percent
from difflogic.system.quantities import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from difflogic.run.measures import StepResult
    from difflogic.run.metrics import MetricsRow
    from difflogic.search.finisher import Finished
    from difflogic.search.walk import SearchProgress
    from difflogic.system.array_types import Bits
    from difflogic.system.work import Progress

    Palette = Sequence[tuple[int, int, int]]

PICTURE_LINES = 10
LINE_SECONDS = 10.0
"""Without a terminal: lines per run, and the most seconds between two of them."""

NEAR = 5
"""The upper limit is shown once it is at most this many times the time that has passed."""
UNTIL_EXACT = "ends once a circuit is exact"

PICTURE_GAP = 3
"""Columns between two pictures."""

COLOR_CHANNELS = (2, 3)
TERMINAL_COLORS = ("grey11", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
"""Colours of a cell by its bits: the first channel is red, the second green, the third blue."""


@dataclass
class RunProgress:
    """The state of a run: the numbers of the last step, and the best so far."""

    epochs: int
    """Epochs of the whole run."""
    channels: Sequence[int] = (0,)
    """The loss channels: the pictures show all of them, or the first."""
    palette: Palette = ()
    """Colours of the numbers that the loss channels' bits make, if the task names them."""
    picture: Bits | None = None
    """The picture that the run learns, if any."""
    last: StepResult | MetricsRow | None = None
    """The last step."""
    hard: StepResult | MetricsRow | None = None
    """The last one with a hard evaluation."""
    best: StepResult | MetricsRow | None = None
    """The one with the least hard loss, of this attempt and stage."""
    finished: Finished | None = None
    """Result of the last search of this attempt and stage."""
    searched: int = 0
    """The epoch of the last search."""
    searching: SearchProgress | None = None
    """Progress of the current search."""
    compiling: Progress | None = None
    """Kernels compiled before it."""
    hard_state: Bits | None = None
    """Last state of the last hard rollout, shape (channels, height, width)."""
    started: float = field(default_factory=time.perf_counter)
    first: tuple[int, float] | None = None
    """The first epoch that this process finished, and when: it warms up until then."""
    searches: bool = False
    """Whether the run searches, and so ends as soon as a circuit is verified."""
    restart_every: int = 0
    """Epochs of an attempt; 0 if there is only one."""
    stages: Sequence[str] = ()
    """The task's stages, in words; empty if it has one only."""
    attempt: int = 1
    stage: int = 1
    over: bool = False
    """Whether training has ended."""
    phases: Mapping[str, float] = field(default_factory=dict)
    """Seconds of the run by phase, which the trainer keeps updating."""

    def recall(self, rows: Sequence[MetricsRow]) -> None:
        """Take over the rows of earlier processes."""
        for row in rows:
            self._take(row)

    def add(self, result: StepResult, stage: int | None = None, over: bool = False) -> None:
        """Take over the results of a step.

        `stage` is that of the next step, and `over` says whether only the final tests are left.
        """
        self._take(result)
        self.first = self.first or (self.epoch, time.perf_counter())
        self.over = over
        self.searching = None
        if result.hard_state is not None:
            self.hard_state = result.hard_state
        if result.finished is not None:
            self.finished = result.finished
            self.searched = result.epoch
        if stage is not None and over:
            self.stage = stage
        elif stage is not None:
            self._enter(self.attempt, stage)

    def _enter(self, attempt: int, stage: int) -> None:
        if (attempt, stage) != (self.attempt, self.stage):
            self.attempt = attempt
            self.stage = stage
            # The losses and checks of others say nothing about this one.
            self.best = self.finished = None

    def _take(self, result: StepResult | MetricsRow) -> None:
        self.last = result
        self._enter(result.attempt or self.attempt, result.stage or self.stage)
        if result.hard_loss is not None:  # a step without hard evaluation keeps the scores
            self.hard = result
            best = None if self.best is None else self.best.hard_loss
            if best is None or result.hard_loss < best:
                self.best = result

    @property
    def epoch(self) -> int:
        """The last epoch that is finished."""
        return 0 if self.last is None else self.last.epoch

    @property
    def rate(self) -> float | None:
        """Epochs per second of this process, searches included; None at the beginning."""
        epoch, since = self.first or (self.epoch, 0.0)
        seconds = max(time.perf_counter() - since, 1e-9)
        return (self.epoch - epoch) / seconds if self.epoch > epoch else None

    @property
    def pace(self) -> str:
        """The rate, in words."""
        pace = self.rate
        return "" if pace is None else f"{rate(pace)} epochs/s"

    @property
    def in_attempt(self) -> tuple[int, int]:
        """Finished epochs of the attempt, and its most."""
        length = min(self.restart_every or self.epochs, self.epochs)
        return self.epoch - length * (max(self.epoch - 1, 0) // length), length

    @property
    def place(self) -> str:
        """Where the run is: its attempt and stage."""
        words = []
        if self.restart_every:
            most = -(-self.epochs // self.restart_every)
            words.append(f"attempt {self.attempt}" + f" of at most {most}" * (most > 1))
        if self.stages:
            name = self.stages[self.stage - 1]
            words.append(f"stage {self.stage} of {len(self.stages)}: {name}")
        return ", ".join(words)

    @property
    def now(self) -> Bar:
        """What is being done, how much of it, and in what unit."""
        kernels = self.compiling
        if kernels and kernels.done < (kernels.total or 0):
            words = f"groups of kernels: {kernels.done} of {kernels.total}"
            return Bar("compiling", kernels.done, kernels.total, words)
        if now := self.searching:
            wrong = counted(now.wrong, "wrong bit")
            return Bar("searching", now.candidates, now.budget or None, f"circuits: {wrong} left")
        if self.over:
            return Bar("testing", 0, None, f"proof and final tests, after epoch {self.epoch}")
        done, length = self.in_attempt
        return Bar("learning", done, length, f"epoch {done} of {length}  {self.pace}".rstrip())

    @property
    def whole(self) -> Bar:
        """The run."""
        words = "  ".join(filter(None, (self.place, self.outlook)))
        return Bar("run", self.epochs if self.over else self.epoch, self.epochs, words)

    @property
    def outlook(self) -> str:
        """The time that has passed, and what is known of the rest."""
        seconds = time.perf_counter() - self.started
        passed = f"{seconds:.0f} s"
        pace = self.rate
        if self.over or not (pace or self.searches):
            return passed
        left = (self.epochs - self.epoch) / pace if pace else math.inf
        if not self.searches:
            return f"{passed}, {clock(left)} left"
        is_near = left <= NEAR * seconds
        return f"{passed}, at most {clock(left)} left" if is_near else f"{passed}; {UNTIL_EXACT}"


class LineDisplay(Display):
    """Plain lines, for logs and pipes: some per run, and one at least every `LINE_SECONDS`."""

    def __init__(self, progress: RunProgress) -> None:
        self._progress = progress
        self._shown = -1, 1
        self._epoch = 0
        self._time = time.perf_counter()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        # A long step, search or proof reports nothing meanwhile.
        threading.Thread(target=self._repeat, daemon=True).start()

    def update(self) -> None:
        progress = self._progress
        part = PICTURE_LINES * progress.epoch // progress.epochs
        stage = progress.stage
        with self._lock:
            is_new = part > self._shown[0] or stage != self._shown[1]
            if is_new or time.perf_counter() - self._time >= LINE_SECONDS:
                self._shown = part, stage
                self._show()

    def close(self) -> None:
        self._closed.set()
        with self._lock:
            if self._progress.epoch > self._epoch:
                self._show()

    def _repeat(self) -> None:
        while not self._closed.wait(1):
            self.update()

    def _show(self) -> None:
        self._epoch, self._time = self._progress.epoch, time.perf_counter()
        note(line(self._progress))


def choose(title: str, progress: RunProgress, quiet: bool) -> Display:
    """Return the display that suits the output."""
    if quiet:
        return Display()
    return live(title, progress) if can_animate() else LineDisplay(progress)


def live(title: str, progress: RunProgress) -> Screen:
    """Return a display on the terminal, redrawn in place."""

    def around(console: Console, table: Any) -> Iterable[Any]:
        return compose(title, progress, table, console)

    return Screen(lambda: [progress.whole, progress.now], around)


def line(progress: RunProgress) -> str:
    """Return the run's state as one line."""
    now = progress.now
    share = f" {100 * now.done // now.total:.0f} % of" if progress.searching and now.total else ""
    facts = (f"{label} {text}" for label, text in _facts(progress).items() if label != "time")
    return "; ".join(
        filter(None, (progress.place, f"{now.what}{share} {now.words}", progress.outlook, *facts))
    )


def compose(title: str, progress: RunProgress, table: Any, console: Console) -> Iterator[Any]:
    """Yield the lines of one frame, around the `table` of bars.

    The last frame has neither bars nor facts: the run's story follows it.
    """
    from rich.text import Text

    width = console.width
    yield Text(title, "bold")
    if table is not None:
        yield table
    text = Text()
    for label, words in _facts(progress).items() if table is not None else ():
        indent = f"\n{'':<10}"
        text.append(f"{label:<10}", "dim")
        text.append(indent.join(textwrap.wrap(words, max(width - 10, 20))) + "\n")
    if text:
        text.right_crop(1)
        yield text
    # The height without the lines above, bars, captions and the cursor's line.
    room = console.height - text.plain.count("\n") - 7
    colors = not console.no_color and console.color_system is not None
    yield from _pictures(progress, width, max(room, 4), colors)


def _pictures(progress: RunProgress, width: int, lines: int, colors: bool) -> Iterator[Text]:
    """Yield lines that show what fits side by side: the target, the state, and what differs."""
    from rich.text import Text

    state = progress.hard_state
    picture = progress.picture
    shown: list[tuple[str, Bits, Palette]] = []
    if state is not None:
        exact = progress.over and progress.finished is not None and progress.finished.exact
        seen = state[list(progress.channels)]
        named = "exact" if exact else "now"
        shown.append((named, seen, progress.palette))
    if picture is not None:
        shown.insert(0, ("target", picture, progress.palette))
        if state is not None and seen.shape == picture.shape:
            wrong = (seen != picture).any(axis=0, keepdims=True).astype(seen.dtype)
            shown.append((f"{wrong.sum()} wrong", wrong, ()))
    if not shown:
        return
    tall, wide = shown[-1][1].shape[1:]
    # A picture that does not fit is shown without some of its rows and columns.
    stride = max(-(-tall // (2 * lines)), -(-wide // width))
    columns = max(-(-wide // stride), max(len(name) for name, *_ in shown)) + PICTURE_GAP
    fitting = max((width + PICTURE_GAP) // columns, 1)
    if fitting < len(shown):  # what differs goes first, and then the target
        shown = shown[:2] if fitting == 2 else shown[1:2]
    yield Text("".join(f"{name:<{columns}}" for name, *_ in shown).rstrip(), "dim")
    drawn = [draw_cells(bits[:, ::stride, ::stride], colors, names) for _, bits, names in shown]
    for row in zip(*drawn, strict=True):
        line = Text(no_wrap=True, overflow="crop")
        for part in row:
            line.append_text(part).append(" " * (columns - len(part)))
        yield line


def _facts(progress: RunProgress) -> dict[str, str]:
    """Return label and text of what is known of the run, as in its story at the end."""
    found: dict[str, str] = {}
    hard = progress.hard
    best = progress.best
    if hard is not None and best is not None:
        found["learned"] = (
            f"{percent(hard.accuracy)} of the samples' bits are right; "
            f"best {percent(best.accuracy)}, at epoch {best.epoch}"
        )
    if progress.finished is not None:
        found["searched"] = f"at epoch {progress.searched}: {finishing(progress.finished)}"
    last = progress.last
    if last is not None:
        least = None if hard is None else hard.hard_loss
        found["loss"] = (
            f"soft {loss(last.soft_loss)} (gates mixed), hard {loss(least)} (likeliest ops); "
            f"{percent(last.decided)} of the gates decided"
        )
    if any(progress.phases.values()):
        parts = by_phase(progress.phases)
        times = f"training {parts['training']:.0f} s, search {parts['search']:.0f} s"
        found["time"] = f"{times}; training: {in_training(progress.phases)}"
    return found


def finishing(found: Finished) -> str:
    """Describe a search: wrong bits before and after it, or its circuit's gates."""
    if found.late:
        return "proved, but right too late"
    if not found.exact:
        return f"{found.wrong_before} → {found.wrong} wrong bits"
    made = found.polished
    exact = "found an exact circuit"
    return exact + (
        "" if made is None else f", {made.before.gates} → {made.after.gates} active gates"
    )


def loss(value: float | None) -> str:
    """Format a loss: whole numbers bare, others to five significant digits at most."""
    if value is None:
        return "-"
    return f"{value:.0f}" if value == int(value) else f"{value:#.5g}"


def rate(value: float) -> str:
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def numbers_of(bits: Bits) -> Any:
    """Return the number that the channels of each cell make, channel 0 the lowest bit."""
    return sum(channel.astype(int) << index for index, channel in enumerate(bits))


def draw_cells(bits: Bits, colors: bool, palette: Palette = ()) -> list[Text]:
    """Draw loss channels, shape (channels, height, width): two cells to a character.

    With `colors`, `palette` has the colour of each number that the bits make; without a palette,
    two or three channels are red, green and blue. Otherwise only the first channel is drawn.
    """
    from rich.text import Text

    named = len(palette) == 2 ** len(bits)
    numbers = numbers_of(bits)
    plain = not colors or not (named or len(bits) in COLOR_CHANNELS)
    if plain:
        numbers = bits[0]
    rows = [[int(number) for number in row] for row in numbers]
    if len(rows) % 2:
        rows.append([0] * len(rows[0]))
    shown = [f"rgb({r},{g},{b})" for r, g, b in palette] if named else TERMINAL_COLORS
    drawn = []
    for upper, lower in zip(rows[::2], rows[1::2], strict=True):
        pairs = zip(upper, lower, strict=True)
        if plain:
            drawn.append(Text("".join(" ▄▀█"[2 * a + b] for a, b in pairs), "green on grey11"))
        else:
            drawn.append(Text.assemble(*(("▀", f"{shown[a]} on {shown[b]}") for a, b in pairs)))
    return drawn
