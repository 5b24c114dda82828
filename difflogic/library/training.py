"""Learning automata: `train`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difflogic.config import Config, load_config
from difflogic.errors import ConfigError
from difflogic.library.loading import Loaded, load
from difflogic.library.watching import Say, ShouldStop, never, unheard
from difflogic.training import session
from difflogic.training.run_directory import RunDirectory, run_name
from difflogic.training.trainer import StepResult


@dataclass(frozen=True)
class Trained:
    """A run: its directory, and what came out."""

    path: Path
    summary: Mapping[str, Any]
    """Plain values, those of the run's summary.json."""

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do; else the run was stopped, and can go on."""
        return bool(self.summary["finished"])

    @property
    def exact_epoch(self) -> int | None:
        """The epoch at which the hard circuit was verified to be exact; None if it was not."""
        epoch: int | None = self.summary["exact_epoch"]
        return epoch

    def load(self) -> Loaded:
        """Return the model that was saved."""
        return load(self.path)


def resolve(
    config: Config | str | Path,
    overrides: Sequence[str] = (),
    recipe: str | None = None,
    allow_code: bool = False,
) -> Config:
    """Return a configuration: one that is given, a shipped one's by its name, or a file's.

    `overrides` are written as ``section.key=value``, and like a `recipe` change one that is named.
    Raises ConfigError.
    """
    if not isinstance(config, Config):
        return load_config(config, overrides, recipe, allow_code=allow_code)
    if overrides or recipe is not None:
        raise ConfigError("a configuration that is loaded already stays as it is: name it instead")
    return config


def train(
    config: Config | str | Path,
    overrides: Sequence[str] = (),
    recipe: str | None = None,
    *,
    directory: str | Path | None = None,
    progress: Callable[[StepResult], None] | None = None,
    should_stop: ShouldStop = never,
    say: Say = unheard,
    allow_code: bool = False,
) -> Trained:
    """Train an experiment in a run directory until it is done, and save it.

    Without a `directory` there is a new one in runs/. One that holds an unfinished run of this
    configuration goes on with it, and ends as if it had never been interrupted; a finished one is
    returned as it is. `progress` hears each epoch's result. Where `should_stop` says yes, between
    two epochs, all is saved and the run can go on another time: nothing is raised. `allow_code`
    runs the code of the configuration's task, if that is not the program's own.

    Raises ConfigError, RunDirectoryError for a directory that cannot be used, and TrainingError if
    training or saving cannot go on.
    """
    settings = resolve(config, overrides, recipe, allow_code)
    if directory is None:
        path = RunDirectory.create(name=run_name(settings)).path
    else:
        path = Path(directory)
    summary = session.execute(settings, path, should_stop=should_stop, on_step=progress, say=say)
    return Trained(path, summary)
