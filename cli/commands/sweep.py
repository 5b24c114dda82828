"""`dct sweep`: one experiment over many seeds and settings, whole runs side by side."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli.commands import config as config_command
from cli.errors import FAILURE, note
from cli.interrupt import Interruption

if TYPE_CHECKING:
    from cli.terminal.sweep_display import Display
    from difflogic.sweeps.backends import Backend
    from difflogic.sweeps.directory import SweepDirectory
    from difflogic.sweeps.execution import Execution
    from difflogic.sweeps.question import Question

TICK_SECONDS = 0.125
TABLE_SECONDS = 2.0
"""Time between two updates of the tables while the sweep goes on."""

GRACE_SECONDS = 30.0
"""After Ctrl-C: time that runs have to save. A checkpoint that is older remains in any case."""


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
        int | None, typer.Option(min=1, metavar="N", help="Training steps of each run.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, max=4096, metavar="N", help="Runs at a time [default: all cores]."),
    ] = None,
    backend: Annotated[
        Literal["loky", "dask", "sequential"],
        typer.Option(help="Processes here, a Dask cluster, or one run after the other."),
    ] = "loky",
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Of the Dask cluster, as tcp://127.0.0.1:8786."),
    ] = None,
    directory: Annotated[
        Path | None,
        typer.Option(
            "--dir",
            metavar="DIR",
            help="Write there instead of runs/…; an earlier sweep there goes on.",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print variants and runs as one JSON object.")
    ] = False,
) -> None:
    """Train with many seeds, and with all combinations of some settings.

    Whole runs go on side by side, each with one thread, and their scores become a table. Ctrl-C
    saves all; `dct sweep --dir DIR` goes on, and with other --seeds adds those.
    """
    from difflogic.errors import ConfigError

    if scheduler is not None and backend != "dask":
        raise ConfigError(f"--scheduler {scheduler} needs --backend dask")
    if backend == "sequential" and jobs not in (None, 1):
        raise ConfigError(f"--backend sequential does one run at a time: leave out --jobs {jobs}")
    options = [*(overrides or []), *([] if epochs is None else [f"training.epochs={epochs}"])]
    question = _ask(config, seeds, options, grid or [], recipe, directory)
    workers = _make_backend(question, backend, jobs, scheduler)
    place = _make_directory(directory, question)
    exit_code = _sweep(place, question, workers, quiet, as_json)
    if exit_code:
        raise typer.Exit(exit_code)


def _ask(
    config: str | None,
    seeds: str | None,
    options: list[str],
    grid: list[str],
    recipe: str | None,
    directory: Path | None,
) -> Question:
    """Return what is asked for, with what was asked for in an earlier sweep of that directory."""
    from difflogic.errors import ConfigError
    from difflogic.sweeps.directory import SweepDirectory
    from difflogic.sweeps.question import Asked, ask
    from difflogic.sweeps.seeds import parse_seeds

    wanted = () if seeds is None else parse_seeds(seeds)
    place = None if directory is None else SweepDirectory(directory)
    if config is None:
        if place is None:
            raise ConfigError(
                "name a configuration, as in dct sweep checkerboard --seeds 0-15, or an earlier "
                "sweep's --dir"
            )
        if options or grid or recipe:
            raise ConfigError("settings need a CONFIG: an earlier sweep goes on with its own")
        return place.read_question().with_seeds(wanted)
    is_earlier = place is not None and place.exists
    if not wanted and not is_earlier:
        raise ConfigError("say which --seeds to train, such as --seeds 0-15")
    question = ask(Asked(config, tuple(options), tuple(grid), recipe), wanted)
    if place is None:
        return question
    if is_earlier:
        return place.join(question)
    place.require_empty()
    return question


def _make_backend(
    question: Question, name: str, jobs: int | None, scheduler: str | None
) -> Backend:
    from difflogic.sweeps.backends import LocalBackend
    from difflogic.sweeps.cluster import DaskBackend
    from difflogic.sweeps.execution import default_jobs

    if name == "dask":
        precisions = {variant.config.training.precision for variant in question.variants}
        if scheduler is not None:
            return DaskBackend(scheduler, jobs, precisions)
        return DaskBackend(None, jobs or default_jobs(question), precisions)
    return LocalBackend(1 if name == "sequential" else jobs or default_jobs(question))


def _make_directory(directory: Path | None, question: Question) -> SweepDirectory:
    from difflogic.sweeps.directory import SweepDirectory
    from difflogic.training.run_directory import RunDirectory

    if directory is None:
        return SweepDirectory(RunDirectory.create(name=f"sweep-{question.experiment}").path)
    place = SweepDirectory(directory)
    place.make()
    return place


def _sweep(
    place: SweepDirectory, question: Question, backend: Backend, quiet: bool, as_json: bool
) -> int:
    """Do what is missing, write and show the tables, and return the exit code."""
    from cli.terminal.sweep_display import choose
    from cli.terminal.sweep_report import report
    from difflogic.errors import TrainingError
    from difflogic.sweeps.cluster import ClusterError
    from difflogic.sweeps.execution import Execution
    from difflogic.sweeps.progress import Progress
    from difflogic.sweeps.tables import write_tables
    from difflogic.training.lock import RunLock

    is_new = not place.exists
    try:
        with RunLock(place.path):
            place.write_question(question)
            with Execution(place, question, backend) as execution:
                _compile(execution, question, backend)
                display = choose(Progress(question, execution), place.path, quiet)
                try:
                    code = _watch(execution, place, question, display)
                except TrainingError as error:  # workers that are lost for good
                    note(f"error: {error}")
                    code = FAILURE
            write_tables(place, question, execution.rows)
    except (ClusterError, KeyboardInterrupt):
        if is_new:
            place.discard_if_without_runs()
        raise
    report(place.path, question, execution.rows, code, as_json)
    return code or (FAILURE if any(row.status == "failed" for row in execution.rows) else 0)


def _compile(execution: Execution, question: Question, backend: Backend) -> None:
    """Compile once, here, what every worker process would compile for itself."""
    from cli.terminal.warming import compile_for

    if not backend.compiles_here or execution.kept == question.size:
        return
    for config in {c.config.training.precision: c.config for c in question.variants}.values():
        compile_for(config)


def _watch(
    execution: Execution, place: SweepDirectory, question: Question, display: Display
) -> int:
    """Draw until all runs have ended; return the exit code of an interruption, or 0."""
    from difflogic.errors import RunDirectoryError
    from difflogic.sweeps.tables import write_tables

    told = 0
    give_up, next_table = float("inf"), time.monotonic() + TABLE_SECONDS
    with Interruption(None, patience=None) as interruption, display:
        for row in execution.work(TICK_SECONDS):
            display.update(row)
            for message in execution.losses[told:]:
                display.say(f"warning: {message}; its runs go on in new ones")
                told += 1
            now = time.monotonic()
            if interruption.requested and give_up == float("inf"):
                give_up = now + GRACE_SECONDS
                display.say("stopping: the runs save where they are …")
                execution.stop()
            if now > give_up:
                execution.abandon()
                break
            if row is not None and now > next_table:
                with suppress(RunDirectoryError):  # at the end it has to succeed
                    write_tables(place, question, execution.rows)
                next_table = time.monotonic() + TABLE_SECONDS
    return interruption.exit_code
