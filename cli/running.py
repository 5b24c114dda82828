"""Runs an experiment: starts or resumes it, shows progress, and prints the results."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

import typer

import cli
from cli import ranks
from cli.failures import discard_unprinted, note
from cli.interrupt import Interruption
from cli.options import RunOptions, Shared
from cli.progress import show_progress
from cli.terminal import display, output, report
from difflogic.system.quantities import counted
from difflogic.system.work import ignore, undoing, working

if TYPE_CHECKING:
    from difflogic.config import Config
    from difflogic.experiment.session import Session
    from difflogic.library.experiments import Experiment
    from difflogic.run.measures import StepResult
    from difflogic.search.walk import SearchProgress
    from difflogic.system.ranks import Ranks
    from difflogic.system.work import Progress
    from difflogic.tasks import Task


def run_experiment(experiment: Experiment, options: RunOptions, shared: Shared) -> None:
    """Train, show progress, and print results, on the first of several ranks.

    Exits 130 or 143 if interrupted, after saving.
    """
    with ranks.joined() as group:
        if group.leads:
            _train(experiment, options, shared, group)
        else:
            from difflogic.experiment.following import follow

            # Each rank's own command line, not rank 0, decides whether code may run.
            follow(group, lambda: resolved(experiment, options, shared))


def _train(experiment: Experiment, options: RunOptions, shared: Shared, group: Ranks) -> None:
    """Train as the first of the ranks, or the only one."""
    import difflogic
    from difflogic.tasks import CustomSection

    settings = resolved(experiment, options, shared)
    for line in experiment.about(settings):
        if not shared.quiet or line.startswith("warning: "):
            output.note_folded(line)

    def begin(session: Session) -> None:
        session.began = cli.began or session.began
        shown.begin(session)

    with Shown(shared.quiet, options.watch) as shown:
        try:
            found = difflogic.train(
                settings,
                directory=shared.directory,
                new=True,
                resume=options.resume,
                source=options.source,
                begin=begin,
                progress=shown.add,
                ranks=group,
            )
        except KeyboardInterrupt:
            shown.hear(group)
            if not shown.interruption.requested:
                raise
            from difflogic.system.files import for_shell

            shown.close()  # first, or the display would be drawn again below
            output.note_folded(
                "interrupted before the final tests; resume: "
                f"dct train --resume {for_shell(shown.path)}"
            )
            raise typer.Exit(shown.interruption.exit_code) from None
        shown.hear(group)
    summary = found.summary
    path = str(found.path)
    if summary.interrupted:
        output.note_folded(
            f"interrupted after epoch {summary.epochs} of {summary.epochs_requested}; "
            f"saved in {path}"
        )
    try:
        if shared.as_json:
            typer.echo(json.dumps({**summary.as_dict(), "run_directory": path}, indent=2))
        else:
            custom_task = isinstance(settings.task, CustomSection)
            typer.echo(report.render(summary, path, custom_task, not shared.quiet, options.timings))
    finally:
        if shown.interruption.exit_code:
            discard_unprinted()
            raise typer.Exit(shown.interruption.exit_code)


def resolved(experiment: Experiment, options: RunOptions, shared: Shared) -> Config:
    """Return the configuration to train, checked before anything is written."""
    from difflogic.config import Override
    from difflogic.library.training import resolve
    from difflogic.tasks import require_task

    source = experiment.config
    overrides = [*experiment.overrides, *options.all_overrides(shared)]
    if options.resume is None:
        source = source or experiment.default
        if experiment.name is not None:
            overrides = [Override("name", experiment.name), *overrides]
    # A run's directory may come from somebody else: its code runs only with the user's consent.
    trusted = source is not None or options.allow_code
    settings = resolve(source, overrides, options.recipe, resume=options.resume, allow_code=trusted)
    if experiment.kind is not None:
        require_task(settings, experiment.kind, settings.name)
    return settings


class Shown(ExitStack):
    """Shows a run's progress on stderr. Use it in a `with`.

    Once training has begun, Ctrl-C is a request, since there are results to save.
    """

    def __init__(self, quiet: bool, watch: bool) -> None:
        super().__init__()
        self.interruption = Interruption(None)
        self._quiet = quiet
        self._watch = watch
        self._publish: Callable[[StepResult], None] = lambda result: None

    def begin(self, session: Session) -> None:
        """Compile, and show progress from the run's epoch on."""
        from difflogic.tasks import make_task

        self._trainer = trainer = session.trainer
        self.path = session.run.path
        config = trainer.config
        task = make_task(session.config)
        shown = working(say=ignore) if self._quiet else show_progress(stop_at_once=True)
        with undoing(session.abandon), shown:
            trainer.warm_up()
        for warning in trainer.descent.warnings:
            note(f"warning: {warning}")
        if self._watch:
            from difflogic.view.watching.serving import serve_training

            server, self._publish = self.enter_context(serve_training(session))
            output.note_folded(f"watch the run at {server.link}")
        # Other ranks may never come: what they have not sent by then is not waited for.
        patience = ranks.SAVING_SECONDS if trainer.ranks.size > 1 else None
        self.interruption = self.enter_context(Interruption("this step", patience))
        self._progress = display.RunProgress(
            config.training.epochs,
            config.task.loss_channels,
            task.palette,
            task.shown_target,
            searches=0 < config.finishing.every < config.training.epochs,
            restart_every=config.training.restart_every,
            stages=_stage_names(task),
            phases=trainer.phases.seconds,
        )
        if session.resumed and not self._quiet:
            note(f"resumed at epoch {trainer.epoch} of {config.training.epochs}")
        self._progress.recall(session.history.rows)
        workers = counted(trainer.descent.plan.workers, "worker")
        title = f"{config.name} · seed {config.training.seed} · {workers}"
        self._display = display.choose(title, self._progress, self._quiet)
        self.callback(self._display.close)
        trainer.on_search_progress = self._search
        self.enter_context(working(tell=self._tell))

    def hear(self, group: Ranks) -> None:
        """Take a signal that another rank has heard as one to this process."""
        if group.told and not self.interruption.requested:
            self.interruption.request(group.told)

    def _tell(self, part: Progress) -> None:
        from difflogic.experiment.compiling import GROUPS

        if part.what == GROUPS:
            self._progress.compiling = part
            self._display.update()

    def _search(self, searching: SearchProgress) -> None:
        self._progress.searching = searching
        self._display.update()

    def add(self, result: StepResult) -> None:
        """Show a step's results, if it is time to."""
        self._progress.add(result, 1 + self._trainer.descent.stage, self._trainer.done)
        self._display.update()
        self._publish(result)


def _stage_names(task: Task) -> list[str]:
    """Say what differs between a task's stages: their size, or what they should do."""
    stages = task.stages
    if len({(each.height, each.width) for each in stages}) == len(stages) > 1:
        return [f"{each.height}×{each.width}" for each in stages]
    return ["heal" if each.damages else "hold" for each in stages if len(stages) > 1]
