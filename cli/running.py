"""Runs an experiment: begins or resumes it, shows it, and prints what came out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cli.errors import note
from cli.interrupt import Interruption, Undo
from cli.options.run_options import RunOptions
from cli.terminal import display, report
from cli.terminal.warming import warm_up

if TYPE_CHECKING:
    from difflogic.config import Config, Override
    from difflogic.training.run_directory import RunDirectory
    from difflogic.training.session import Session
    from difflogic.training.trainer import StepResult


@dataclass(frozen=True)
class Experiment:
    """What a command was asked to train, besides the options that all of them share."""

    config: str | None
    """The configuration that was named, if one was."""
    default: str | None = None
    """The one that is meant otherwise, unless a run is resumed."""
    overrides: Sequence[Override] = ()
    """What the command's own options say."""
    name: str | None = None
    """What a new run of it is called, if not as its configuration."""
    kind: str | None = None
    """The kind of task that the command is for; None is any."""


def run_experiment(experiment: Experiment, options: RunOptions) -> None:
    """Train, show and print; exits 130 or 143 if interrupted, after saving."""
    settings, run = _prepare(experiment, options)
    summary, exit_code = _train(settings, run, options.quiet)
    _print_results(summary, run, options.as_json)
    if exit_code:
        raise typer.Exit(exit_code)


def _prepare(experiment: Experiment, options: RunOptions) -> tuple[Config, RunDirectory]:
    from difflogic.config import Override, load_config, shipped_configs
    from difflogic.errors import ConfigError
    from difflogic.training import session  # noqa: F401 - takes its time: before there is anything
    from difflogic.training.run_directory import CONFIG, RunDirectory, find_run, run_name

    if options.resume is None:
        source = experiment.config or experiment.default
        if source is None:
            raise ConfigError(
                "name a configuration, one of "
                f"{', '.join(shipped_configs())}, or a TOML file; or a run with --resume"
            )
        name = [] if experiment.name is None else [Override(f"name={experiment.name}")]
        settings = _load(source, [*name, *experiment.overrides], experiment, options, True)
        return settings, RunDirectory.create(name=run_name(settings), requested=options.run_dir)
    if options.run_dir is not None:
        raise ConfigError("--resume names the run's directory already: leave --run-dir out")
    path = find_run(options.resume)
    # What was not given is as it is in the run, whose name and length no file changes.
    stored = load_config(path / CONFIG)
    kept = [
        Override(f"name={stored.name}"),
        Override(f"training.epochs={stored.training.epochs}"),
    ]
    overrides = [*kept, *experiment.overrides]
    if experiment.config is not None:
        return _load(experiment.config, overrides, experiment, options, True), RunDirectory(path)
    # A run's directory may come from elsewhere: the code in it runs only if someone says so.
    own = path / CONFIG
    return _load(own, overrides, experiment, options, options.allow_code), RunDirectory(path)


def _load(
    source: str | Path,
    overrides: Sequence[Override],
    experiment: Experiment,
    options: RunOptions,
    allow_code: bool,
) -> Config:
    from difflogic.config import load_config
    from difflogic.tasks import require_task, task_class
    from difflogic.training.compatibility import without_foreign_results

    overrides = [*overrides, *options.all_overrides]
    settings = load_config(source, overrides, options.recipe, allow_code=allow_code)
    task_class(settings.task)  # before anything is made, if its code may not run
    if experiment.kind is not None:
        require_task(settings, experiment.kind, settings.name)
    return without_foreign_results(settings, load_config(source, allow_code=allow_code))


def _train(settings: Config, run: RunDirectory, quiet: bool) -> tuple[dict[str, Any], int]:
    """Train, save, and return the summary and the exit code."""
    from difflogic.training.session import Session

    with Session(settings, run, note) as session:
        if session.summary is not None:
            _say_finished(session)
            return session.summary, 0
        if not quiet:
            _preview(session.config)
        with Undo(session.abandon):
            warm_up(session.trainer, quiet)
        after = "this step, or this search" if settings.finishing.every else "this step"
        with Interruption(after, patience=None) as interruption, Shown(session, quiet) as shown:
            summary = session.train(lambda: interruption.requested, shown.add)
        return summary, interruption.exit_code


def _preview(config: Config) -> None:
    from cli.options.pattern import show_preview
    from difflogic.tasks import make_task

    preview = make_task(config).preview
    if preview is not None:
        show_preview(preview)


def _say_finished(session: Session) -> None:
    assert session.summary is not None
    asked, epochs = session.config.training.epochs, session.summary["epochs"]
    remedy = f"--epochs above {asked} extends it"
    if epochs < asked:
        remedy = "it met its goal before the last epoch"
    note(f"{session.run.path}: finished already, after {epochs} epochs: {remedy}")


class Shown:
    """Shows a session on stderr, as it goes on. Use it in a `with`."""

    def __init__(self, session: Session, quiet: bool) -> None:
        trainer = session.trainer
        config = trainer.config
        title = (
            f"{config.name} · seed {config.training.seed} · {trainer.workers} "
            f"worker{'' if trainer.workers == 1 else 's'}"
        )
        self.progress = display.Progress(config.training.epochs, config.task.loss_channels)
        if session.resumed and not quiet:
            note(f"resumed at epoch {trainer.epoch} of {config.training.epochs}")
        for row in session.history:
            self.progress.recall(row)
        self._display = display.choose(title, quiet)

    def __enter__(self) -> Shown:
        return self

    def __exit__(self, *raised: object) -> None:
        self._display.close(self.progress)

    def add(self, result: StepResult) -> None:
        """Show what a step found, if it is time to."""
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
