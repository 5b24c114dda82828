"""The progress of a training run on stderr: a live display, plain lines, or nothing."""

from __future__ import annotations

import textwrap
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cli.failures import note
from cli.terminal.screen import Display, Screen, bar, can_animate, clock

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from difflogic.run.measures import StepResult
    from difflogic.run.metrics import MetricsRow
    from difflogic.search.finisher import Finished
    from difflogic.search.walk import SearchProgress
    from difflogic.system.array_types import Bits
    from difflogic.tasks import Preview

    Palette = Sequence[tuple[int, int, int]]

LINES = 10
LINE_SECONDS = 10.0
"""Without a terminal: lines per run, and the most seconds between two of them."""

FEW = 3
"""Fewer earlier runs than this say nothing about the time left."""

LEFT = 36
"""Characters of the numbers, left of the picture."""
PHASES_SHOWN = 5
PHASE_NAMES = {"hard": "hard evaluation", "finish": "finishing", "checkpoint": "saving"}
MOST_SHOWN = 100
"""Longest side of a picture that is shown as text, in cells."""
MAX_BAR = 60

COLOR_CHANNELS = (2, 3)
COLORS = ("grey11", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
"""Colours of a cell by its bits: the first channel is red, the second green, the third blue."""


@dataclass
class RunProgress:
    """The state of a run: the numbers of the last step, and the best so far."""

    epochs: int
    """Epochs of the whole run."""
    channels: Sequence[int] = (0,)
    """The loss channels: the picture shows all of them, or the first."""
    palette: Palette = ()
    """Colours of the numbers that the loss channels' bits make, if the task names them."""
    epoch: int = 0
    soft_loss: float | None = None
    hard_loss: float | None = None
    accuracy: float | None = None
    """Share of right cells, 0 to 1, at the last hard evaluation."""
    best_hard_loss: float | None = None
    best_accuracy: float | None = None
    best_epoch: int | None = None
    finished: Finished | None = None
    """Result of the last check of the circuit."""
    searching: SearchProgress | None = None
    """Progress of the current search."""
    decided: float | None = None
    """Share of decided gates, 0 to 1."""
    hard_state: Bits | None = None
    """Last state of the last hard rollout, shape (channels, height, width)."""
    started: float = field(default_factory=time.perf_counter)
    first: int = 0
    """Epoch at which this process started."""
    searches: bool = False
    """Whether the run searches, and so ends as soon as a circuit is verified."""
    restart_every: int = 0
    """Epochs of an attempt; 0 if there is only one."""
    earlier: Sequence[int] = ()
    """Epochs after which earlier runs of the same kind were proved."""
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
        self.first = self.epoch

    def add(self, result: StepResult, stage: int | None = None, over: bool = False) -> None:
        """Take over the results of a step.

        `stage` is that of the next step, and `over` says whether only the final tests are left.
        """
        self._take(result)
        self.over = over
        self.searching = None
        if result.hard_state is not None:
            self.hard_state = result.hard_state
        if result.finished is not None:
            self.finished = result.finished
            if result.finished.exact:  # the picture is now that of the verified circuit
                self.hard_loss, self.accuracy = 0.0, 1.0
        if stage is not None and over:
            self.stage = stage
        elif stage is not None:
            self._enter(self.attempt, stage)

    def _enter(self, attempt: int, stage: int) -> None:
        if (attempt, stage) != (self.attempt, self.stage):
            self.attempt, self.stage = attempt, stage
            # The losses and checks of others say nothing about this one.
            self.best_hard_loss = self.finished = None

    def _take(self, result: StepResult | MetricsRow) -> None:
        self.epoch = result.epoch
        self.soft_loss = result.soft_loss
        self._enter(result.attempt or self.attempt, result.stage or self.stage)
        self.decided = result.decided
        if result.hard_loss is not None:  # a step without hard evaluation keeps the scores
            self.hard_loss = result.hard_loss
            self.accuracy = result.accuracy
            if self.best_hard_loss is None or result.hard_loss < self.best_hard_loss:
                self.best_hard_loss = result.hard_loss
                self.best_accuracy = result.accuracy
                self.best_epoch = result.epoch

    @property
    def rate(self) -> float:
        """Epochs per second of this process."""
        seconds = time.perf_counter() - self.started
        return (self.epoch - self.first) / max(seconds, 1e-9)

    @property
    def share(self) -> float:
        """Finished share of the attempt, 0 to 1."""
        length = min(self.restart_every or self.epochs, self.epochs)
        return (self.epoch - length * (max(self.epoch - 1, 0) // length)) / length

    @property
    def place(self) -> str:
        """Where the run is: its epoch, attempt and stage."""
        words = [f"epoch {self.epoch:>{len(str(self.epochs))}}/{self.epochs}"]
        if self.restart_every:
            words.append(f"attempt {self.attempt}")
        if self.stages:
            name = self.stages[self.stage - 1]
            words.append(f"stage {self.stage} of {len(self.stages)}: {name}")
        return "  ".join(words)

    @property
    def running(self) -> str:
        """What is at work."""
        if now := self.searching:
            done = f"{100 * now.candidates // now.budget} %, " if now.budget else ""
            return f"searching: {done}{now.wrong} wrong"
        return "proof and final tests" if self.over else "training"

    @property
    def outlook(self) -> str:
        """The time left for training, as a range if earlier runs tell it."""
        if self.over:
            return f"at epoch {self.epoch}"
        later = sorted(epoch - self.epoch for epoch in self.earlier if epoch > self.epoch)
        pace = max(self.rate, 1e-9)
        whole = clock((self.epochs - self.epoch) / pace)
        if self.searches and len(later) >= FEW:
            low, high = (clock(later[n * (len(later) - 1) // 4] / pace) for n in (1, 3))
            return f"{low} to {high} left, by {len(self.earlier)} earlier runs"
        if self.searches:
            return f"up to {whole} left"  # a search ends a run long before its last epoch
        return f"{whole} left"


class Lines(Display):
    """Plain lines, for logs and pipes: some per run, and one at least every `LINE_SECONDS`."""

    def __init__(self, progress: RunProgress) -> None:
        self._progress = progress
        self._shown = -1, 1
        self._epoch = 0
        self._time = time.perf_counter()
        self._lock, self._closed = threading.Lock(), threading.Event()
        # A long step, search or proof reports nothing meanwhile.
        threading.Thread(target=self._repeat, daemon=True).start()

    def update(self) -> None:
        progress = self._progress
        part, stage = LINES * progress.epoch // progress.epochs, progress.stage
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
    return live(title, progress) if can_animate() else Lines(progress)


def live(title: str, progress: RunProgress) -> Screen:
    """Return a display on the terminal, redrawn in place."""
    return Screen(
        lambda console: compose(title, progress, console.width, console.height, has_color(console))
    )


def line(progress: RunProgress) -> str:
    """Return the run's state as one line."""
    parts = [
        progress.place,
        progress.running,
        *(f"{label} {(value + remark).strip()}" for label, value, remark in _numbers(progress)),
        f"{rate(progress.rate)} epochs/s",
        progress.outlook,
    ]
    return "  ".join(parts)


def compose(
    title: str, progress: RunProgress, width: int, height: int, colored: bool = False
) -> Text:
    """Return one frame of the live display as rich text, for a terminal of that size."""
    from rich.text import Text

    text = Text(no_wrap=True, overflow="crop")
    after = f" {100 * progress.share:3.0f} %  {rate(progress.rate)} epochs/s"
    state = f"{progress.running}, {progress.outlook}"
    above = [
        (title, "bold"),
        (progress.place, ""),
        (state, ""),
        (time_by_phase(progress.phases), "dim"),
    ]
    for words, style in above:
        for part in textwrap.wrap(words, max(width, 1)):
            text.append(part + "\n", style)
    cells = min(max(width - len(after), 1), MAX_BAR)
    text.append_text(bar(progress.share, cells)).append(f"{after}\n")
    numbers = _numbers(progress)
    # The height without the lines above, the caption and the cursor's line.
    room = max(height - text.plain.count("\n") - 2, len(numbers))
    caption, drawn = _picture(progress, room, colored) if width >= 2 * LEFT else ("", [])
    text.append(f"{'':<{LEFT}}{caption}\n" if caption else "", "dim")
    for index in range(max(len(numbers), len(drawn))):
        label, value, remark = numbers[index] if index < len(numbers) else ("", "", "")
        text.append(f"{label:<10}", "dim")
        if value:
            text.append(f"{value:>9}", "bold")
        text.append(f"{remark:<{LEFT - 10 - 9 * bool(value)}}", "dim")
        if index < len(drawn):
            text.append_text(drawn[index])
        text.append("\n")
    text.right_crop(1)
    return text


def _picture(progress: RunProgress, lines: int, colored: bool) -> tuple[str, Sequence[Text]]:
    """Return a caption, and as many lines of the hard state as fit."""
    state, channels = progress.hard_state, progress.channels
    if state is None:
        return "", []
    caption = f"hard channel {channels[0]}"
    if colored and (progress.palette or len(channels) in COLOR_CHANNELS):
        caption = f"hard channels {', '.join(map(str, channels))}"
    return caption, draw_cells(state[list(channels)], lines, colored, progress.palette)


def _numbers(progress: RunProgress) -> list[tuple[str, str, str]]:
    """Return label, value and remark of each number on the live display."""
    scored = progress.best_hard_loss is not None
    best = f" at epoch {progress.best_epoch}" if scored else ""
    rows = [
        ("soft loss", loss(progress.soft_loss), ""),
        ("hard loss", loss(progress.hard_loss), ""),
        ("accuracy", percent(progress.accuracy), ""),
        ("best", loss(progress.best_hard_loss), best),
        ("right", percent(progress.best_accuracy if scored else None), best),
        ("decided", percent(progress.decided), " of the gates"),
    ]
    if progress.finished:
        rows.append(("last check", "", f" {finishing(progress.finished)}"))
    return rows


def time_by_phase(seconds: Mapping[str, float]) -> str:
    """Return the shares of the longest phases as one line, the longest first.

    Forward, loss and backward count the mean time that a worker is busy.
    """
    total = sum(seconds.values())
    if not total:
        return ""
    shares = sorted(((100 * spent / total, name) for name, spent in seconds.items()), reverse=True)
    return "time      " + ", ".join(
        f"{PHASE_NAMES.get(name, name)} {share:.0f} %"
        for share, name in shares[:PHASES_SHOWN]
        if share >= 1
    )


def finishing(found: Finished) -> str:
    """Describe a check: wrong cells before and after its search."""
    if found.late:
        return "proved, but late"
    if not found.exact:
        return f"{found.wrong_before} → {found.wrong}"
    made = found.polished
    return (
        "exact" if made is None else f"exact, {made.before.gates} → {made.after.gates} active gates"
    )


def loss(value: float | None) -> str:
    """Format a loss: whole numbers bare, others to five significant digits at most."""
    if value is None:
        return "-"
    return f"{value:.0f}" if value == int(value) else f"{value:#.5g}"


def percent(share: float | None) -> str:
    """Format a share between 0 and 1; 100 % only if it is exactly all."""
    if share is None:
        return "-"
    return f"{min(100 * share, 99.99):.2f} %" if share < 1 else "100 %"


def rate(value: float) -> str:
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def has_color(console: Console) -> bool:
    """Return whether a terminal shows colours, and may."""
    return console.color_system is not None and not console.no_color


def show_preview(preview: Preview) -> None:
    """Show the target picture on stderr."""
    from rich.console import Console

    from difflogic.pictures.text import render_picture

    note(preview.caption)
    console = Console(stderr=True, highlight=False)
    colored = has_color(console)
    # As text without a terminal, and where letters stand for colours.
    plain = not can_animate() or (len(preview.bits) > 1 and not colored)
    stride = -(-max(preview.bits.shape) // (MOST_SHOWN if plain else console.width))
    bits = preview.bits[:, ::stride, ::stride]
    if stride > 1:
        note(f"(here without {stride - 1} of {stride} rows and columns)")
    if plain:
        note(render_picture(bits).rstrip("\n"))
        return
    for drawn in draw_cells(bits, bits.shape[1], colored, preview.palette):
        console.print(drawn, no_wrap=True, crop=True)


def draw_cells(bits: Bits, lines: int, colored: bool, palette: Palette = ()) -> list[Text]:
    """Draw loss channels, shape (channels, height, width): two cells to a character.

    Draws at most `lines` lines. With colours, `palette` has the colour of each number that the bits
    make, channel 0 the lowest bit; without a palette, two or three channels are red, green and
    blue. Otherwise only the first channel is drawn.
    """
    from rich.text import Text

    named = len(palette) == 2 ** len(bits)
    numbers = sum(channel.astype(int) << index for index, channel in enumerate(bits))
    if plain := not colored or not (named or len(bits) in COLOR_CHANNELS):
        numbers = bits[0]
    rows = [[int(number) for number in row] for row in numbers[: 2 * lines]]
    if len(rows) % 2:
        rows.append([0] * len(rows[0]))
    colors = [f"rgb({r},{g},{b})" for r, g, b in palette] if named else COLORS
    drawn = []
    for upper, lower in zip(rows[::2], rows[1::2], strict=True):
        pairs = zip(upper, lower, strict=True)
        if plain:
            drawn.append(Text("".join(" ▄▀█"[2 * a + b] for a, b in pairs), "green on grey11"))
        else:
            drawn.append(Text.assemble(*(("▀", f"{colors[a]} on {colors[b]}") for a, b in pairs)))
    return drawn
