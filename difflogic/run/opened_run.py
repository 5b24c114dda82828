"""A run that is opened to be trained: new, continued or already finished; saved to survive a kill.

To survive, it writes metrics.csv before the checkpoint that relies on it, and each file whole. See
checkpoint.py and lock.py. A run that starts from a saved model keeps a copy, which the checksum of
its file identifies, and can therefore resume and start over without the original.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from operator import methodcaller
from pathlib import Path
from typing import Any, Self

from difflogic.config import Config
from difflogic.model.model import Model
from difflogic.run import summary as summaries
from difflogic.run.checkpoint import (
    Checkpoint,
    State,
    find_resume_point,
    made_with,
    write_checkpoint,
)
from difflogic.run.lock import RunLock, holding
from difflogic.run.metrics import History
from difflogic.run.run_directory import RunDirectory
from difflogic.run.settings import (
    extended,
    read_config,
    refuse_changes,
    with_free_settings,
    write_config,
)
from difflogic.run.summary import Summary
from difflogic.system.archive import MAX_FILE_BYTES
from difflogic.system.errors import (
    ConfigError,
    LockLostError,
    ModelFileError,
    RunDirectoryError,
    TrainingError,
    UnreadableError,
)
from difflogic.system.files import cannot_read, for_shell, kind_of, open_plain, write_whole
from difflogic.system.work import say


class OpenedRun:
    """A run, locked for this process while entered."""

    def __init__(self, given: Config, run: RunDirectory, start: StartModel | None = None) -> None:
        """`start` is the saved model of a new run, if the `given` configuration names one."""
        self.run = run
        self.config = given
        """The run's configuration, as in config.toml. Entering sets it."""
        self.start = start
        """The saved model that the run starts from, if any."""
        self.is_new = False
        self.summary: Summary | None = None
        """The contents of summary.json, once the run is finished or has stopped again."""
        self.history = History()
        """The epochs so far that are measured: without those whose metrics were lost."""
        self.resumed = 0
        """Number of times the run was resumed."""
        self._given = given
        self._earlier: Summary | None = None
        """The summary of earlier stretches."""
        self._lock = RunLock(run.path)
        self._stack = ExitStack()
        self._reached: int | None = None
        """The epoch of the last checkpoint."""

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._lock = stack.enter_context(holding(self.run))
            stack.push(self._discard_if_failed)
            self._open()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._stack.__exit__(*raised)

    def _open(self) -> None:
        """Read what is there. Raises RunDirectoryError if it is another run, or none."""
        run = self.run
        given = self._given
        named = given.run.start_sha256
        if self.start is not None and self.start.sha256 != named:
            self.start = None
        if run.is_empty and (named is None or self.start is not None or not run.is_run):
            if named is not None and self.start is None:
                raise given.missing_start
            self.is_new = True
            if run.is_run:
                say(f"{run.path}: stopped before its first epoch: starts again")
                run.discard()
            return
        stored = read_config(run)
        if stored is None:
            raise RunDirectoryError(
                f"{run.path}: is not empty and contains no run (no {run.config.name}): name a "
                "new or empty directory"
            )
        refuse_changes(run.path, stored, given)
        self.config, self._earlier = stored, self._usable_summary(stored)
        if self.is_finished:
            self.summary = self._earlier
        else:
            if given.training.epochs > stored.training.epochs:
                self._extend()
            if named is not None:
                self.start = StartModel.kept(run, stored)

    def _usable_summary(self, config: Config) -> Summary | None:
        """Return the run's summary; None if it is missing or must be made again."""
        try:
            return summaries.read_summary(self.run, config)
        except RunDirectoryError as error:
            say(f"warning: {error}: it is made again, if a checkpoint can be used")
            return None

    def _extend(self) -> None:
        self.config = extended(self.config, self._given)
        if self._earlier:
            # First, so that the summary never calls a run with epochs left finished.
            requested = self.config.training.epochs
            extended_by = {"finished": False, "epochs_requested": requested}
            self._earlier = self._earlier.model_copy(update=extended_by)
            summaries.write_summary(self.run, self._earlier)
        write_config(self.run, self.config)

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to train: an exact circuit needs no more epochs."""
        if self._earlier is None or not self._earlier.finished:
            return False
        exact = self._earlier.exact_epoch is not None
        return exact or self._given.training.epochs <= self.config.training.epochs

    @property
    def model(self) -> Model | None:
        """What training starts from; None for the configuration's own model."""
        start = self.start
        return None if start is None else fitted(start.model, self.config, start.name)

    @property
    def for_trainer(self) -> Config:
        """The configuration that the trainer takes."""
        return with_free_settings(self.config, self._given)

    def begin(self, plan: str) -> None:
        """Write the first files of a new run; `plan` is a comment in config.toml."""
        write_config(self.run, self.config, plan)
        if self.start is not None:
            self.start.keep(self.run)
            self.start = StartModel.kept(self.run, self.config)  # start from the copy

    def resume(self, template: State) -> Checkpoint | None:
        """Read the epochs up to the latest usable checkpoint, and return it, or None without one.

        Its seconds include those of final tests that followed it.
        """
        self.resumed = 1
        found = find_resume_point(self.run, self.for_trainer, template)
        if found is None:
            say(f"{self.run.path}: stopped before its first checkpoint: starts at epoch 0")
            return None
        checkpoint, self.history = found
        self._reached = checkpoint.epoch
        self.resumed = checkpoint.resumed + 1
        return checkpoint.model_copy(update={"seconds": self._spent(checkpoint)})

    def _spent(self, checkpoint: Checkpoint) -> Mapping[str, float]:
        reached = (checkpoint.epoch, checkpoint.resumed)
        summary = self._earlier
        if summary is None or (summary.epochs, summary.resumed) != reached:
            return checkpoint.seconds
        return summary.seconds.as_dict() | summary.seconds.phases

    # What is saved

    def save_metrics(self) -> Path:
        """Write metrics.csv."""
        self._lock.require()
        return self.run.write(self.run.metrics, self.history.to_csv())

    def save_checkpoint(
        self, epoch: int, state: State, seconds: Mapping[str, float], device: str
    ) -> None:
        """Write the metrics, and a checkpoint of the last epoch."""
        self.save_metrics()
        self._lock.require()
        point = Checkpoint(
            epoch=epoch,
            resumed=self.resumed,
            config=self.config.to_dict(),
            state=dict(state),
            seconds=dict(seconds),
            history=self.history.digest,
            made_with=made_with(device),
        )
        write_checkpoint(self.run, point)
        self._reached = epoch

    def save_model(self, model: Model) -> None:
        """Write the model with the run's own configuration: it names no way of computing.

        Only a circuit that was completed has other sizes.
        """
        self._lock.require()
        sizes = {"perception": model.config.perception, "update": model.config.update}
        model = replace(model, config=self.config.model_copy(update=sizes))
        write_whole(self.run.model, methodcaller("write", model.to_bytes(str(self.run.model))))

    def save_summary(self, results: Summary) -> None:
        """Write the summary, and read it back with the checksums."""
        self._lock.require()
        summaries.write_summary(self.run, results)
        self.summary = summaries.read_summary(self.run)

    @contextmanager
    def stopping_if_it_cannot_save(self) -> Iterator[None]:
        """End the run if a file cannot be written; to continue would risk more and more work."""
        resume = f"dct train --resume {for_shell(self.run.path)}"
        try:
            yield
        except LockLostError as error:
            raise TrainingError(
                f"{error}\nThe run stops after epoch {self.history.epoch} and writes nothing more. "
                "Once no other process uses the directory, continue from its last checkpoint "
                f"with: {resume}"
            ) from error
        except (RunDirectoryError, UnreadableError) as error:
            what = str(error)
            if isinstance(error.__cause__, FileNotFoundError):
                what = f"{self.run.path}: was removed while the run was training"
            # Rows of damaged metrics may be lost.
            reached = max(self.history.epoch, self._reached or 0)
            if self._reached is None:
                saved = "nothing is saved."
            elif not self._is_kept(self._reached):
                saved = "its checkpoints are gone as well."
            else:
                good = f"its checkpoint of epoch {self._reached} is good"
                saved = f"{good}. After fixing this, continue with: {resume}"
            raise TrainingError(f"{what}\nThe run stops after epoch {reached}; {saved}") from error

    def _is_kept(self, epoch: int) -> bool:
        """Whether an epoch's checkpoint is still there, as far as the system says."""
        try:
            return bool(kind_of(self.run.checkpoint(epoch)))
        except UnreadableError:
            return True

    # What is discarded

    def abandon(self) -> None:
        """Remove a new run without results; for callers that end this process at once."""
        if self._has_nothing:
            self.run.discard()
            self._lock.remove()
            self.run.remove_if_made()

    def _discard_if_failed(self, kind: Any, error: Any, traceback: Any) -> None:
        if error is not None and self._has_nothing:
            self.run.discard()

    @property
    def _has_nothing(self) -> bool:
        unsaved = self.summary is None and not self.history.rows
        return self.is_new and unsaved and self._lock.held


