"""A run in its directory, from its first epoch or its last checkpoint to its summary."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from difflogic.config import Config
from difflogic.experiment.following import gather
from difflogic.experiment.results import summarize
from difflogic.experiment.searching import Trainer
from difflogic.model.model import Model
from difflogic.run.measures import StepResult, clocks
from difflogic.run.metrics import MetricsRow
from difflogic.run.opened_run import OpenedRun, StartModel
from difflogic.run.run_directory import RunDirectory
from difflogic.run.summary import Summary
from difflogic.search.footprint import search_bytes
from difflogic.system.deadline import never_stop
from difflogic.system.errors import RunDirectoryError, TrainingError
from difflogic.system.ranks import ALONE, Ranks
from difflogic.system.stops import delayed
from difflogic.system.work import Stopped, ignore, say, stopped, tell, work, working
from difflogic.training.rank_plan import RankPlan

if TYPE_CHECKING:
    from difflogic.gpu.fleet import Fleets

SAVING_SHARE = 0.05
"""Largest share of time for saving by the clock: large runs save less often."""

FINAL_TESTS_SECONDS = 0.3
"""For the final tests of a run whose work is stopped; otherwise a resumed run does them."""


def execute(
    config: Config,
    path: Path,
    *,
    should_stop: Callable[[], bool] = never_stop,
    on_step: Callable[[StepResult], None] = ignore,
    fleets: Fleets | None = None,
) -> Summary:
    """Train in the run directory `path` until done, and return the contents of summary.json.

    Starts a run in a new or empty directory, and resumes an unfinished run of this configuration.
    A finished run is extended if `config` has more epochs, else its summary is returned unchanged.
    `should_stop` is called before each epoch; if it returns True, the run is saved, and its summary
    is not `finished`. Runs on a GPU may share `fleets`. The directory is locked meanwhile.

    Raises RunDirectoryError if the directory is in use, cannot be resumed, or has another
    configuration (the message names the keys); TrainingError if training or saving fails.
    """
    with Session(config, RunDirectory.at(path), fleets=fleets) as session:
        if session.summary is None:
            session.trainer.warm_up()
            session.train(should_stop, on_step)
        assert session.summary is not None
        return session.summary


class Session(OpenedRun):
    """A run, locked for this process while entered, and its trainer.

    If the run is already finished, it has no trainer, and `summary` is that of the run.
    """

    def __init__(
        self,
        config: Config,
        run: RunDirectory,
        ranks: Ranks = ALONE,
        start: StartModel | None = None,
        fleets: Fleets | None = None,
    ) -> None:
        """`ranks` must be the first of several, which the others follow.

        `start` is the saved model of a new run, if `config` names one. Runs on a GPU may share
        `fleets`.
        """
        super().__init__(config, run, start)
        self.began = clocks()
        """When this stretch of the run began; may be replaced until `train`."""
        self._ranks = ranks
        self._fleets = fleets
        self._trainer: Trainer | None = None
        self._saved_epoch: int | None = None

    def __enter__(self) -> Self:
        super().__enter__()
        with ExitStack() as failed:
            failed.push(self._stack)
            if not self.is_finished:
                self._prepare()
            failed.pop_all()
        return self

    def _prepare(self) -> None:
        model = self.model
        if self.is_new:
            model = model or Model.create(self.config)
            problem = self.config.problem
            netlist = model.netlist
            size = search_bytes(problem, netlist)
            self.begin(str(RankPlan.of(problem, netlist, self._ranks, search_bytes=size).plan))
        trainer = Trainer(self.for_trainer, model, self._ranks, self._fleets)
        self._trainer = self._stack.enter_context(trainer)
        # Find mistakes in a task's own code before hours of training.
        task = trainer.descent.task
        task.find_cases()
        task.find_lasting_target()
        if self.is_new:
            self._note_lost_logits()
        elif (found := self.resume(trainer.state())) is not None:
            trainer.restore(found.state)
            trainer.phases.restore(found.seconds)

    def _note_lost_logits(self) -> None:
        """Report if a new run cannot use all logits of its start model."""
        conformed, gates = self.trainer.descent.conformed_gates
        if conformed and self.start is not None:
            say(
                f"{self.start.name}: {conformed} of {gates} gates do not have the form "
                "training.form: they begin as sure of their most probable op as "
                "training.initial_logit says, and lose what else they learned"
            )

    @property
    def trainer(self) -> Trainer:
        assert self._trainer is not None, "enter the session; a finished run has no trainer"
        return self._trainer

    def train(
        self,
        should_stop: Callable[[], bool] = never_stop,
        on_step: Callable[[StepResult], None] | None = None,
    ) -> Summary:
        """Train until done or stopped, save everything, and return the summary.

        If the work of this thread is stopped, and the final tests take longer than
        FINAL_TESTS_SECONDS, it raises Stopped, and a resumed run does them. They are not cut short
        by `should_stop`.
        """
        asked = work().asked
        with working(asked=lambda: asked() or self._ranks.told > 0):
            return self._train(should_stop, on_step or ignore)

    def _train(
        self, should_stop: Callable[[], bool], on_step: Callable[[StepResult], None]
    ) -> Summary:
        trainer = self.trainer
        timer = self.trainer.phases
        before = dict(timer.seconds)
        gather(trainer, self._ranks)
        timer.began = self.began
        if self._saved_epoch is None:  # in the next rounds of a race, others ran meanwhile
            timer.add({"start": time.perf_counter() - self.began[0] - timer.timed})
        with self.stopping_if_it_cannot_save():
            # At once, to find out before hours of training if the run cannot be saved.
            self._save_checkpoint()
            self._loop(should_stop, on_step, before)
            self._save_all()
        with working(asked=delayed(work().asked, FINAL_TESTS_SECONDS)):
            results = summarize(self.config, trainer, self.history, self.resumed)
        if self.start is not None:
            results.start = self.start.as_dict()
        with self.stopping_if_it_cannot_save():
            self.save_summary(results)
        assert self.summary is not None
        return self.summary

    def _loop(
        self,
        should_stop: Callable[[], bool],
        on_step: Callable[[StepResult], None],
        before: dict[str, float],
    ) -> None:
        trainer = self.trainer
        timer = self.trainer.phases
        clock = _Clock(trainer.config)
        while not (trainer.done or stopped() or should_stop()):
            with timer("other"):
                state = trainer.state() if trainer.may_search else None
                try:
                    tell("epochs:", trainer.epoch, trainer.config.training.epochs)
                    with self._ranks.step():
                        result = trainer.step()
                except TrainingError as error:
                    raise self._with_history(error) from error
                except Stopped:
                    # Raised between two kernel calls of a long step. The step has changed nothing
                    # yet, unless it was searching already: then undo it.
                    if state is not None:
                        trainer.restore(state)
                    break
                on_step(result)
                now = dict(timer.seconds)
                seconds = {phase: now[phase] - before[phase] for phase in now}
                self.history.add(MetricsRow.of(result, seconds))
                before = now
                if clock.is_due(trainer.epoch):
                    self._save_all()
                    clock.saved(timer.seconds["checkpoint"] - now["checkpoint"])

    def _with_history(self, error: TrainingError) -> TrainingError:
        """Save the history, which may show what broke the run; the model is useless."""
        with suppress(RunDirectoryError):
            if self.history.rows:
                return TrainingError(f"{error}\nThe epochs until then are in {self.save_metrics()}")
        return error

    def _save_checkpoint(self) -> None:
        trainer = self.trainer
        timer = self.trainer.phases
        with timer("checkpoint"):
            device = trainer.config.parallel.device
            self.save_checkpoint(trainer.epoch, trainer.state(), timer.account, device)

    def _save_all(self) -> None:
        if self._saved_epoch == self.trainer.epoch:
            return
        self._save_checkpoint()
        with self.trainer.phases("checkpoint"):
            self.save_model(self.trainer.result)
        self._saved_epoch = self.trainer.epoch


class _Clock:
    """Tells when the next checkpoint is due."""

    def __init__(self, config: Config) -> None:
        self._epochs = config.checkpoint.every_epochs
        self._seconds = config.checkpoint.every_seconds
        self._next = time.monotonic() + self._seconds

    def is_due(self, epoch: int) -> bool:
        by_epochs = bool(self._epochs) and epoch % self._epochs == 0
        return by_epochs or (bool(self._seconds) and time.monotonic() >= self._next)

    def saved(self, seconds: float) -> None:
        """Start to count again; saving took `seconds`."""
        self._next = time.monotonic() + max(self._seconds, seconds / SAVING_SHARE)
