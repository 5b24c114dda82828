"""`dct sweep`: runs one experiment with many seeds and settings, in parallel."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from cli.failures import FAILURE, in_one_line, note
from cli.interrupt import Interruption
from cli.options import AsJson, ConfigArgument, DeviceOption, Epochs, Quiet, with_flags
from cli.terminal import output
from cli.terminal.screen import QUIET_SECONDS, Bar, Display, Screen, can_animate
from difflogic.sweeps.sweep_options import SweepOptions
from difflogic.system.files import for_shell
from difflogic.system.quantities import counted

if TYPE_CHECKING:
    from difflogic.sweeps.comparison import ComparedVariant, Interval
    from difflogic.sweeps.execution import Execution
    from difflogic.sweeps.sweep import SweepProgress, Swept
    from difflogic.sweeps.sweep_results import Row

SPARED_COLUMNS = (
    "missing | failed | s, summed | s per run | proved from step (range) | 95 % interval"
)
"""Columns of the table that a narrow terminal goes without, the first ones first."""
MOST_BARS = 8


def sweep(
    config: ConfigArgument = None,
    *,
    options: SweepOptions,
    epochs: Epochs = None,
    device: DeviceOption = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Train with many seeds, and with all combinations of the values in --grid.

    Runs train in parallel, one thread each, and a table shows their scores. Ctrl-C saves all runs.
    To continue, use dct sweep --dir DIR, without CONFIG; --seeds then adds seeds.
    """
    import difflogic

    overrides = [*options.overrides, *with_flags(epochs=epochs, device=device)]
    allowed = options.allow_code or config is not None
    with _Shown(quiet) as shown:
        found = difflogic.sweep(
            config, replace(options, overrides=overrides, allow_code=allowed), progress=shown.update
        )
    code = shown.interruption.exit_code
    if found.problem is not None:
        note(f"error: {found.problem}")
        code = FAILURE
    _report(found, code, as_json)
    if code or any(row.status in ("failed", "missing") for row in found.rows):
        raise typer.Exit(code or FAILURE)


def _report(found: Swept, code: int, as_json: bool) -> None:
    """Report failed and missing runs, and print the table of variants, or everything as JSON.

    `code` is 0, FAILURE if the sweep had to stop, or the exit code of an interruption.
    """
    rows = found.rows
    interrupted = code not in (0, FAILURE)
    missing = sum(row.status == "missing" for row in rows)
    for row in rows:
        if row.status == "failed":
            note(f"error: {row.variant}, seed {row.seed}: {row.error}")
    if missing:
        then = f"continue with: dct sweep --dir {for_shell(found.path)}"
        output.note_folded(
            f"{'interrupted' if interrupted else 'not finished'}: {len(rows) - missing} of "
            f"{len(rows)} runs ended; {then if found.is_kept else 'nothing is saved: begin again'}"
        )
    elif interrupted:
        note(f"interrupted after all {len(rows)} runs had ended")
    if as_json:
        directory = str(found.path) if found.is_kept else None
        heads = {"directory": directory, "interrupted": interrupted}
        output.show_json(heads | found.as_dict())
    elif found.is_kept and missing < len(rows):
        _show(found)


def _show(found: Swept) -> None:
    """Print the table of variants, and of their comparison."""
    from difflogic.sweeps import sweep_results

    plan = found.plan
    results = found.results
    headings = list(plan.axes) or ["experiment"]
    lines = (sweep_results.to_cells(plan, result) for result in results)
    heads = " | ".join([*headings, *sweep_results.HEADINGS])
    output.show_table(heads, lines, len(headings), SPARED_COLUMNS)
    if len(results) > 1:
        _show_comparison(found.comparison)
    proved = sum(each.proved for each in results)
    ended = sum(each.seeds for each in results)
    shown = in_one_line(str(found.path))
    typer.echo(f"\nproved: {proved} of {counted(ended, 'run')}")
    typer.echo(f"sweep      {shown}   (table.csv, table.json)")
    typer.echo(f"next       dct runs {for_shell(found.path)}")


