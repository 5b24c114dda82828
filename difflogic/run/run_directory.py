"""The directory of a run. It is never overwritten; each of its files is whole or missing."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from errno import ENOENT
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from difflogic.config import Config, load_config
from difflogic.model.model import Model
from difflogic.run import lock, summary
from difflogic.run.checkpoint import checkpoints
from difflogic.run.finding import LAST, ROOT, newest_run, runs_under
from difflogic.run.metrics import History, from_csv
from difflogic.run.start_model import StartModel
from difflogic.system.errors import ConfigError, ModelFileError, RunDirectoryError
from difflogic.system.files import (
    CONFIG,
    LEFTOVERS,
    METRICS,
    MODEL,
    START,
    SUMMARY,
    digest,
    for_shell,
    is_there,
    open_plain,
    read_inside,
    reason,
    refused,
    remove_leftovers,
    write_whole,
)
from difflogic.tasks.custom import code_of

STAMP = "%Y%m%d-%H%M%S"
"""The local time at the beginning of a run's name."""

SWEEP = "sweep.toml"

SUMMED_UP = (CONFIG, METRICS, MODEL)
"""Files of a finished run whose checksums are in its summary."""


def run_name(config: Config) -> str:
    """Return the part of a run directory's name that names the experiment and its seed."""
    return f"{config.name}-seed{config.training.seed}"


def find_run(name: str, root: str | Path = ROOT) -> Path:
    """Return the run directory `name`, or the newest run under `root` if that is "last".

    Raises RunDirectoryError if there is no such run.
    """
    if name == LAST:
        return newest_run(root)
    path = Path(name)
    try:
        there = is_there(path / CONFIG)
    except OSError as error:
        raise refused(path, "used as run directory", error) from error
    if is_there(path) and not path.is_dir():
        raise RunDirectoryError(f"{path}: is not a run directory, but a file")
    if not path.is_dir():
        found = runs_under(root)
        known = f': the newest of {root} is {found[-1]}, or "{LAST}"' if found else ""
        raise RunDirectoryError(f"{path}: no such run directory{known}")
    if not (path / CONFIG).is_file():
        what = f"its {CONFIG} is not a regular file" if there else f"it has no {CONFIG}"
        raise RunDirectoryError(f"{path}: holds no run, as {what}")
    return path


