"""`dct sweep`: runs one experiment with many seeds and settings, in parallel."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cli.errors import FAILURE, note
from cli.interrupt import Interruption
from cli.options.common import ADVANCED, CONFIG, AllowCode, AsJson, Epochs, Quiet, Recipe, Set
from cli.options.parsing import run_directory, whole_number
from cli.terminal.sweep_display import choose
from cli.terminal.sweep_report import report
from cli.terminal.warming import compile_for

if TYPE_CHECKING:
    from cli.terminal.sweep_display import Display
    from difflogic.library.sweeping import SweepProgress


def sweep(
    config: Annotated[str | None, CONFIG] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="SEEDS", help="Random seeds, such as 0-15 or 0-3,7")
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SECTION.KEY=V1,V2", help="Values to try, in all combinations; repeatable"
        ),
    ] = None,
    overrides: Set = None,
    recipe: Recipe = None,
    epochs: Epochs = None,
    workers: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(1, 4096),
            metavar="N",
            help="Runs at a time, each in its own process",
            show_default="one per core",
        ),
    ] = None,
    backend: Annotated[
        Literal["loky", "dask", "sequential"],
        typer.Option(
            help="Local processes, a Dask cluster, or one run at a time", rich_help_panel=ADVANCED
        ),
    ] = "loky",
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Dask scheduler, such as tcp://127.0.0.1:8786",
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    scheduler_timeout: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            max=1e6,
            metavar="SECONDS",
            help="How long to wait for Dask and its first worker",
            show_default="60",
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    directory: Annotated[
        Path | None,
        typer.Option(
            "--dir",
            parser=run_directory,
            metavar="DIR",
            help="Sweep directory; an earlier sweep there is continued",
            show_default="a new one in runs/",
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    allow_code: AllowCode = False,
) -> None:
    """Train with many seeds, and with all combinations of some settings.

    Runs train in parallel, one thread each, and their scores become a table. Ctrl-C saves them all.
    To continue, use dct sweep --dir DIR, without CONFIG; other --seeds are added.
    """
    from difflogic.library.sweeping import sweep as run

    given = [] if epochs is None else [f"training.epochs={epochs}"]
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
    report(found.path, found.question, found.rows, code, as_json)
    if code or any(row.status == "failed" for row in found.rows):
        raise typer.Exit(code or FAILURE)


class _Shown:
    """Shows a sweep on stderr. Use it in a `with`.

    From the first progress on, Ctrl-C is a request, since runs have to save.
    """

    def __init__(self, quiet: bool) -> None:
        self.interruption = Interruption(None, patience=None)
        self._quiet = quiet
        self._stack = ExitStack()
        self._display: Display | None = None

    def __enter__(self) -> _Shown:
        return self

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)

    def update(self, progress: SweepProgress) -> None:
        """Show progress."""
        if self._display is None:
            from difflogic.scale.sweeps.progress import Progress

            standing = Progress(progress.question, progress.execution)
            self._stack.enter_context(self.interruption)
            display = choose(standing, progress.path, self._quiet)
            self._display = self._stack.enter_context(display)
            return
        self._display.update(progress.row)

    def say(self, message: str) -> None:
        """Show a message."""
        if self._display is None:
            note(message)
        else:
            self._display.say(message)
