"""The directory of a run, or of a sweep with its runs: which files it has, and what is in it.

A run is never overwritten; each of its files is whole or missing. config.toml is the first file
that `dct` writes into a run's directory, and the last that it removes; sweep.toml is that of a
sweep. So whatever is interrupted leaves a directory that can be begun again, resumed or removed.
The other modules of this package say what is in the files.
"""

from __future__ import annotations

import json
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatch
from operator import methodcaller
from pathlib import Path
from typing import Any, Self

from difflogic.system import files
from difflogic.system.errors import DctError, RunDirectoryError, UnreadableError
from difflogic.system.files import (
    LAST,
    cannot_read,
    for_shell,
    is_file,
    is_folder,
    kind_of,
    listed,
    nearest,
    open_plain,
    read_inside,
    refused,
    write_whole,
)
from difflogic.system.toml import MAX_TOML_BYTES, flat, parse_toml

ROOT = "runs"
LOCK = ".lock"
SWEEP = "sweep.toml"
TABLES = "table.csv", "table.json"
"""The results of a sweep."""
ATTEMPT = re.compile(r"\.attempt-[0-9]+")
"""Names of the directories in which `train_examples` makes its attempts, until one wins."""

_RESULTS = files.OF_RUN[files.OF_RUN.index(files.METRICS) :]
OF_SWEEP = (SWEEP, *TABLES, "table.md")
"""All files of a sweep, without those of its runs, in the order in which they are first written.

Earlier versions wrote the last."""

