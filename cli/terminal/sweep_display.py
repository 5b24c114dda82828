"""The progress of a sweep on stderr: a live table, plain lines, or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.errors import note
from cli.terminal.screen import Screen, bar, can_animate, clock
from difflogic.system.quantities import counted

if TYPE_CHECKING:
    from rich.console import Console

    from difflogic.scale.sweeps.progress import Progress, Running, Snapshot
    from difflogic.scale.sweeps.results import Row, VariantResult

BAR = 24


class Display:
    """Shows nothing: the base class, and the display for `--quiet`. Use it in a `with`."""

    def __init__(self, progress: Progress, path: Path) -> None:
        self.progress = progress
        self.path = path

    def __enter__(self) -> Display:
        return self

    def __exit__(self, *raised: object) -> None:
        return None

    def update(self, row: Row | None) -> None:
        """Show progress; `row` is a run that has just ended."""

    def say(self, message: str) -> None:
        note(message)


class Lines(Display):
    """One line at the start, and one per run that ends."""

    def __enter__(self) -> Lines:
        note(title(self.progress, self.path))
        return self

    def update(self, row: Row | None) -> None:
        if row is not None:
            note(line(row, self.progress.snapshot()))


class Live(Display):
    """A table on the terminal, redrawn in place."""

    def __enter__(self) -> Live:
        self._message = ""
        self._screen = Screen(self._compose)
        return self

    def __exit__(self, *raised: object) -> None:
        self._screen.close()

    def update(self, row: Row | None) -> None:
        self._screen.draw()

    def say(self, message: str) -> None:
        self._message = message
        self._screen.draw(now=True)

    def _compose(self, console: Console) -> Any:
        heading, snapshot = title(self.progress, self.path), self.progress.snapshot()
        return compose(heading, snapshot, console.width, console.height, self._message)


def choose(progress: Progress, path: Path, quiet: bool) -> Display:
    """Return the display that suits the output."""
    if quiet:
        return Display(progress, path)
    return Live(progress, path) if can_animate() else Lines(progress, path)


def title(progress: Progress, path: Path) -> str:
    """Say how many runs there are, how many are already done, and where they are saved."""
    question, execution = progress.question, progress.execution
    kept = f", {execution.kept} already done" if execution.kept else ""
    slots = f", {execution.slots} at a time" if execution.slots else ""
    return f"sweep of {question.experiment}: {counted(question.size, 'run')}{slots}{kept}; {path}"


def line(row: Row, snapshot: Snapshot) -> str:
    """Return a run's result and the sweep's progress as one line."""
    width = len(str(snapshot.runs))
    parts = [f"{snapshot.ended:>{width}}/{snapshot.runs}", f"{row.variant} seed {row.seed}"]
    if row.status == "failed":
        parts.append("failed: " + (row.error or "").splitlines()[0])
    else:
        at = "" if row.epochs_to_exact is None else f" at epoch {row.epochs_to_exact}"
        parts.append(row.status + at)
        parts.append(f"{row.active_gates} active gates")
        parts.append(f"{row.seconds:.1f} s" if row.seconds is not None else "")
    if snapshot.ended < snapshot.runs:
        parts.append(left(snapshot))
    return "  ".join(parts)


def left(snapshot: Snapshot) -> str:
    """Say how much time is left."""
    return "" if snapshot.seconds_left is None else f"at most {clock(snapshot.seconds_left)} left"


def compose(title: str, snapshot: Snapshot, width: int, height: int, message: str = "") -> Any:
    """Return one frame as rich text, for a terminal of that size."""
    from rich.text import Text

    text = Text(no_wrap=True, overflow="crop")
    text.append(title[:width] + "\n", "bold")
    failed = f", {snapshot.failed} failed" if snapshot.failed else ""
    text.append_text(bar(snapshot.ended / max(snapshot.runs, 1), BAR))
    text.append(f" {snapshot.ended}/{snapshot.runs} runs{failed}  {left(snapshot)}\n")
    # The title, the bar, the message and the cursor's line are four.
    room = max(height - 4, 2)
    variants = snapshot.variants[: max(1, room - min(len(snapshot.running), room // 2))]
    for result in variants:
        text.append_text(_variant_line(result)).append("\n")
    for run in snapshot.running[: max(0, room - len(variants))]:
        text.append_text(_run_line(run)).append("\n")
    text.append(message, "yellow")
    return text


def _variant_line(result: VariantResult) -> Any:
    from rich.text import Text

    line = Text(f"{result.variant:<{BAR + 16}.{BAR + 16}} ", "cyan")
    line.append(f"exact {result.exact}/{result.seeds}", "bold")
    if result.seeds:
        line.append(f"  {100 * result.exact_low:.0f} to {100 * result.exact_high:.0f} %")
    if result.epochs_to_exact is not None:
        line.append(f"  epoch {result.epochs_to_exact:.0f}")
    return line


def _run_line(run: Running) -> Any:
    from rich.text import Text

    line = Text(f"{run.variant.name} seed {run.seed}"[: BAR + 8].ljust(BAR + 9))
    line.append_text(bar(run.epoch / max(run.epochs, 1), BAR))
    return line.append(f" epoch {run.epoch}/{run.epochs}", "dim")
