"""The directory of a run, or of a sweep with its runs: which files it has, and what is in it.

A run is never overwritten; each of its files is whole or missing. The other modules of this package
say what is in the files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatch
from operator import methodcaller
from pathlib import Path

from difflogic.system import files
from difflogic.system.errors import RunDirectoryError
from difflogic.system.files import for_shell, is_there, open_plain, refused, write_whole

ROOT = "runs"
LAST = "last"
"""Names the newest run or sweep under a root."""

LOCK, SWEEP = ".lock", "sweep.toml"
TABLES = "table.csv", "table.json", "table.md"
"""The results of a sweep."""
ATTEMPT = re.compile(r"\.attempt-[0-9]+")
"""Names of the directories in which `train_examples` makes its attempts, until one wins."""

OF_RUN = (
    files.LEFTOVERS,
    files.MODEL,
    "checkpoint-*.npz",
    files.METRICS,
    files.START,
    files.SUMMARY,
    files.ATTEMPTS,
    files.CONFIG,
)
"""Files of a run, in the order of their removal: what is left after an interruption is a run's."""
OF_SWEEP = (files.LEFTOVERS, *TABLES, SWEEP)

_STAMP = "%Y%m%d-%H%M%S"
"""The local time at the beginning of a run's name."""
_WRITTEN = re.compile(r"# written ([0-9T:.-]{19,26})Z")
_CHECKPOINT = re.compile(r"checkpoint-\d{1,12}\.npz")


class _File:
    """The path of a file in a run's directory."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, run: RunDirectory, kind: type[RunDirectory]) -> Path:
        return run.path / self.name


@dataclass(frozen=True)
class RunDirectory:
    """The files of a run, or of a sweep."""

    path: Path
    made: bool = False
    """Whether this process made the directory, and may remove it if the run has no results."""

    config, metrics, model = map(_File, (files.CONFIG, files.METRICS, files.MODEL))
    summary, start = map(_File, (files.SUMMARY, files.START))
    """The start is a copy of the saved model that the run started from, if any."""
    attempts = _File(files.ATTEMPTS)
    """What was tried in learning from examples, in the run of the best attempt."""
    sweep = _File(SWEEP)
    """The plan of a sweep: the directory then holds `runs`, and no run itself."""

    @classmethod
    def create(
        cls, root: str | Path = ROOT, name: str = "run", requested: Path | None = None
    ) -> RunDirectory:
        """Make `requested`, or else a new directory ``<root>/<date>-<time>-<name>[-2…]``.

        The time is local. Raises RunDirectoryError if `requested` is a file or a directory that is
        not empty, or if the directory cannot be made.
        """
        if requested is None:
            return cls(_make_new(Path(root), f"{datetime.now():{_STAMP}}-{name}"), made=True)
        run = cls.at(requested)
        if not run.is_empty:
            hint = ""
            if run.config.is_file():
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

    @classmethod
    def named(cls, name: str | Path, root: str | Path = ROOT, sweeps: bool = False) -> RunDirectory:
        """Return the run `name`, or the newest run or sweep under `root` if that is "last".

        Raises RunDirectoryError if there is no such run; for a sweep, too, unless `sweeps`.
        """
        run = newest(root) if str(name) == LAST else cls(Path(name))
        path = run.path
        try:
            there = is_there(run.config)
        except OSError as error:
            raise refused(path, "used as run directory", error) from error
        if is_there(path) and not path.is_dir():
            raise RunDirectoryError(f"{path}: is not a run directory, but a file")
        if not path.is_dir():
            found = entries(root)
            known = f': the newest of {root} is {found[-1].path}, or "{LAST}"' if found else ""
            raise RunDirectoryError(f"{path}: no such run directory{known}")
        if sweeps and run.is_sweep:
            return run
        if not run.is_run:
            name = run.config.name
            what = f"its {name} is not a regular file" if there else f"it has no {name}"
            raise run.refusal(f"holds no run, as {what}")
        return run

    def refusal(self, problem: str) -> RunDirectoryError:
        """Return the error for a directory that is not a run's, with the runs that it holds."""
        if not self.is_sweep:
            return RunDirectoryError(f"{self.path}: {problem}")
        such = "".join(f", such as {for_shell(run.path)}" for run in self.runs[:1])
        return RunDirectoryError(
            f"{self.path}: is a sweep: name one of its runs{such}; dct runs {for_shell(self.path)} "
            "lists them"
        )

    @property
    def is_run(self) -> bool:
        """Whether it holds a run."""
        return os.path.isfile(self.config)

    @property
    def is_sweep(self) -> bool:
        """Whether it holds a sweep."""
        return os.path.isfile(self.sweep)

    @property
    def runs(self) -> list[RunDirectory]:
        """The runs of a sweep, by name, without links and what cannot be read."""
        found: list[Path] = []
        with suppress(OSError):
            for variant in filter(is_folder, sorted(self.path.iterdir())):
                with suppress(OSError):
                    found += filter(is_folder, sorted(variant.iterdir()))
        return [run for run in map(RunDirectory, found) if run.is_run]

    @property
    def begun(self) -> datetime:
        """When the run or sweep was last begun or extended, in UTC.

        Read from config.toml; without a valid time there, it is the time of that file, or of a
        sweep's plan, but none in the future. Raises OSError.
        """
        if self.is_sweep:
            return _changed(self.sweep)
        with open_plain(self.config, follow=False) as file:
            written = _WRITTEN.match(file.read(100).decode(errors="replace"))
        with suppress(ValueError, OverflowError):
            if written is not None:
                return datetime.fromisoformat(written[1]).replace(tzinfo=UTC)
        return _changed(self.config)

    @property
    def checkpoints(self) -> list[Path]:
        """Its checkpoints, the latest epoch first."""
        found = [path for path in self.path.iterdir() if _CHECKPOINT.fullmatch(path.name)]
        return sorted(found, key=epoch_of, reverse=True)

    def checkpoint(self, epoch: int) -> Path:
        """Return the path of an epoch's checkpoint."""
        return self.path / f"checkpoint-{epoch}.npz"

    def attempt(self, number: int) -> RunDirectory:
        """Return the directory of an attempt to learn from examples, inside of this one."""
        return RunDirectory(self.path / f".attempt-{number}")

    @property
    def sizes(self) -> dict[str, int]:
        """The bytes of each file, by name, without the lock."""
        entries = sorted(each for each in self.path.iterdir() if each.name != LOCK)
        return {each.name: each.lstat().st_size for each in entries if each.is_file()}

    @property
    def code(self) -> list[Path]:
        """Copies of the code of the user's own task."""
        return sorted(self.path.glob("*.py"))

    @property
    def summed_up(self) -> tuple[Path, ...]:
        """Files of a finished run whose checksums are in its summary."""
        return self.config, self.metrics, self.model

    @property
    def contents(self) -> dict[str, bytes]:
        """The files of a finished run, by name; `put` writes them elsewhere."""
        found = (*self.summed_up, self.summary, *self.code)
        return {path.name: path.read_bytes() for path in found if path.is_file()}

    def put(self, contents: Mapping[str, bytes]) -> None:
        """Write files by name. The summary comes last, since it marks the run as finished."""
        for name in sorted(contents, key=lambda name: name == files.SUMMARY):
            write_whole(self.path / name, methodcaller("write", contents[name]))

    def adopt(self, other: RunDirectory) -> None:
        """Move the files of another run here.

        The configuration comes first: once it is there, this directory is known as a run's.
        """
        for file in sorted(other.path.iterdir(), key=lambda file: file != other.config):
            file.rename(self.path / file.name)

    @property
    def strangers(self) -> list[str]:
        """The names of all that it holds, apart from a lock and what killed processes left."""
        names = sorted(path.name for path in self.path.iterdir())
        return [name for name in names if name != LOCK and not fnmatch(name, files.LEFTOVERS)]

    @property
    def is_empty(self) -> bool:
        """Whether it is empty, apart from a lock and the leftovers of a killed process.

        A start model beside a lock does not count either: the run was killed before its
        config.toml.
        """
        found = self.strangers
        return not found or (found == [files.START] and (self.path / LOCK).exists())

    def discard(self) -> None:
        """Remove the files of a run that has no results."""
        with suppress(OSError):
            # In this order: a directory with a config.toml can be resumed.
            results = self.summary, self.model, *self.checkpoints, self.metrics
            for path in (*results, self.config, *self.code, self.start):
                path.unlink(missing_ok=True)
            files.remove_leftovers(self.path)

    def remove_if_made(self) -> None:
        """Remove the directory if it was made for this run and is empty."""
        if self.made:
            with suppress(OSError):
                self.path.rmdir()

    def write(self, path: Path, text: str) -> Path:
        """Write one of its files whole; return its path. Raises RunDirectoryError."""
        write_whole(path, methodcaller("write", text.encode()))
        return path


