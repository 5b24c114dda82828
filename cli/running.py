"""Runs an experiment: starts or resumes it, shows progress, and prints the results."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cli import ranks
from cli.errors import note
from cli.interrupt import Interruption, Undo
from cli.options.run_options import RunOptions
from cli.terminal import display, report
from cli.terminal.warming import warm_up

if TYPE_CHECKING:
    from difflogic.config import Config, Override
    from difflogic.engine.tracing import Tracer
    from difflogic.library.training import Trained
    from difflogic.search.search import SearchProgress
    from difflogic.system.ranks import Ranks
    from difflogic.training.session import Session
    from difflogic.training.step_result import StepResult


@dataclass(frozen=True)
class Experiment:
    """What to train, apart from the options that all training commands share."""

    config: str | None
    """The configuration that the user named, if any."""
    default: str | None = None
    """The one to use otherwise, unless a run is resumed."""
    overrides: Sequence[Override] = ()
    """Changes by the command's own options."""
    name: str | None = None
    """Name of a new run, if not that of its configuration."""
    kind: str | None = None
    """The kind of task that the command is for; None for any."""


def run_experiment(experiment: Experiment, options: RunOptions) -> None:
    """Train, show and print; exits 130 or 143 if interrupted, after saving."""
    from difflogic.system.ranks import started

    asked, size = options.ranks or 1, started()
    if asked > 1 and size == 1:
        # Here, so that it is reported once.
        ranks.check(resolved(experiment, options), asked, options.oversubscribe)
        ranks.launch(asked, ranks.of_run(options.resume or options.directory))
    with ranks.joined() as group:
        if group.leads:
            if options.ranks is not None and asked != size:
                raise typer.BadParameter(
                    f"asks for {asked} ranks, but the launcher started {size}", param_hint="--ranks"
                )
            _train(experiment, options, group)
        else:
            from difflogic.training.following import follow

            # A rank decides by its own command line whether code may run, not by rank 0.
            follow(group, lambda: resolved(experiment, options))


def _train(experiment: Experiment, options: RunOptions, group: Ranks) -> None:
    """Train as the first of the ranks, or the only one."""
    from difflogic.library.training import train  # slow to import
    from difflogic.tasks import OwnSection

    settings = resolved(experiment, options)
    ranks.check(settings, group.here, options.oversubscribe)
    own_code = isinstance(settings.task, OwnSection)
    channels = _channels(options.show, settings)
    trace = Trace(options.trace, settings.name, options.directory)
    with Shown(options.quiet, options.watch, channels) as shown:
        found = train(
            settings,
            directory=options.directory,
            new=True,
            resume=options.resume,
            source=options.source,
            begin=lambda session: trace.begin(session, shown.begin),
            progress=shown.add,
            should_stop=lambda: shown.interruption.requested,
            say=note,
            ranks=group,
        )
    _print_results(found, options, own_code)
    written = trace.write()
    if shown.interruption.exit_code:
        raise typer.Exit(shown.interruption.exit_code)
    if not written:
        raise typer.Exit(1)


def resolved(experiment: Experiment, options: RunOptions) -> Config:
    """Return the configuration to train, checked before anything is written."""
    from difflogic.config import Override, shipped_configs
    from difflogic.library.training import resolve
    from difflogic.system.errors import ConfigError
    from difflogic.tasks import require_task

    source, overrides = experiment.config, [*experiment.overrides, *options.all_overrides]
    if options.resume is None:
        source = source or experiment.default
        if source is None:
            raise ConfigError(
                "name a configuration: "
                f"{', '.join(shipped_configs())}, or a TOML file; or use --resume RUN"
            )
        if experiment.name is not None:
            overrides = [Override(f"name={experiment.name}"), *overrides]
    elif options.directory is not None:
        raise ConfigError("--resume already names the run's directory: leave --dir out")
    elif options.source is not None:
        raise ConfigError("a resumed run keeps its own start: leave --from out")
    # A run's directory may come from elsewhere: its code runs only if the user says so.
    trusted = source is not None or options.allow_code
    settings = resolve(source, overrides, options.recipe, resume=options.resume, allow_code=trusted)
    if experiment.kind is not None:
        require_task(settings, experiment.kind, settings.name)
    return settings


def _channels(text: str | None, config: Config) -> Sequence[int]:
    """Return the channels of --show; none by default."""
    from cli.options.parsing import parse_channels
    from difflogic.system.errors import ConfigError

    if text is None:
        return ()
    last = config.automaton.channels - 1
    if text == "all":
        return range(last + 1)
    channels = parse_channels(text, "--show")
    if max(channels) > last:
        raise ConfigError(
            f"--show {text}: no channel {max(channels)}: {config.name} has 0 to {last}"
        )
    return channels