_STAMP = "%Y%m%d-%H%M%S"
"""The local time at the beginning of a run's name."""
_CLOCKS_DIFFER = timedelta(minutes=5)
"""Of the machines that share a directory."""
_WRITTEN = re.compile(r"# written ([0-9T:.-]{19,26})Z")
_CHECKPOINT = re.compile(r"checkpoint-\d{1,12}\.npz")
_BEGINNING = re.compile(rb'# written [0-9T:.-]+Z by dct\n|format = "dct-sweep"\n')
_CODE = re.compile(r'^kind = "(?:[^"\n]*/)?([^"/\n]+\.py):\w+"$', re.MULTILINE)
_MOST_BYTES = 2**26
"""Far above what a configuration or a plan takes."""


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
    """Whether this process made the directory, and may remove it if it stays empty."""

    config, metrics, model = map(_File, (files.CONFIG, files.METRICS, files.MODEL))
    summary, start = map(_File, (files.SUMMARY, files.START))
    """The start is a copy of the saved model that the run started from, if any."""
    attempts = _File(files.ATTEMPTS)
    """What was tried in learning from examples, in the run of the best attempt."""
    sweep = _File(SWEEP)
    """The plan of a sweep: the directory then holds `runs`, and no run itself."""

    @classmethod
    def create(cls, name: str = "run", requested: str | Path | None = None) -> Self:
        """Make `requested`, or else a new directory ``runs/<date>-<time>-<name>[-2…]``.

        The time is local. Raises RunDirectoryError if `requested` is a file or a directory that is
        not empty, or if the directory cannot be made.
        """
        if requested is None:
            return cls(_make_new(f"{datetime.now():{_STAMP}}-{name}"), made=True)
        run = cls.at(requested)
        run.require_empty()
        return run

    @classmethod
    def at(cls, path: str | Path) -> Self:
        """Return the directory `path`, made if it is missing. Raises RunDirectoryError."""
        path = Path(path)
        found = kind_of(path, follow=False)
        try:
            if found not in (0, stat.S_IFDIR):
                raise FileExistsError
            if not found:
                if str(path) == LAST:
                    raise RunDirectoryError(f"{path}: means the newest run: name another directory")
                _make(path)
        except FileExistsError:
            raise RunDirectoryError(
                f"{path}: is a file or a link: name a new or empty directory itself"
            ) from None
        except OSError as error:
            raise refused(path, "used as run directory", error) from error
        listed(path)
        return cls(path, made=not found)

    @classmethod
    def named(cls, name: str | Path, sweeps: bool = False) -> RunDirectory:
        """Return the run `name`, or the newest run or sweep in runs/ if that is "last".

        Raises RunDirectoryError if there is no such run; for a sweep, too, unless `sweeps`.
        """
        run = newest() if str(name) == LAST else cls(Path(name))
        path = run.path
        found = kind_of(path)
        if not found:
            raise RunDirectoryError(f"{path}: no such run directory{suggestion(path)}")
        if found != stat.S_IFDIR:
            raise RunDirectoryError(f"{path}: is not a run directory, but a file")
        if sweeps and run.is_sweep:
            return run
        if not run.is_run:
            name = run.config.name
            there = kind_of(run.config)
            what = f"its {name} is not a regular file" if there else f"it has no {name}"
            raise run.refusal(f"holds no run, as {what}: name another")
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
        """Whether it holds a run. Raises UnreadableError."""
        return is_file(self.config)

    @property
    def is_sweep(self) -> bool:
        """Whether it holds a sweep. Raises UnreadableError."""
        return bool(kind_of(self.path)) and is_file(self.sweep)

    @property
    def runs(self) -> list[RunDirectory]:
        """The runs of a sweep, by name, without links. Raises UnreadableError."""
        return [run for variant in self.folders for run in variant.folders if run.may_be_run]

    @property
    def folders(self) -> list[RunDirectory]:
        """The directories in it, by name, without links: a sweep's variants, or a variant's seeds.

        Raises FileNotFoundError and UnreadableError.
        """
        return [RunDirectory(path) for path in listed(self.path) if is_folder(path)]

    @property
    def may_be_run(self) -> bool:
        """Whether it holds a run, or cannot be looked into."""
        try:
            return self.is_run
        except UnreadableError:
            return True

    @property
    def begun(self) -> datetime:
        """When the run or sweep was last begun or extended, in UTC.

        Read from config.toml; without a valid time there, it is the time of that file, or of a
        sweep's plan, but none in the future. Raises FileNotFoundError if it is neither, and
        UnreadableError or RunDirectoryError.
        """
        if self.is_sweep:
            return changed_at(self.sweep)
        try:
            with open_plain(self.config, follow=False) as file:
                written = _WRITTEN.match(file.read(100).decode(errors="replace"))
        except FileNotFoundError:
            raise
        except OSError as error:
            raise cannot_read(self.config, error) from None
        with suppress(ValueError, OverflowError):
            if written is not None:
                return datetime.fromisoformat(written[1]).replace(tzinfo=UTC)
        return changed_at(self.config)

    @property
    def failed(self) -> dict[Path, str]:
        """The directories of a sweep's runs that failed, and why, by its table.

        A failed run may have no directory. Raises UnreadableError.
        """
        try:
            content = read_inside(self.path / TABLES[1], _MOST_BYTES)
            rows = json.loads(content)["runs"]
            failed = [row for row in rows if row["status"] == "failed"]
            return {
                self.path / str(row["variant"]) / f"seed{int(row['seed'])}": str(row["error"])
                for row in failed
            }
        except (
            FileNotFoundError,
            RunDirectoryError,
            ValueError,
            KeyError,
            TypeError,
            RecursionError,
        ):  # missing, damaged, or from elsewhere
            return {}

    @property
    def settings(self) -> dict[str, Any]:
        """Its configuration, by ``section.key``; empty if config.toml is damaged.

        Raises FileNotFoundError, UnreadableError or RunDirectoryError.
        """
        with suppress(ValueError):
            return flat(parse_toml(read_inside(self.config, MAX_TOML_BYTES).decode()))
        return {}

    @property
    def checkpoints(self) -> list[Path]:
        """Its checkpoints, the latest epoch first."""
        found = [path for path in listed(self.path) if _CHECKPOINT.fullmatch(path.name)]
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
        return {
            each.name: size_of(each)
            for each in listed(self.path)
            if each.name != LOCK and is_file(each)
        }

    @property
    def summed_up(self) -> tuple[Path, ...]:
        """Files of a finished run whose checksums are in its summary."""
        return self.config, self.metrics, self.model

    @property
    def pending(self) -> list[RunDirectory]:
        """Runs inside of it, one of which may become its own; or what a killed process left."""
        found = filter(is_folder, listed(self.path))
        return [RunDirectory(path) for path in found if ATTEMPT.fullmatch(path.name)]

    def split(self) -> tuple[list[Path], list[Path]]:
        """Return the files that `dct` wrote here, first written first, and all other entries.

        A lock is neither. Without config.toml, only leftovers are `dct`'s, and what was moved here
        out of a pending run. Raises RunDirectoryError if another program wrote config.toml.
        """
        first, *later = OF_SWEEP if self.is_sweep else files.OF_RUN
        known = [files.LEFTOVERS]
        for place in (self, *self.pending):
            with suppress(FileNotFoundError):
                content = read_inside(place.path / first, _MOST_BYTES)
                if not _BEGINNING.match(content):
                    raise RunDirectoryError(
                        f"{place.path}: is kept, since dct did not write its {first}: remove "
                        "the directory yourself"
                    )
                known += [first, *_CODE.findall(content.decode(errors="replace")), *later]
        own = []
        others = []
        for entry in listed(self.path):
            rank = next((i for i, name in enumerate(known) if fnmatch(entry.name, name)), None)
            if rank is not None and kind_of(entry, follow=False) == stat.S_IFREG:
                own.append((rank, entry))
            elif entry.name != LOCK:
                others.append(entry)
        return [entry for _, entry in sorted(own)], others

    def adopt(self, other: RunDirectory) -> None:
        """Move the files of a pending run here.

        The configuration comes last: it makes this directory a run, which is then whole.
        """
        try:
            for file in sorted(other.split()[0], key=lambda file: file == other.config):
                file.rename(self.path / file.name)
        except OSError as error:
            raise refused(self.path, "given its files", error) from error
        with suppress(OSError):
            other.path.rmdir()

    @property
    def has_remains(self) -> bool:
        """Whether a process that was killed, or is at work, has left something: a lock or runs."""
        return is_folder(self.path) and bool(kind_of(self.path / LOCK) or self.pending)

    @property
    def is_empty(self) -> bool:
        """Whether a run can begin here: there is none, or only the first files of one.

        What killed processes left does not count: a lock, and unfinished files.
        """
        try:
            own, others = self.split()
        except RunDirectoryError:
            return False
        return not (others or any(fnmatch(path.name, each) for path in own for each in _RESULTS))

    def require_empty(self) -> None:
        """Raise RunDirectoryError if no run can begin here."""
        if not self.is_empty:
            hint = ""
            path = for_shell(self.path)
            if self.is_run and self.settings:
                hint = f" (dct train --resume {path} continues its run)"
            elif self.has_remains:
                hint = f" (dct runs rm {path} removes what a killed process left)"
            raise RunDirectoryError(
                f"{self.path}: is not empty, and runs are never overwritten: name a new or "
                f"empty directory{hint}"
            )

    def discard(self) -> None:
        """Remove the files of a run that has no results, as far as possible."""
        with suppress(OSError, DctError):
            for path in reversed(self.split()[0]):
                path.unlink(missing_ok=True)

    def remove_if_made(self) -> None:
        """Remove the directory if it was made for this run and is empty; an empty ``runs``, too."""
        if self.made:
            with suppress(OSError):
                self.path.rmdir()
                Path(ROOT).rmdir()

    def write(self, path: Path, text: str) -> Path:
        """Write one of its files whole; return its path. Raises RunDirectoryError."""
        write_whole(path, methodcaller("write", text.encode()))
        return path