def _show_comparison(found: Sequence[ComparedVariant]) -> None:
    """Show a line per variant: medians, and the changes from the first one on the same seeds."""

    def cell(interval: Interval | None, sign: str = "") -> str | None:
        return interval and "{:{s}g} ({:{s}g} to {:{s}g})".format(*interval, s=sign)

    lines = []
    for each in found:
        share = "{:.0f} to {:.0f} %".format(*(100 * bound for bound in each.share[1:]))
        row: list[str | None] = [each.variant, f"{each.proved}/{each.seeds}", share]
        for name, median in each.medians.items():
            row += cell(median), cell(each.changes[name], "+")
        lines.append(row)
    typer.echo(f"\nsame seeds, compared with {found[0].variant}; 95 % intervals in brackets:")
    output.show_table("setting | proved | 95 % | epochs | change | gates | change", lines)


class _Shown(ExitStack):
    """Shows a sweep on stderr: a line per run, and on a terminal a bar. Use it in a `with`.

    Once runs have begun, Ctrl-C is a request, since they must save.
    """

    def __init__(self, quiet: bool) -> None:
        super().__init__()
        self.interruption = Interruption(None, patience=None)
        self._quiet = quiet
        self._display = Display()
        self._begun = 0.0
        self._next = time.monotonic() + QUIET_SECONDS
        """When the next line is due without a terminal."""

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._begun

    def update(self, news: SweepProgress) -> None:
        """Show the sweep's progress."""
        execution = news.execution
        now = time.monotonic()
        if not self._begun:
            self._begun = now
            self._begin(news)
        elif not self._quiet:
            if news.row is not None:
                note(line(news.row, execution.ended, news.plan.size, self._seconds))
            elif not can_animate() and now >= self._next:
                shown = bars(execution, news.plan.size, self._seconds)
                note("; ".join(f"{bar.what} {bar.words}" for bar in shown))
            else:
                now = self._next - QUIET_SECONDS
            self._next = now + QUIET_SECONDS
        self._display.update()

    def _begin(self, news: SweepProgress) -> None:
        execution = news.execution
        self.enter_context(self.interruption)
        if not self._quiet:
            kept = f", {execution.kept} already done" if execution.kept else ""
            slots = f", {execution.slots} at a time" if execution.slots else ""
            runs = counted(news.plan.size, "run")
            note(f"sweep of {news.plan.experiment}: {runs}{slots}{kept}; {news.path}")
            if can_animate():
                self._display = Screen(
                    lambda: bars(execution, news.plan.size, self._seconds), stays=False
                )
                self.callback(self._display.close)


def line(row: Row, ended: int, runs: int, seconds: float) -> str:
    """Return a run's result and the sweep's progress as one line."""
    parts = [f"{ended:>{len(str(runs))}}/{runs}", f"{row.variant} seed {row.seed}"]
    if row.status == "failed":
        parts.append("failed: " + (row.error or "").splitlines()[0])
    else:
        at = "" if row.epochs_to_exact is None else f" at epoch {row.epochs_to_exact}"
        parts += [("proved" if row.proved else row.status) + at, f"{row.active_gates} active gates"]
        parts.append(f"{row.seconds:.1f} s" if row.seconds is not None else "")
    return "  ".join([*parts, f"{seconds:.0f} s"] if ended < runs else parts)


def bars(execution: Execution, runs: int, seconds: float) -> list[Bar]:
    """Return a bar for the sweep, and one for each active run, as far as they fit."""
    words = f"{execution.ended} of {counted(runs, 'run')}  {seconds:.0f} s"
    shown = [Bar("sweep", execution.ended, runs, words)]
    for run in execution.running()[:MOST_BARS]:
        most = run.variant.config.training.epochs
        name = f"{run.variant.name} seed {run.seed}"
        shown.append(Bar(name, run.epoch, most, f"epoch {run.epoch} of at most {most}"))
    return shown
