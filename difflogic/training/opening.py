"""Opening a run's directory: whether the run is new, continues, or is already finished."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from difflogic.config import Config
from difflogic.model.model import Model
from difflogic.run.checkpoint import Checkpoint
from difflogic.run.metrics import History
from difflogic.run.resume_point import find_resume_point
from difflogic.run.run_directory import RunDirectory
from difflogic.run.settings import (
    extended,
    read_config,
    refuse_changes,
    with_free_settings,
    write_config,
)
from difflogic.run.start_model import StartModel, fitted, missing
from difflogic.run.summary import problem as summary_problem
from difflogic.run.summary import read_summary, write_summary
from difflogic.system.errors import RunDirectoryError
from difflogic.system.ranks import Ranks
from difflogic.training.rank_plan import RankPlan
from difflogic.training.searching import Trainer

OnMessage = Callable[[str], None]


@dataclass
class Opened:
    """A run that is locked for this process."""

    run: RunDirectory
    config: Config
    """The run's own configuration, as in config.toml."""
    given: Config
    """The configuration to train with."""
    on_message: OnMessage
    is_new: bool = False
    summary: dict[str, Any] | None = None
    start: StartModel | None = None
    """The saved model that the run starts from, if any."""
    model: Model | None = None
    """What training starts from; None for the configuration's own model."""

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to train: an exact circuit needs no more epochs."""
        if self.summary is None or not self.summary["finished"]:
            return False
        exact = self.summary["exact_epoch"] is not None
        return exact or self.given.training.epochs <= self.config.training.epochs

    @property
    def for_trainer(self) -> Config:
        """The configuration that the trainer takes."""
        return with_free_settings(self.config, self.given)

    def take(self, start: StartModel) -> None:
        """Start from this saved model."""
        self.start = start
        self.model = fitted(start.model, self.config, start.name)

    def begin(self, ranks: Ranks) -> None:
        """Write the first files of a new run."""
        config = self.config
        self.model = self.model or Model.create(config)
        plan = RankPlan.of(config, self.model.netlist, ranks).plan
        # config.toml comes last: it makes the directory a run, which needs its start model.
        if self.start is not None:
            self.start.keep(self.run)
            self.take(StartModel.kept(self.run, config))  # start from the copy
        write_config(self.run, config, str(plan))

    def restore(self, trainer: Trainer) -> tuple[History, int | None, int]:
        """Restore the trainer from the latest checkpoint.

        Returns the epochs so far, the checkpoint's epoch, if there is one, and how often the run
        had been resumed.
        """
        found = find_resume_point(self.run, trainer.config, trainer.state(), self.on_message)
        if found is None:
            self.on_message(
                f"{self.run.path}: stopped before its first checkpoint: starts at epoch 0"
            )
            return History(), None, 0
        checkpoint, history = found
        trainer.restore(checkpoint.state)
        trainer.phases.restore(self._spent(checkpoint))
        return history, checkpoint.epoch, checkpoint.resumed

    def _spent(self, checkpoint: Checkpoint) -> Mapping[str, float]:
        """Return the seconds until a checkpoint, with the final tests if they followed it."""
        reached = {"epochs": checkpoint.epoch, "resumed": checkpoint.resumed}
        summary = self.summary
        if summary is None or {name: summary[name] for name in reached} != reached:
            return checkpoint.seconds
        seconds: dict[str, float] = summary["seconds"] | summary["seconds"]["phases"]
        return seconds

    def note_lost_logits(self, trainer: Trainer) -> None:
        """Report if a new run cannot use all logits of its start model."""
        conformed, gates = trainer.conformed_gates
        if conformed and self.start is not None:
            self.on_message(
                f"{self.start.name}: {conformed} of {gates} gates do not have the form "
                "training.form: they begin as sure of their most probable op as "
                "training.initial_logit says, and lose what else they learned"
            )


def open_run(
    run: RunDirectory, given: Config, start: StartModel | None, on_message: OnMessage
) -> Opened:
    """Open a run, or a directory for a new one, which may start from the saved model `start`.

    Raises RunDirectoryError if the directory cannot be used, or has another configuration.
    """
    stored = read_config(run)
    if stored is None:
        if not run.is_empty:
            raise RunDirectoryError(
                f"{run.path}: is not empty and contains no run (no config.toml): name a new or "
                "empty directory"
            )
        opened = Opened(run, given, given, on_message, is_new=True)
        if given.run.start_sha256 is not None:
            if start is None or start.sha256 != given.run.start_sha256:
                raise missing(given)
            opened.take(start)
        return opened
    refuse_changes(run.path, stored, given)
    opened = Opened(run, stored, given, on_message)
    opened.summary = _usable_summary(opened)
    if opened.is_finished:
        return opened
    if given.training.epochs > stored.training.epochs:
        _extend(opened)
    if stored.run.start_sha256 is not None:
        opened.take(StartModel.kept(run, stored))
    return opened


def _usable_summary(opened: Opened) -> dict[str, Any] | None:
    """Return the run's summary; None if it is missing or must be made again."""
    try:
        summary = read_summary(opened.run)
    except RunDirectoryError as error:
        opened.on_message(f"warning: {error}: it is made again")
        return None
    if summary is None or not summary["finished"]:
        return summary
    problem = summary_problem(opened.run, summary, opened.config)
    if problem is None:
        return summary
    opened.on_message(f"warning: {problem}: it is made again, if a checkpoint can be used")
    return None


def _extend(opened: Opened) -> None:
    opened.config = extended(opened.config, opened.given)
    if opened.summary:
        # First, so that the summary never calls a run with epochs left finished.
        requested = opened.config.training.epochs
        opened.summary = opened.summary | {"finished": False, "epochs_requested": requested}
        write_summary(opened.run, opened.summary)
    write_config(opened.run, opened.config)
