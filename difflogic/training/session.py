"""A run in its directory: started or resumed, recorded, and saved so that it survives a kill.

To survive, it writes metrics.csv before the checkpoint that relies on it, and each file whole. See
checkpoint.py and lock.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any

from difflogic.config import Config
from difflogic.model.model import Model
from difflogic.run.checkpoint import Checkpoint, made_with, write_checkpoint
from difflogic.run.lock import RunLock
from difflogic.run.measures import StepResult, clocks
from difflogic.run.metrics import History, MetricsRow
from difflogic.run.opened_run import OpenedRun, open_run
from difflogic.run.run_directory import RunDirectory
from difflogic.run.start_model import StartModel
from difflogic.run.summary import read_summary, write_summary
from difflogic.system.callbacks import ignore, never_stop
from difflogic.system.cancelling import cancelling
from difflogic.system.errors import LockLostError, RunDirectoryError, TrainingError
from difflogic.system.files import for_shell, remove_leftovers, write_whole
from difflogic.system.ranks import ALONE, Ranks
from difflogic.training.following import gather
from difflogic.training.rank_plan import RankPlan
from difflogic.training.scores import summarize
from difflogic.training.searching import Trainer

if TYPE_CHECKING:
    from difflogic.gpu.fleet import Fleets

SAVING_SHARE = 0.05
"""Largest share of time for saving by the clock: large runs save less often."""


def execute(
    config: Config,
    path: Path,
    *,
    should_stop: Callable[[], bool] = never_stop,
    on_step: Callable[[StepResult], None] = ignore,
    on_message: Callable[[str], None] = ignore,
    fleets: Fleets | None = None,
) -> dict[str, Any]:
    """Train in the run directory `path` until done, and return the contents of summary.json.

    Starts a run in a new or empty directory, and resumes an unfinished run of this configuration.
    A finished run is extended if `config` has more epochs, else its summary is returned unchanged.
    `should_stop` is called before each epoch; if it returns True, the run is saved, and its summary
    is not `finished`. `on_message` receives messages for the user. Runs on a GPU may share
    `fleets`. The directory is locked meanwhile.

    Raises RunDirectoryError if the directory is in use, cannot be resumed, or has another
    configuration (the message names the keys); TrainingError if training or saving fails.
    """
    with Session(config, RunDirectory.at(path), on_message, fleets=fleets) as session:
        if session.summary is None:
            session.trainer.warm_up()
            session.train(should_stop, on_step)
        assert session.summary is not None
        return session.summary


class Session:
    """A run, locked for this process while entered.

    If the run is already finished, `summary` is set after entering. Otherwise `trainer` is ready to
    continue, and `history` has the epochs so far.
    """

    def __init__(
        self,
        config: Config,
        run: RunDirectory,
        on_message: Callable[[str], None] = ignore,
        ranks: Ranks = ALONE,
        start: StartModel | None = None,
        fleets: Fleets | None = None,
    ) -> None:
        """`ranks` must be the first of several, which the others follow.

        `start` is the saved model of a new run, if `config` names one. Runs on a GPU may share
        `fleets`.
        """
        self.config = config
        """The run's configuration, as in config.toml. Entering sets it."""
        self.run = run
        self.history = History()
        self.began = clocks()
        """When this stretch of the run began; may be replaced until `train`."""
        self.resumed = 0
        """Number of times the run was resumed."""
        self.summary: dict[str, Any] | None = None
        self.grace: float | None = None
        """Seconds for the final tests of a run that is stopped; then `train` raises
        KeyboardInterrupt, and a resumed run does them. None waits for them."""
        self._on_message, self._ranks, self._fleets = on_message, ranks, fleets
        self._stack = ExitStack()
        self._lock = RunLock(run.path)
        self._trainer: Trainer | None = None
        self._start = start
        self._new = False
        self._checkpoint_epoch: int | None = None
        self._saved_epoch: int | None = None

    def __enter__(self) -> Session:
        with ExitStack() as stack:
            stack.callback(self.run.remove_if_made)
            stack.enter_context(self._lock)
            stack.push(self._discard_if_failed)
            remove_leftovers(self.run.path)
            opened = open_run(self.run, self.config, self._start, self._on_message)
            self._new, model = opened.is_new, opened.model
            if opened.is_new:
                model = model or Model.create(opened.config)
                opened.begin(str(RankPlan.of(opened.config, model.netlist, self._ranks).plan))
            self.config, self._start = opened.config, opened.start
            if opened.is_finished:
                self.summary = opened.summary
            else:
                trainer = Trainer(opened.for_trainer, model, self._ranks, self._fleets)
                self._trainer = stack.enter_context(trainer)
                # Find mistakes in a task's own code before hours of training.
                trainer.task.find_cases()
                trainer.task.find_lasting_target()
                self._note_lost_logits() if opened.is_new else self._restore(opened)
            self._stack = stack.pop_all()
        return self

    def _restore(self, opened: OpenedRun) -> None:
        """Go on from the latest checkpoint, if there is one."""
        self.resumed = 1
        found = opened.find_resume_point(self.trainer.state())
        if found is not None:
            checkpoint, self.history = found
            self.trainer.restore(checkpoint.state)
            self.trainer.phases.restore(checkpoint.seconds)
            self._checkpoint_epoch, self.resumed = checkpoint.epoch, checkpoint.resumed + 1

    def _note_lost_logits(self) -> None:
        """Report if a new run cannot use all logits of its start model."""
        conformed, gates = self.trainer.conformed_gates
        if conformed and self._start is not None:
            self._on_message(
                f"{self._start.name}: {conformed} of {gates} gates do not have the form "
                "training.form: they begin as sure of their most probable op as "
                "training.initial_logit says, and lose what else they learned"
            )

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)

    @property
    def trainer(self) -> Trainer:
        assert self._trainer is not None, "enter the session; a finished run has no trainer"
        return self._trainer

    def train(
        self,
        should_stop: Callable[[], bool] = never_stop,
        on_step: Callable[[StepResult], None] | None = None,
    ) -> dict[str, Any]:
        """Train until done or stopped, save everything, and return the summary."""
        trainer = self.trainer
        timer, before = trainer.phases, dict(trainer.phases.seconds)
        gather(trainer, self._ranks)
        timer.began = self.began
        timer.add({"start": time.perf_counter() - self.began[0] - timer.timed})
        with self._stopping_if_it_cannot_save():
            # At once, to find out before hours of training if the run cannot be saved.
            self._save_checkpoint()
            self._loop(should_stop, on_step or ignore, before)
            self._save_all()
            # Its processor time counts once it has ended.
            trainer.stop_compiling()
        stop = should_stop if trainer.done else lambda: True
        with nullcontext() if self.grace is None else cancelling(stop, self.grace):
            summary = summarize(self.config, trainer, self.history, self.resumed)
        if self._start is not None:
            summary["start"] = self._start.as_dict()
        with self._stopping_if_it_cannot_save():
            self._lock.require()
            write_summary(self.run, summary)
            # Read it back, with the checksums.
            self.summary = read_summary(self.run)
        assert self.summary is not None
        return self.summary

    def _loop(
        self,
        should_stop: Callable[[], bool],
        on_step: Callable[[StepResult], None],
        before: dict[str, float],
    ) -> None:
        trainer, timer = self.trainer, self.trainer.phases
        clock = _Clock(trainer.config)
        while not trainer.done and not should_stop():
            with timer("other"):
                # Before the step, since the other ranks begin it too.
                if not trainer.wait_for_kernels(should_stop):
                    break
                state = trainer.state() if trainer.may_search else None
                try:
                    with self._ranks.step():
                        result = trainer.step()
                except TrainingError as error:
                    raise self._with_history(error) from error
                except KeyboardInterrupt:
                    # Raised between two kernel calls of a long step. The step has changed nothing
                    # yet, unless it was searching already: then undo it.
                    if should_stop():
                        if state is not None:
                            trainer.restore(state)
                        break
                    raise
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
        if not self.history.rows:
            return error
        with suppress(RunDirectoryError):
            self._lock.require()
            path = self.run.write(self.run.metrics, self.history.to_csv())
            return TrainingError(f"{error}\nThe epochs until then are in {path}")
        return error

    def _save_checkpoint(self) -> None:
        trainer = self.trainer
        with trainer.phases("checkpoint"):
            self._lock.require()
            self.run.write(self.run.metrics, self.history.to_csv())
            self._lock.require()
            point = Checkpoint(
                trainer.epoch,
                self.resumed,
                self.config.to_dict(),
                trainer.state(),
                trainer.phases.account,
                self.history.digest,
                made_with(trainer.config.parallel.device),
            )
            write_checkpoint(self.run, point)
        self._checkpoint_epoch = trainer.epoch

    def _save_all(self) -> None:
        trainer = self.trainer
        if self._saved_epoch == trainer.epoch:
            return
        self._save_checkpoint()
        with trainer.phases("checkpoint"):
            self._lock.require()
            # With the run's own configuration: the file does not depend on how it was computed.
            # Only a circuit that was completed has other sizes.
            result = trainer.result
            sizes = {"perception": result.config.perception, "update": result.config.update}
            config = self.config.model_copy(update=sizes)
            content = replace(result, config=config).to_bytes(str(self.run.model))
            write_whole(self.run.model, methodcaller("write", content))
        self._saved_epoch = trainer.epoch

    @contextmanager
    def _stopping_if_it_cannot_save(self) -> Iterator[None]:
        """End the run if a file cannot be written; to continue would risk more and more work."""
        try:
            yield
        except LockLostError as error:
            raise TrainingError(
                f"{error}\nThe run stops after epoch {self.trainer.epoch} and writes nothing more. "
                "Once no other process uses the directory, continue from its last checkpoint "
                f"with: dct train --resume {for_shell(self.run.path)}"
            ) from error
        except RunDirectoryError as error:
            stopped = f"{error}\nThe run stops after epoch {self.trainer.epoch}; "
            if self._checkpoint_epoch is None:
                raise TrainingError(f"{stopped}nothing is saved.") from error
            if not self.run.checkpoint(self._checkpoint_epoch).is_file():
                raise TrainingError(f"{stopped}its checkpoints are gone as well.") from error
            raise TrainingError(
                f"{stopped}its checkpoint of epoch {self._checkpoint_epoch} is good. After fixing "
                f"this, continue with: dct train --resume {for_shell(self.run.path)}"
            ) from error

    def abandon(self) -> None:
        """Remove a new run without results; for callers that end this process at once."""
        if self._is_empty:
            self.run.discard()
            self._lock.remove()
            self.run.remove_if_made()

    def _discard_if_failed(self, kind: Any, error: Any, traceback: Any) -> None:
        if error is not None and self._is_empty:
            self.run.discard()

    @property
    def _is_empty(self) -> bool:
        return self._new and not self.history.rows and self._lock.held


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
