"""`dct train-checkerboard`: trains, shows, and leaves a run directory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import config as config_command
from cli import display, report
from cli.errors import note
from cli.interrupt import Interruption
from cli.warming import warm_up

if TYPE_CHECKING:
    from difflogic.config import Config
    from difflogic.training.run_directory import RunDirectory
    from difflogic.training.session import Session
    from difflogic.training.trainer import StepResult

RUNS = "runs"


def train_checkerboard(
    small: Annotated[bool, config_command.SMALL] = False,
    epochs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Training steps.", show_default=False)
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Names all random streams.")
    ] = None,
    workers: Annotated[str | None, config_command.WORKERS] = None,
    config: Annotated[str | None, config_command.CONFIG] = None,
    overrides: Annotated[list[str] | None, config_command.SET] = None,
    run_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help=f"Write there instead of {RUNS}/…; new or empty."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as one JSON object.")
    ] = False,
) -> None:
    """Train an automaton that grows a checkerboard from random cells.

    A flag goes before --set, and both before the configuration's file: `dct config show` prints
    what comes out. Ctrl-C, or SIGTERM, finishes the step and saves the run.
    """
    from difflogic.config import load_config
    from difflogic.training.run_directory import RunDirectory, run_name

    flags = {"training.epochs": epochs, "training.seed": seed, "parallel.workers": workers}
    given = [f"{key}={value}" for key, value in flags.items() if value is not None]
    source = config_command.source(config, small, "--config")
    settings = load_config(source, [*(overrides or []), *given])
    run = RunDirectory.create(RUNS, run_name(settings), run_dir)
    summary, exit_code = _train(settings, run, quiet)
    _print_results(summary, run, as_json)
    if exit_code:
        raise typer.Exit(exit_code)


def _train(settings: Config, run: RunDirectory, quiet: bool) -> tuple[dict[str, Any], int]:
    """Train, save, and return the summary and the exit code."""
    from difflogic.training.session import Session

    with Session(settings, run, note) as session:
        warm_up(session.trainer, quiet)
        shown = Shown(session, quiet)
        with Interruption() as interruption, shown:
            summary = session.train(lambda: interruption.requested, shown.add)
        return summary, interruption.exit_code


class Shown:
    """Shows a session on stderr, as it goes on. Use it in a `with`."""

    def __init__(self, session: Session, quiet: bool) -> None:
        trainer = session.trainer
        config = trainer.config
        title = (
            f"{config.name} · seed {config.training.seed} · {trainer.workers} "
            f"worker{'' if trainer.workers == 1 else 's'}"
        )
        self.progress = display.Progress(
            config.training.epochs, channel=config.task.loss_channels[0]
        )
        self._display = display.choose(title, quiet)

    def __enter__(self) -> Shown:
        return self

    def __exit__(self, *raised: object) -> None:
        self._display.close(self.progress)

    def add(self, result: StepResult) -> None:
        self.progress.add(result)
        self._display.update(self.progress)


def _print_results(summary: dict[str, Any], run: RunDirectory, as_json: bool) -> None:
    if summary["interrupted"]:
        note(
            f"interrupted after epoch {summary['epochs']} of {summary['epochs_requested']}; "
            f"all is saved in {run.path}"
        )
    if as_json:
        typer.echo(json.dumps({**summary, "run_directory": str(run.path)}, indent=2))
    else:
        typer.echo(report.render(summary, str(run.path)))