def entries(root: str | Path) -> list[RunDirectory]:
    """Return the runs and sweeps under `root`, the last begun or extended at the end.

    What is damaged or cannot be read is among them, by the time of its directory. Raises
    UnreadableError or RunDirectoryError.
    """
    found = []
    with suppress(FileNotFoundError):
        for run in map(RunDirectory, listed(Path(root))):
            with suppress(FileNotFoundError):  # removed meanwhile
                try:
                    if run.is_run or run.is_sweep:
                        found.append((run.begun, run.path))
                except DctError:
                    found.append((changed_at(run.path), run.path))
    return [RunDirectory(path) for _, path in sorted(found)]


def suggestion(path: Path) -> str:
    """Return what to say after "no such directory": which run is meant, or is the newest."""
    with suppress(OSError, DctError):
        inside = [run.path for run in RunDirectory(path.parent).runs if run.path.name == path.name]
        if inside:
            return f": did you mean {for_shell(inside[0])}?"
    with suppress(OSError, DctError):
        if found := [str(run.path) for run in entries(ROOT)]:
            known = f': the newest of {ROOT} is {found[-1]}, or "{LAST}"'
            return nearest(path, [LAST, *found]) or known
    return ""


def newest() -> RunDirectory:
    """Return the newest run or sweep in runs/.

    Raises RunDirectoryError without one, and UnreadableError if it may be one that cannot be read.
    """
    found = entries(ROOT)
    if not found:
        raise RunDirectoryError(f"{ROOT}: has no run: name a run's directory instead of {LAST}")
    begun = found[-1].begun
    if begun > datetime.now(UTC) + _CLOCKS_DIFFER:
        raise RunDirectoryError(
            f"{found[-1].path}: was begun on {begun:%Y-%m-%d}, in the future, so that it may not "
            f"be the {LAST}: name the run's directory"
        )
    return found[-1]


