"""`dct sweep`: runs one experiment with many seeds and settings, in parallel."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli.errors import FAILURE, note, printable
from cli.interrupt import Interruption
from cli.options.common import (
    AllowCode,
    AsJson,
    ConfigArgument,
    Device,
    Epochs,
    Quiet,
    Recipe,
    Set,
    number,
    option,
)
from cli.options.parsing import run_directory
from cli.terminal import output, sweep_display
from cli.terminal.screen import Screen, can_animate
from cli.terminal.warming import compile_for

if TYPE_CHECKING:
    from difflogic.library.sweeping import SweepProgress
    from difflogic.scale.sweeps.execution import Progress
    from difflogic.scale.sweeps.question import Question
    from difflogic.scale.sweeps.results import Row


def sweep(
    config: ConfigArgument = None,
    seeds: Annotated[
        str | None, option("SEEDS", "Random seeds, such as 0-15 or 0-3,7; a new sweep needs them")
    ] = None,
    grid: Annotated[
        list[str] | None,
        option("SECTION.KEY=V1,V2", "Values to try, in all combinations; repeatable"),
    ] = None,
    overrides: Set = None,
    recipe: Recipe = None,
    epochs: Epochs = None,
    workers: Annotated[
        int | None, number("Runs at a time, each in its own process", 1, 4096, shown="one per core")
    ] = None,
    device: Device = None,
    backend: Annotated[
        Literal["loky", "dask", "sequential"],
        option(None, "Local processes, a Dask cluster, or one run at a time", rare=True),
    ] = "loky",
    scheduler: Annotated[
        str | None, option("ADDRESS", "Dask scheduler, such as tcp://127.0.0.1:8786", rare=True)
    ] = None,
    scheduler_timeout: Annotated[
        float | None,
        option(
            "SECONDS",
            "How long to wait for Dask and its first worker",
            min=0.1,
            max=1e6,
            shown="60",
            rare=True,
        ),
    ] = None,
    directory: Annotated[
        Path | None,
        option(
            "DIR",
            "Sweep directory; an earlier sweep there is continued",
            "--dir",
            parser=run_directory,
            shown="a new one in runs/",
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    allow_code: AllowCode = False,
) -> None:
    """Train with many seeds, and with all combinations of some settings.

    Runs train in parallel, one thread each, and their scores become a table. Ctrl-C saves them all.
    To continue, use dct sweep --dir DIR, without CONFIG; seeds given with --seeds are added.
    """
    from difflogic.library.sweeping import sweep as run

    given = [] if epochs is None else [f"training.epochs={epochs}"]
    given += [] if device is None else [f"parallel.device={device}"]
    with _Shown(quiet) as shown:
        found = run(
            config,
            seeds,
            grid=grid or (),
            recipe=recipe,
            directory=directory,
            jobs=workers,
            overrides=[*(overrides or []), *given],
            backend=backend,
            scheduler=scheduler,
            scheduler_timeout=scheduler_timeout,
            progress=shown.update,
            should_stop=lambda: shown.interruption.requested,
            say=shown.say,
            compile_for=compile_for,
            allow_code=allow_code or config is not None,
        )
    code = shown.interruption.exit_code
    if found.problem is not None:
        note(f"error: {found.problem}")
        code = FAILURE
    _report(found.path, found.question, found.rows, code, as_json)
    if code or any(row.status == "failed" for row in found.rows):
        raise typer.Exit(code or FAILURE)


def _report(path: Path, question: Question, rows: Sequence[Row], code: int, as_json: bool) -> None:
    """Report failed and missing runs, and print the table of variants, or everything as JSON.

    `code` is that of an interruption, FAILURE for a sweep that had to stop, or 0.
    """
    from difflogic.scale.sweeps import results

    missing = sum(row.status == "missing" for row in rows)
    for row in rows:
        if row.status == "failed":
            note(f"error: {row.variant}, seed {row.seed}: {row.error}")
    if missing:
        what = "not finished" if code in (0, FAILURE) else "interrupted"
        note(
            f"{what}: {len(rows) - missing} of {len(rows)} runs ended; continue with: "
            f"dct sweep --dir {shlex.quote(str(path))}"
        )
    if as_json:
        data = results.to_data(question, rows)
        output.show_json({"directory": str(path), "interrupted": code not in (0, FAILURE), **data})
        return
    headings = results.value_headings(question)
    lines = [results.to_cells(question, result) for result in results.aggregate(question, rows)]
    heads = " | ".join([*headings, *results.HEADINGS])
    table = output.make_table(heads, lines, texts=len(headings))
    for column, *texts in zip(table.columns, *lines, strict=True):
        # On a narrow terminal, lines fold; otherwise whole columns would vanish.
        column.min_width = max(map(len, [str(column.header), *texts]))
    output.print_table(table)
    typer.echo(f"\nsweep      {printable(str(path))}   (table.csv, table.json, table.md)")


class _Shown(ExitStack):
    """Shows a sweep on stderr. Use it in a `with`.

    From the first progress on, Ctrl-C is a request, since runs have to save.
    """

    def __init__(self, quiet: bool) -> None:
        super().__init__()
        self.interruption = Interruption(None, patience=None)
        self._quiet = quiet
        self._standing: Progress | None = None
        self._screen: Screen | None = None
        self._message = ""

    def update(self, progress: SweepProgress) -> None:
        """Show progress."""
        if self._standing is None:
            self._begin(progress)
        elif self._screen is not None:
            self._screen.update()
        elif progress.row is not None and not self._quiet:
            note(sweep_display.line(progress.row, self._standing.snapshot()))

    def _begin(self, progress: SweepProgress) -> None:
        from difflogic.scale.sweeps.execution import Progress

        standing = self._standing = Progress(progress.question, progress.execution)
        self.enter_context(self.interruption)
        title = sweep_display.title(standing, progress.path)
        if self._quiet:
            return
        if not can_animate():
            note(title)
            return
        self._screen = Screen(
            lambda console: sweep_display.compose(
                title, standing.snapshot(), console.width, console.height, self._message
            )
        )
        self.callback(self._screen.close)

    def say(self, message: str) -> None:
        """Show a message."""
        if self._screen is None:
            note(message)
        else:
            self._message = message
            self._screen.update(now=True)
