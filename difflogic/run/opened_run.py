"""A run that is opened to be trained: whether it is new, continues, or is already finished."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from difflogic.config import Config
from difflogic.model.model import Model
from difflogic.run import summary as summaries
from difflogic.run.checkpoint import Checkpoint, State
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
from difflogic.run.start_model import StartModel, fitted
from difflogic.system.errors import RunDirectoryError

OnMessage = Callable[[str], None]


@dataclass
class OpenedRun:
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

    @property
    def model(self) -> Model | None:
        """What training starts from; None for the configuration's own model."""
        start = self.start
        return None if start is None else fitted(start.model, self.config, start.name)

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

    def begin(self, plan: str) -> None:
        """Write the first files of a new run; `plan` is a comment in config.toml."""
        # config.toml comes last: it makes the directory a run, which needs its start model.
        if self.start is not None:
            self.start.keep(self.run)
            self.start = StartModel.kept(self.run, self.config)  # start from the copy
        write_config(self.run, self.config, plan)

    def find_resume_point(self, template: State) -> tuple[Checkpoint, History] | None:
        """Return the latest usable checkpoint and the metrics until then; None if there is none.

        Its seconds include those of final tests that followed it.
        """
        found = find_resume_point(self.run, self.for_trainer, template, self.on_message)
        if found is None:
            self.on_message(
                f"{self.run.path}: stopped before its first checkpoint: starts at epoch 0"
            )
            return None
        checkpoint, history = found
        return replace(checkpoint, seconds=self._spent(checkpoint)), history

    def _spent(self, checkpoint: Checkpoint) -> Mapping[str, float]:
        reached = {"epochs": checkpoint.epoch, "resumed": checkpoint.resumed}
        summary = self.summary
        if summary is None or {name: summary[name] for name in reached} != reached:
            return checkpoint.seconds
        seconds: dict[str, float] = summary["seconds"] | summary["seconds"]["phases"]
        return seconds

    def extend(self) -> None:
        """Give the run the epochs of the configuration to train with."""
        self.config = extended(self.config, self.given)
        if self.summary:
            # First, so that the summary never calls a run with epochs left finished.
            requested = self.config.training.epochs
            self.summary = self.summary | {"finished": False, "epochs_requested": requested}
            summaries.write_summary(self.run, self.summary)
        write_config(self.run, self.config)


def open_run(
    run: RunDirectory, given: Config, start: StartModel | None, on_message: OnMessage
) -> OpenedRun:
    """Open a run, or a directory for a new one, which may start from the saved model `start`.

    Raises RunDirectoryError if the directory cannot be used, or has another configuration.
    """
    stored = read_config(run)
    if stored is None:
        if not run.is_empty:
            raise RunDirectoryError(
                f"{run.path}: is not empty and contains no run (no {run.config.name}): name a new "
                "or empty directory"
            )
        named = given.run.start_sha256
        if named is not None and (start is None or start.sha256 != named):
            raise given.missing_start
        kept = None if named is None else start
        return OpenedRun(run, given, given, on_message, is_new=True, start=kept)
    refuse_changes(run.path, stored, given)
    opened = OpenedRun(run, stored, given, on_message, summary=_summary(run, stored, on_message))
    if opened.is_finished:
        return opened
    if given.training.epochs > stored.training.epochs:
        opened.extend()
    if stored.run.start_sha256 is not None:
        opened.start = StartModel.kept(run, stored)
    return opened


def _summary(run: RunDirectory, config: Config, on_message: OnMessage) -> dict[str, Any] | None:
    """Return the run's summary; None if it is missing or must be made again."""
    try:
        found = summaries.read_summary(run)
    except RunDirectoryError as error:
        on_message(f"warning: {error}: it is made again")
        return None
    if found is None or not found["finished"]:
        return found
    problem = summaries.problem(run, found, config)
    if problem is None:
        return found
    on_message(f"warning: {problem}: it is made again, if a checkpoint can be used")
    return None