def saved_model(path: Path) -> Path:
    """Return the model file of the run directory `path`, or `path` itself if it is a file.

    "last" is the newest run in runs/. Raises RunDirectoryError if a run has not saved yet, and
    for a sweep.
    """
    run = newest() if str(path) == LAST and not kind_of(path) else RunDirectory(path)
    found = kind_of(run.path)
    if found != stat.S_IFDIR:
        if not (found or path.suffix or str(path) == files.STANDARD):
            raise RunDirectoryError(f"{path}: no such run or file{suggestion(path)}")
        return path
    kind = kind_of(run.model, follow=False)
    if not kind:
        raise run.refusal(
            f"holds no {run.model.name}: name the directory of a run that has saved, or a file"
        )
    if kind == stat.S_IFLNK:
        raise RunDirectoryError(
            f"{run.model}: is a link, and links in runs are not followed: name the file"
        )
    return run.model


def epoch_of(checkpoint: Path) -> int:
    """Return the epoch in a checkpoint's name."""
    return int(checkpoint.stem.partition("-")[2])


def size_of(file: Path) -> int:
    """Return the bytes of a file that is there. Raises UnreadableError."""
    try:
        return file.lstat().st_size
    except OSError as error:
        raise cannot_read(file, error) from None


def changed_at(path: Path) -> datetime:
    """Return when a file or directory was changed, in UTC; now if the system does not say."""
    now = datetime.now(UTC)
    with suppress(OSError, ValueError, OverflowError):  # ValueError: a year out of range
        return min(datetime.fromtimestamp(path.stat().st_mtime, UTC), now)
    return now


def _make(path: Path) -> None:
    """Make a directory that is missing, and leave none if that is interrupted."""
    try:
        path.mkdir(parents=True)
    except FileExistsError:
        raise
    except BaseException:
        with suppress(OSError):
            path.rmdir()
        raise


def _make_new(name: str) -> Path:
    root = Path(ROOT)
    path = root / name
    number = 1
    try:
        root.mkdir(parents=True, exist_ok=True)
        while True:
            try:
                _make(path)
                return path
            except FileExistsError:  # another run began in the same second
                number += 1
                path = root / f"{name}-{number}"
    except FileExistsError:
        raise RunDirectoryError(
            f"{root}: is a file, but should be the directory of all runs: move it away, or use "
            "--dir"
        ) from None
    except OSError as error:
        raise refused(path, "created", error) from error
