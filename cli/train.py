"""`dct train-checkerboard`: trains, shows, and leaves a run directory."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import config as config_command
from cli import display, report
from cli.errors import FAILURE, note
from cli.interrupt import Interruption
from cli.warming import warm_up
from difflogic.errors import RunDirectoryError, TrainingError
from difflogic.training.metrics import MetricsRow

if TYPE_CHECKING:
    from difflogic.config import Config
    from difflogic.training.run_directory import RunDirectory
    from difflogic.training.trainer import StepResult, Trainer

RUNS = "runs"

SAVE_SECONDS = 10.0
"""Time between two saves while the run goes on: what a killed run loses at most."""


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
    made = run_dir is None or not run_dir.exists()
    run = RunDirectory.create(RUNS, run_name(settings), run_dir)
    try:
        summary, exit_code = _train(settings, run, quiet)
    except BaseException:
        _discard_if_nothing_to_keep(run.path, made)
        raise
    _print_results(summary, run, as_json, saved=exit_code != FAILURE)
    if exit_code:
        raise typer.Exit(exit_code)


def _train(settings: Config, run: RunDirectory, quiet: bool) -> tuple[dict[str, Any], int]:
    """Train, save, and return the summary and the exit code."""
    run.write_config(settings)
    from difflogic.training.trainer import Trainer

    with Trainer(settings) as trainer:
        warm_up(trainer, quiet)
        return Session(trainer, run, quiet).train()


class Session:
    """A run that goes on: it steps, shows, records and saves."""

    def __init__(self, trainer: Trainer, run: RunDirectory, quiet: bool) -> None:
        self.trainer = trainer
        self.run = run
        self.timer = trainer.phases
        self.rows: list[MetricsRow] = []
        config = trainer.config
        self.title = (
            f"{config.name} · seed {config.training.seed} · {trainer.workers} "
            f"worker{'' if trainer.workers == 1 else 's'}"
        )
        self.quiet = quiet
        self.progress = display.Progress(
            config.training.epochs, channel=config.task.loss_channels[0]
        )

    def train(self) -> tuple[dict[str, Any], int]:
        """Train to the last epoch or to Ctrl-C and save everything.

        Returns the summary and the exit code.
        """
        from difflogic.evaluation import held_out

        with Interruption() as interruption:
            self._loop(interruption)
            problems = self._save()
            scores = held_out(self.trainer.model)
            summary = report.summarize(
                self.trainer, self.progress, scores, interrupted=interruption.requested
            )
            problems += self._attempt(lambda: self.run.write_summary(summary))
        for problem in problems:
            note(f"error: {problem}")
        return summary, FAILURE if problems else interruption.exit_code

    def _loop(self, interruption: Interruption) -> None:
        shown = display.choose(self.title, self.quiet)
        try:
            self._steps(shown, interruption)
        except TrainingError as error:
            if not self.rows:
                raise
            # The model of a broken run is worth nothing; its history may tell what broke it.
            path = self.run.write_metrics(self.rows)
            raise TrainingError(f"{error}\nThe epochs until then are in {path}") from error
        finally:
            shown.close(self.progress)

    def _steps(self, shown: display.Display, interruption: Interruption) -> None:
        trainer, progress, timer = self.trainer, self.progress, self.timer
        before = dict(timer.seconds)
        next_save = time.monotonic() + SAVE_SECONDS
        while trainer.epoch < progress.epochs and not interruption.requested:
            result = trainer.step()
            with timer("other"):
                progress.add(result)
                shown.update(progress)
            now = dict(timer.seconds)
            self._record(result, {phase: now[phase] - before[phase] for phase in now})
            before = now
            if time.monotonic() >= next_save:
                for problem in self._save():
                    note(f"warning: {problem}; the run goes on, and tries to save again")
                next_save = time.monotonic() + SAVE_SECONDS

    def _record(self, result: StepResult, seconds: dict[str, float]) -> None:
        self.rows.append(
            MetricsRow(result.epoch, result.soft_loss, result.hard_loss, result.accuracy, seconds)
        )

    def _save(self) -> list[str]:
        """Bring metrics and model up to date, each if it can be; return what went wrong."""
        with self.timer("checkpoint"):
            return [
                *self._attempt(lambda: self.run.write_model(self.trainer.model)),
                *self._attempt(lambda: self.run.write_metrics(self.rows)),
            ]

    @staticmethod
    def _attempt(write: Callable[[], object]) -> list[str]:
        # A full disk must not end a run: it may have room again when the run is over.
        try:
            write()
        except RunDirectoryError as error:
            return [str(error)]
        return []


def _discard_if_nothing_to_keep(path: Path, made: bool) -> None:
    """Clear the directory of a run that ended before its first save, so that it can be used again.

    The directory itself goes too if this run has `made` it.
    """
    with suppress(OSError):
        if {entry.name for entry in path.iterdir()} <= {"config.toml"}:
            (path / "config.toml").unlink(missing_ok=True)
            if made:
                path.rmdir()


def _print_results(summary: dict[str, Any], run: RunDirectory, as_json: bool, saved: bool) -> None:
    if summary["interrupted"]:
        what = (
            "saved config.toml, metrics.csv, model.npz and summary.json"
            if saved
            else "not all saved"
        )
        note(
            f"interrupted after epoch {summary['epochs']} of {summary['epochs_requested']}; "
            f"{what} in {run.path}"
        )
    if as_json:
        typer.echo(json.dumps({**summary, "run_directory": str(run.path)}, indent=2))
    else:
        typer.echo(report.render(summary, str(run.path)))