def entries(root: str | Path) -> list[RunDirectory]:
    """Return the runs and sweeps under `root`, the last begun or extended at the end."""
    try:
        paths = list(Path(root).iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise refused(Path(root), "searched", error) from error
    found = []
    for run in map(RunDirectory, paths):
        with suppress(OSError):  # a pipe or an unreadable directory does not hide the other runs
            if run.is_run or run.is_sweep:
                found.append((run.begun, run.path))
    return [RunDirectory(path) for _, path in sorted(found)]


def newest(root: str | Path = ROOT) -> RunDirectory:
    """Return the newest run or sweep under `root`. Raises RunDirectoryError without one."""
    found = entries(root)
    if not found:
        raise RunDirectoryError(f"{root}: has no run: name a run's directory instead of {LAST}")
    return found[-1]


def saved_model(path: Path, root: str | Path = ROOT) -> Path:
    """Return the model file of the run directory `path`, or `path` itself if it is a file.

    "last" is the newest run under `root`. Raises RunDirectoryError if a run has not saved yet, and
    for a sweep.
    """
    run = newest(root) if str(path) == LAST and not path.exists() else RunDirectory(path)
    if not run.path.is_dir():
        return path
    if not run.model.exists():
        raise run.refusal(
            f"holds no {run.model.name}: name the directory of a run that has saved, or a file"
        )
    if run.model.is_symlink():
        raise RunDirectoryError(
            f"{run.model}: is a link, and links in runs are not followed: name the file"
        )
    return run.model


def epoch_of(checkpoint: Path) -> int:
    """Return the epoch in a checkpoint's name."""
    return int(checkpoint.stem.partition("-")[2])


def is_folder(path: Path) -> bool:
    """Whether this is a directory, and no link to one."""
    return path.is_dir() and not path.is_symlink()


def _changed(path: Path) -> datetime:
    now = datetime.now(UTC)
    try:
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (ValueError, OverflowError):  # a year out of range
        return now
    return min(changed, now)


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