@dataclass(frozen=True)
class RunDirectory:
    """The files of a run: config.toml, metrics.csv, model.npz, summary.json, checkpoints."""

    path: Path
    made: bool = False
    """Whether this process made the directory, and may remove it if the run has no results."""

    @classmethod
    def create(
        cls, root: str | Path = ROOT, name: str = "run", requested: Path | None = None
    ) -> RunDirectory:
        """Make `requested`, or else a new directory ``<root>/<date>-<time>-<name>[-2…]``.

        The time is local. Raises RunDirectoryError if `requested` is a file or a directory that is
        not empty, or if the directory cannot be made.
        """
        if requested is None:
            return cls(_make_new(Path(root), f"{datetime.now():{STAMP}}-{name}"), made=True)
        run = cls.at(requested)
        if not run.is_empty:
            hint = ""
            if (run.path / CONFIG).is_file():
                hint = f" (to continue its run, use --resume {for_shell(run.path)})"
            raise RunDirectoryError(
                f"{run.path}: is not empty, and runs are never overwritten: name a new or "
                f"empty directory{hint}"
            )
        return run

    @classmethod
    def at(cls, path: Path) -> RunDirectory:
        """Return the directory `path`, made if it is missing. Raises RunDirectoryError."""
        path = Path(path)
        try:
            made = not path.exists()
            path.mkdir(parents=True, exist_ok=True)
            any(path.iterdir())
        except FileExistsError:
            what = "a link that leads nowhere" if path.is_symlink() and made else "a file"
            raise RunDirectoryError(
                f"{path}: is {what}, not a directory: name a new or empty directory"
            ) from None
        except OSError as error:
            raise refused(path, "used as run directory", error) from error
        return cls(path, made)

    @property
    def is_empty(self) -> bool:
        """Whether it is empty, apart from a lock and the leftovers of a killed process.

        A start model beside a lock does not count either: the run was killed before its
        config.toml.
        """
        found = [
            path.name
            for path in self.path.iterdir()
            if path.name != lock.NAME and not fnmatch(path.name, LEFTOVERS)
        ]
        return not found or (found == [START] and (self.path / lock.NAME).exists())

    def write_config(self, config: Config, plan: str = "") -> Path:
        """Write the resolved configuration and the time to config.toml; copy a task's own code.

        `plan` is a one-line comment with the meaning of "auto" on this machine.
        """
        code = code_of(config.task)
        if code is not None:
            code.keep(self.path)
        now = datetime.now(UTC).isoformat(timespec="microseconds").removesuffix("+00:00")
        resolved = f"# auto is here: {plan}\n" if plan else ""
        return self._write(CONFIG, f"# written {now}Z by dct\n{resolved}{config.to_toml()}")

    def read_config(self) -> Config | None:
        """Return the run's configuration, or None if it has none yet. Raises ConfigError."""
        path = self.path / CONFIG
        if path.is_symlink():
            raise ConfigError(
                f"{path}: is a link, and links are not followed here: replace it with the file"
            )
        return load_config(path) if path.exists() else None

    def write_metrics(self, history: History) -> Path:
        """Write metrics.csv, with all rows."""
        return self._write(METRICS, history.to_csv())

    def read_metrics(self, epochs: int) -> History:
        """Read the first `epochs` rows of metrics.csv. Raises RunDirectoryError if it has fewer."""
        path = self.path / METRICS
        if not epochs:
            return History()
        try:
            with open_plain(path, follow=False) as file:
                return from_csv(file, epochs)
        except OSError as error:
            raise refused(path, "read", error) from None
        except ValueError as error:
            raise RunDirectoryError(f"{path}: is damaged: {error}") from None

    def write_model(self, model: Model) -> Path:
        """Write the model to model.npz."""
        path = self.path / MODEL
        content = model.to_bytes(str(path))
        write_whole(path, lambda file: file.write(content))
        return path

    def write_start(self, start: StartModel) -> None:
        """Keep the model that the run starts from, in start.npz."""
        write_whole(self.path / START, lambda file: file.write(start.content))

    def read_start(self, config: Config) -> StartModel:
        """Read the model that a run with `config` started from.

        Raises RunDirectoryError if it is missing, damaged or another model.
        """
        path = self.path / START
        try:
            start = StartModel.read(path, follow=False)
        except ModelFileError as error:
            raise RunDirectoryError(
                f"{error}\nThe run started from this model, and can neither continue nor start "
                "over without it: begin again with --from"
            ) from None
        if start.sha256 != config.run.start_sha256:
            raise RunDirectoryError(
                f"{path}: is not the model that the run started from, whose SHA-256 is "
                f"{config.run.start_sha256}: put that one back, or begin the run again"
            )
        return start

    def write_summary(self, results: Mapping[str, Any]) -> Path:
        """Write summary.json, with the checksums of the files in SUMMED_UP."""
        files = {}
        for name in SUMMED_UP:
            with suppress(OSError):
                files[name] = digest(self.path / name)
        return self._write(SUMMARY, summary.render(results, files))

    def read_summary(self) -> dict[str, Any] | None:
        """Return summary.json, or None if it is missing. Raises RunDirectoryError if damaged."""
        path = self.path / SUMMARY
        try:
            return summary.parse(read_inside(path, summary.MAX_BYTES))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise RunDirectoryError(f"{path}: is damaged: {error}") from None

    def problem(self, results: Mapping[str, Any], config: Config) -> str | None:
        """Return what is wrong with the files of a finished run; None if they match its summary.

        `results` is the summary, `config` the run's configuration.
        """
        if results["seed"] != config.training.seed or results["experiment"] != config.name:
            return f"{self.path / SUMMARY}: is that of another run"
        for name in SUMMED_UP:
            path = self.path / name
            try:
                if digest(path) != results[summary.FILES].get(name):
                    return f"{path}: is damaged, or of another run"
            except OSError as error:
                return f"{path}: {'is missing' if error.errno == ENOENT else reason(error)}"
        return None

    @property
    def has_results(self) -> bool:
        """Whether it has files that only a run of at least one epoch writes."""
        return any((self.path / name).exists() for name in (MODEL, SUMMARY))

    def discard(self) -> None:
        """Remove the files of a run that has no results."""
        with suppress(OSError):
            code = self.path.glob("*.py")  # of the user's own task
            found = [*checkpoints(self.path), self.path / METRICS, self.path / CONFIG]
            # In this order: a directory with a config.toml can be resumed.
            for path in [*found, *code, self.path / START]:
                path.unlink(missing_ok=True)
            remove_leftovers(self.path)

    def remove_if_made(self) -> None:
        """Remove the directory if it was made for this run and is empty."""
        if self.made:
            with suppress(OSError):
                self.path.rmdir()

    def _write(self, name: str, text: str) -> Path:
        path = self.path / name
        write_whole(path, lambda file: file.write(text.encode()))
        return path


def _make_new(root: Path, name: str) -> Path:
    path, number = root / name, 1
    try:
        root.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise RunDirectoryError(
            f"{root}: is a file, but should be the directory of all runs: move it away, or use "
            "--dir"
        ) from None
    except OSError as error:
        raise refused(path, "created", error) from error
    while True:
        try:
            path.mkdir()
            return path
        except FileExistsError:  # another run began in the same second
            number += 1
            path = root / f"{name}-{number}"
        except OSError as error:
            raise refused(root / name, "created", error) from error
