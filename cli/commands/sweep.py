"""`dct sweep`: one experiment over many seeds and settings, whole runs side by side."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cli.commands import config as config_command
from cli.errors import FAILURE, note
from cli.interrupt import Interruption
from cli.options.parsing import named_path, whole_number
from cli.options.sources import ALLOW_CODE
from cli.terminal.sweep_display import choose
from cli.terminal.sweep_report import report
from cli.terminal.warming import compile_for

if TYPE_CHECKING:
    from cli.terminal.sweep_display import Display
    from difflogic.library.sweeping import SweepProgress


def sweep(
    config: Annotated[
        str | None,
        typer.Argument(
            help="A shipped configuration, or a TOML file; may be left out with the --dir of an "
            "earlier sweep.",
            show_default=False,
        ),
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="SEEDS", help="Such as 0-15, or 0-3,7,100-131.")
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SECTION.KEY=V1,V2", help="Values to try; several --grid are multiplied."
        ),
    ] = None,
    overrides: Annotated[list[str] | None, config_command.SET] = None,
    recipe: Annotated[str | None, config_command.RECIPE] = None,
    epochs: Annotated[
        int | None,
        typer.Option(parser=whole_number(1), metavar="N", help="Training steps of each run."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(1, 4096),
            metavar="N",
            help="Runs at a time, each in a process of its own [default: all cores].",
        ),
    ] = None,
    backend: Annotated[
        Literal["loky", "dask", "sequential"],
        typer.Option(help="Processes here, a Dask cluster, or one run after the other."),
    ] = "loky",
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Of the Dask cluster, as tcp://127.0.0.1:8786."),
    ] = None,
    scheduler_timeout: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            max=1e6,
            metavar="SECONDS",
            help="That the Dask cluster may take to answer, and to have a worker.",
            show_default="60",
        ),
    ] = None,
    directory: Annotated[
        Path | None,
        typer.Option(
            "--dir",
            parser=named_path,
            metavar="DIR",
            help="Write there instead of runs/…; an earlier sweep there goes on.",
        ),
    ] = None,
    allow_code: Annotated[bool, ALLOW_CODE] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print variants and runs as one JSON object.")
    ] = False,
) -> None:
    """Train with many seeds, and with all combinations of some settings.

    Whole runs go on side by side, each with one thread, and their scores become a table. Ctrl-C
    saves all; `dct sweep --dir DIR` goes on, and with other --seeds adds those.
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
    """A sweep on stderr, from its first sign of life on. Use it in a `with`.

    From then on Ctrl-C is a request, as runs have to save; before there is nothing to wait for.
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
        """Show how things stand."""
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