_SIZES = {
    "channels": "automaton.channels",
    "kernels": "perception.kernels",
    "perception": "perception.gates",
    "update": "update.gates",
}
"""The configuration key of each size. Other keys say how wires are drawn; a model has its own."""


class StartModel:
    """A model, and the bytes of its file."""

    def __init__(self, name: str, model: Model, content: bytes) -> None:
        """`name` is used in messages."""
        self.name = name
        self.model = model
        self.content = content

    @classmethod
    def read(cls, path: Path, name: str | None = None, follow: bool = True) -> StartModel:
        """Read a model's file, through a link only if `follow`.

        Raises ModelFileError or UnreadableError.
        """
        model = Model.load(path, follow=follow)
        try:
            with open_plain(path, follow) as file:
                content = file.read(MAX_FILE_BYTES)
        except OSError as error:
            raise cannot_read(path, error, ModelFileError) from None
        return cls(name or str(path), model, content)

    @classmethod
    def of(cls, model: Model) -> StartModel:
        """Wrap a model. Raises ModelFileError if it cannot be saved."""
        name = model.config.name
        return cls(name, model, model.to_bytes(name))

    @classmethod
    def kept(cls, run: RunDirectory, config: Config) -> StartModel:
        """Read the model that a run with `config` started from.

        Raises RunDirectoryError if it is missing, damaged or another model, and UnreadableError.
        """
        try:
            start = cls.read(run.start, follow=False)
        except ModelFileError as error:
            raise RunDirectoryError(
                f"{error}\nThe run started from this model, and can neither continue nor start "
                "over without it: begin again with --from"
            ) from None
        if start.sha256 != config.run.start_sha256:
            raise RunDirectoryError(
                f"{run.start}: is not the model that the run started from, whose SHA-256 is "
                f"{config.run.start_sha256}: put that one back, or begin the run again"
            )
        return start

    def keep(self, run: RunDirectory) -> None:
        """Write it to a run that starts from it."""
        write_whole(run.start, methodcaller("write", self.content))

    def as_dict(self) -> dict[str, Any]:
        """Return the entry of a run's summary."""
        config = self.model.config
        return {"sha256": self.sha256, "experiment": config.name, "seed": config.training.seed}

    @property
    def sha256(self) -> str:
        """The SHA-256 of the file, in hexadecimal."""
        return hashlib.sha256(self.content).hexdigest()

    def named_in(self, config: Config) -> Config:
        """Return `config` with this model as the start of training; the model keeps its wiring.

        Raises ConfigError if the model does not fit, or the configuration names another one.
        """
        config = fitted(self.model, config, self.name).config
        named = config.run.start_sha256
        if named not in (None, self.sha256):
            raise ConfigError(
                f"{self.name}: has the SHA-256 {self.sha256}, and the configuration starts from "
                f"the model of SHA-256 {named} ([run] start_sha256): name that one, or leave the "
                "key out"
            )
        return config.with_facts(start_sha256=self.sha256)


def fitted(model: Model, config: Config, name: str) -> Model:
    """Return `model` as the start of a run with `config`.

    The model keeps its logits and its wiring; all other settings come from `config`. Raises
    ConfigError, naming the differences, if its circuit has other sizes than `config`.
    """
    has = model.layers.architecture
    wants = config.architecture
    different = [
        f"{key}: {_show(getattr(has, part))} in the model, {_show(getattr(wants, part))} asked for"
        for part, key in _SIZES.items()
        if getattr(has, part) != getattr(wants, part)
    ]
    if different:
        raise ConfigError(
            f"{name}: is of another circuit than {config.name}, which cannot start from it:\n  "
            + "\n  ".join(different)
            + "\nName a model that fits, or set these keys to the model's values"
        )
    wired = {"perception": model.config.perception, "update": model.config.update}
    return replace(
        model,
        logits=model.logits.astype(config.training.precision),
        config=config.model_copy(update=wired),
    )


def _show(value: object) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)
