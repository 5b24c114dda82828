"""What a sweep shows on stderr while it goes on: a live table, or plain lines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.terminal.screen import bar, clock
from difflogic.system.quantities import counted

if TYPE_CHECKING:
    from difflogic.scale.sweeps.execution import Progress, Running, Snapshot
    from difflogic.scale.sweeps.results import Row, VariantResult

BAR = 24


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