def _preview(config: Config) -> None:
    from cli.options.pattern import show_preview
    from difflogic.tasks import make_task

    preview = make_task(config).preview
    if preview is not None:
        show_preview(preview)


class Trace:
    """Writes a trace of the workers, if a file is named for it."""

    def __init__(self, path: Path | None, name: str, run: Path | None) -> None:
        """`run` is the new run's directory, if named.

        Raises RunDirectoryError if no file can be written there, ConfigError if it is the run's.
        """
        self._path, self._name = path, name
        self._tracer: Tracer | None = None
        if path is None:
            return
        from difflogic.system.errors import ConfigError

        if run is not None and run.resolve() in (path.resolve(), *path.resolve().parents):
            raise ConfigError(f"--trace {path}: is inside the run's directory: choose another path")
        from difflogic.system.files import check_new_output

        check_new_output(path)

    def begin(self, session: Session, begin: Callable[[Session], None]) -> None:
        """Begin a run, then start recording."""
        begin(session)
        if self._path is not None:
            from difflogic.engine.tracing import Tracer

            self._tracer = Tracer()
            session.trainer.trace(self._tracer)

    def write(self) -> bool:
        """Write the file; return False if that failed."""
        if self._path is None:
            return True
        if self._tracer is None:
            note(f"{self._path}: not written: nothing was trained")
            return True
        from difflogic.engine.tracing import write_events
        from difflogic.system.errors import RunDirectoryError

        try:
            write_events(self._path, self._tracer.events, self._name)
        except RunDirectoryError as error:
            note(f"error: no trace: {error}")
            return False
        only = " (first steps only)" if self._tracer.full else ""
        note(f"saved {self._path}{only}: open it in ui.perfetto.dev or chrome://tracing")
        return True


class Shown:
    """Shows a run's progress on stderr. Use it in a `with`.

    Once training has begun, Ctrl-C is a request, since there are results to save.
    """

    def __init__(self, quiet: bool, watch: bool, channels: Sequence[int] = ()) -> None:
        """`channels` are drawn side by side; by default the loss channels, as one picture."""
        self.interruption = Interruption(None)
        self._quiet, self._watch, self._channels = quiet, watch, channels
        self._offer: Callable[[StepResult], None] = lambda result: None
        self._stack = ExitStack()

    def __enter__(self) -> Shown:
        return self

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)

    def begin(self, session: Session) -> None:
        """Show the target, compile, and show progress from where the run is."""
        trainer = session.trainer
        config = trainer.config
        if not self._quiet:
            _preview(session.config)
        with Undo(session.abandon):
            warm_up(trainer, self._quiet, meanwhile=True)
        for warning in trainer.warnings:
            note(f"warning: {warning}")
        if self._watch:
            from difflogic.library.serving import offering

            server, self._offer = self._stack.enter_context(offering(session))
            note(f"watch the run at {server.link}")
        after = "this step or search" if config.finishing.every else "this step"
        self.interruption = self._stack.enter_context(Interruption(after, patience=None))
        self._progress = display.Progress(
            config.training.epochs,
            config.task.loss_channels,
            self._channels,
            may_stop=bool(config.finishing.every),
            starts_over=bool(config.training.restart_every),
        )
        if session.resumed and not self._quiet:
            note(f"resumed at epoch {trainer.epoch} of {config.training.epochs}")
        self._progress.recall(session.history.rows)
        title = (
            f"{config.name} · seed {config.training.seed} · {trainer.workers} "
            f"worker{'' if trainer.workers == 1 else 's'}"
        )
        self._display = display.choose(title, self._quiet)
        self._stack.callback(lambda: self._display.close(self._progress))
        trainer.on_search_progress, trainer.on_compile_wait = self._search, self._compiling

    def _search(self, searching: SearchProgress) -> None:
        """Show how far a search is, if it is time to."""
        self._progress.searching, self._progress.compiling = searching, False
        self._display.update(self._progress)

    def _compiling(self) -> None:
        """Show that a search waits for its kernels."""
        self._progress.compiling = True
        self._display.update(self._progress)

    def add(self, result: StepResult) -> None:
        """Show a step's results, if it is time to."""
        self._progress.add(result)
        self._display.update(self._progress)
        self._offer(result)


def _print_results(found: Trained, options: RunOptions, own_code: bool) -> None:
    summary, path = dict(found.summary), str(found.path)
    if summary["interrupted"]:
        note(
            f"interrupted after epoch {summary['epochs']} of {summary['epochs_requested']}; "
            f"saved in {path}"
        )
    if options.as_json:
        typer.echo(json.dumps({**summary, "run_directory": path}, indent=2))
    else:
        typer.echo(report.render(summary, path, own_code, options.quiet))
