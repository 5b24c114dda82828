"""`dct sweep`: runs one experiment with many seeds and settings, in parallel."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cli.calling import Call, calls
from cli.errors import FAILURE, in_one_line, note
from cli.interrupt import Interruption
from cli.options import AsJson, ConfigArgument, Device, Epochs, Quiet, with_flags
from cli.progress import compile_kernels
from cli.terminal import output
from cli.terminal.screen import Screen, bar, can_animate, clock
from difflogic.system.files import for_shell
from difflogic.system.quantities import counted

if TYPE_CHECKING:
    from rich.text import Text

    from difflogic.library.sweeping import SweepProgress, Swept
    from difflogic.scale.sweeps.execution import Progress, Snapshot
    from difflogic.scale.sweeps.plan import SweepPlan
    from difflogic.scale.sweeps.results import Row

BAR = 24


@calls("sweeping.sweep")
def sweep(
    run: Call,
    config: ConfigArgument = None,
    *,
    overrides: Sequence[str] | None,
    epochs: Epochs = None,
    device: Device = None,
    allow_code: bool,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Train with many seeds, and with all combinations of the values in --grid.

    Runs train in parallel, one thread each, and a table shows their scores. Ctrl-C saves all runs.
    To continue, use dct sweep --dir DIR, without CONFIG; --seeds then adds seeds.
    """
    with _Shown(quiet) as shown:
        found: Swept = run(
            overrides=[*(overrides or ()), *with_flags(epochs=epochs, device=device)],
            progress=shown.update,
            should_stop=lambda: shown.interruption.requested,
            on_message=shown.show_message,
            compile_kernels=compile_kernels,
            allow_code=allow_code or config is not None,
        )
    code = shown.interruption.exit_code
    if found.problem is not None:
        note(f"error: {found.problem}")
        code = FAILURE
    _report(found.path, found.plan, found.rows, code, as_json)
    if code or any(row.status == "failed" for row in found.rows):
        raise typer.Exit(code or FAILURE)


def _report(path: Path, plan: SweepPlan, rows: Sequence[Row], code: int, as_json: bool) -> None:
    """Report failed and missing runs, and print the table of variants, or everything as JSON.

    `code` is 0, FAILURE if the sweep had to stop, or the exit code of an interruption.
    """
    from difflogic.scale.sweeps import results

    interrupted = code not in (0, FAILURE)
    missing = sum(row.status == "missing" for row in rows)
    for row in rows:
        if row.status == "failed":
            note(f"error: {row.variant}, seed {row.seed}: {row.error}")
    if missing:
        note(
            f"{'interrupted' if interrupted else 'not finished'}: {len(rows) - missing} of "
            f"{len(rows)} runs ended; continue with: dct sweep --dir {for_shell(path)}"
        )
    elif interrupted:
        note(f"interrupted after all {len(rows)} runs had ended")
    if as_json:
        data = results.to_data(plan, rows)
        output.show_json({"directory": str(path), "interrupted": interrupted, **data})
        return
    headings = results.value_headings(plan)
    lines = [results.to_cells(plan, result) for result in results.aggregate(plan, rows)]
    output.show_table(" | ".join([*headings, *results.HEADINGS]), lines, texts=len(headings))
    typer.echo(f"\nsweep      {in_one_line(str(path))}   (table.csv, table.json, table.md)")


class _Shown(ExitStack):
    """Shows a sweep on stderr. Use it in a `with`.

    Once runs have begun, Ctrl-C is a request, since they must save.
    """

    def __init__(self, quiet: bool) -> None:
        super().__init__()
        self.interruption = Interruption(None, patience=None)
        self._quiet = quiet
        self._progress: Progress | None = None
        self._screen: Screen | None = None
        self._message = ""

    def update(self, news: SweepProgress) -> None:
        """Show the sweep's progress."""
        if self._progress is None:
            self._begin(news)
        elif self._screen is not None:
            self._screen.update()
        elif news.row is not None and not self._quiet:
            note(line(news.row, self._progress.snapshot()))

    def _begin(self, news: SweepProgress) -> None:
        from difflogic.scale.sweeps.execution import Progress

        progress = self._progress = Progress(news.plan, news.execution)
        self.enter_context(self.interruption)
        if self._quiet:
            return
        kept = f", {news.execution.kept} already done" if news.execution.kept else ""
        slots = f", {news.execution.slots} at a time" if news.execution.slots else ""
        runs = counted(news.plan.size, "run")
        title = f"sweep of {news.plan.experiment}: {runs}{slots}{kept}; {news.path}"
        if not can_animate():
            note(title)
            return
        self._screen = Screen(
            lambda console: compose(
                title, progress.snapshot(), console.width, console.height, self._message
            )
        )
        self.callback(self._screen.close)

    def show_message(self, message: str) -> None:
        """Show a message."""
        if self._screen is None:
            note(message)
        else:
            self._message = message
            self._screen.update(now=True)


def line(row: Row, snapshot: Snapshot) -> str:
    """Return a run's result and the sweep's progress as one line."""
    width = len(str(snapshot.runs))
    parts = [f"{snapshot.ended:>{width}}/{snapshot.runs}", f"{row.variant} seed {row.seed}"]
    if row.status == "failed":
        parts.append("failed: " + (row.error or "").splitlines()[0])
    else:
        at = "" if row.epochs_to_exact is None else f" at epoch {row.epochs_to_exact}"
        parts += [row.status + at, f"{row.active_gates} active gates"]
        parts.append(f"{row.seconds:.1f} s" if row.seconds is not None else "")
    if snapshot.ended < snapshot.runs:
        parts.append(_left(snapshot))
    return "  ".join(parts)


def _left(snapshot: Snapshot) -> str:
    return "" if snapshot.seconds_left is None else f"at most {clock(snapshot.seconds_left)} left"


def compose(title: str, snapshot: Snapshot, width: int, height: int, message: str = "") -> Text:
    """Return one frame as rich text, for a terminal of that size."""
    from rich.text import Text

    text = Text(no_wrap=True, overflow="crop")
    text.append(title[:width] + "\n", "bold")
    failed = f", {snapshot.failed} failed" if snapshot.failed else ""
    text.append_text(bar(snapshot.ended / max(snapshot.runs, 1), BAR))
    text.append(f" {snapshot.ended}/{snapshot.runs} runs{failed}  {_left(snapshot)}\n")
    # Four lines are taken: the title, the bar, the message and the cursor's line.
    room = max(height - 4, 2)
    variants = snapshot.variants[: max(1, room - min(len(snapshot.running), room // 2))]
    for result in variants:
        text.append(f"{result.variant:<{BAR + 16}.{BAR + 16}} ", "cyan")
        text.append(f"exact {result.exact}/{result.seeds}", "bold")
        if result.seeds:
            text.append(f"  {100 * result.exact_low:.0f} to {100 * result.exact_high:.0f} %")
        if result.epochs_to_exact is not None:
            text.append(f"  epoch {result.epochs_to_exact:.0f}")
        text.append("\n")
    for run in snapshot.running[: max(0, room - len(variants))]:
        text.append(f"{run.variant.name} seed {run.seed}"[: BAR + 8].ljust(BAR + 9))
        text.append_text(bar(run.epoch / max(run.epochs, 1), BAR))
        text.append(f" epoch {run.epoch}/{run.epochs}", "dim").append("\n")
    return text.append(message, "yellow")
