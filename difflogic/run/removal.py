"""What removing a run or a sweep removes: what `dct` wrote, and nothing else."""

from __future__ import annotations

import re
import stat
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path

from difflogic.run import lock
from difflogic.run.run_directory import ATTEMPT, LOCK, OF_RUN, OF_SWEEP, RunDirectory
from difflogic.system.errors import RunDirectoryError
from difflogic.system.files import read_inside, refused

_MOST_BYTES = 2**26
"""Far above what a configuration or a plan takes."""
_BEGINNING = re.compile(rb'# written [0-9T:.-]+Z by dct\n|format = "dct-sweep"\n')
_CODE = re.compile(r'^kind = "(?:[^"\n]*/)?([^"/\n]+\.py):\w+"$', re.MULTILINE)


@dataclass(frozen=True)
class Removable:
    """A run or sweep that may be removed."""

    path: Path
    files: tuple[Path, ...]
    runs: tuple[Path, ...]
    """The directories that hold them, to be locked."""
    folders: tuple[Path, ...]
    """All directories, the innermost first."""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.lstat().st_size for file in self.files)

    def remove(self) -> None:
        """Remove it. Raises RunDirectoryError if it is in use, or the system refuses."""
        try:
            with ExitStack() as locks:
                for run in self.runs:
                    locks.enter_context(lock.RunLock(run))
                for file in self.files:
                    file.unlink(missing_ok=True)
            for folder in self.folders:
                folder.rmdir()
        except OSError as error:
            raise refused(self.path, "removed", error) from error


def removable(name: str | Path) -> Removable:
    """Return what removing a run or sweep would remove.

    Follows no link. Raises RunDirectoryError if the directory is not a run's or holds anything that
    `dct` did not write there, and if a process uses it.
    """
    run = RunDirectory(Path(name))
    if not has_remains(run):
        run = RunDirectory.named(name, sweeps=True)
    path = run.path
    try:
        if path.is_symlink():
            raise RunDirectoryError(f"{path}: is a link: name the directory itself, or remove it")
        is_sweep, nested = run.is_sweep, run.is_sweep or has_remains(run)
        own, folders = _entries(path, OF_SWEEP if is_sweep else OF_RUN, nested)
        variants, runs = (folders, []) if is_sweep else ([], folders)
        runs += [each for variant in variants for each in _entries(variant, (), True)[1]]
        if strange := [each for each in runs if not (is_sweep or ATTEMPT.fullmatch(each.name))]:
            raise _unknown(strange[0])
        found = [file for each in runs for file in _entries(each, OF_RUN)[0]] + own
    except OSError as error:
        raise refused(path, "removed", error) from error
    for each in (path, *runs):
        if lock.is_held(each):
            with lock.RunLock(each):  # raises, and says who holds it
                pass
    return Removable(path, tuple(found), (path, *runs), (*runs, *variants, path))


def has_remains(run: RunDirectory) -> bool:
    """Whether a directory holds attempts of `train_examples`, which was killed or is under way."""
    try:
        return any(ATTEMPT.fullmatch(entry.name) for entry in run.path.iterdir())
    except (OSError, ValueError):  # no directory
        return False


def clear_remains(path: Path) -> None:
    """Empty a directory that holds no run, only attempts of a killed `train_examples`.

    Raises RunDirectoryError if it holds anything else, or a process uses it.
    """
    run = RunDirectory(path)
    if has_remains(run) and not run.config.exists():
        found = removable(path)
        replace(found, folders=found.folders[:-1]).remove()


def _unknown(entry: Path) -> RunDirectoryError:
    return RunDirectoryError(
        f"{entry}: dct did not write this into the run, and removes no run that holds it: "
        "move it away, or remove the directory yourself"
    )


def _entries(
    folder: Path, known: Sequence[str], nested: bool = False
) -> tuple[list[Path], list[Path]]:
    """Return the `known` files of a directory, in that order, and, if `nested`, its directories.

    Raises RunDirectoryError for any other entry, and if dct did not write the last of the known.
    """
    if not known or not (folder / known[-1]).exists():
        known = known[:1]  # nothing was written yet
    else:
        content = read_inside(folder / known[-1], _MOST_BYTES)
        if not _BEGINNING.match(content):
            raise RunDirectoryError(f"{folder}: is kept, since dct did not write its {known[-1]}")
        known = [*_CODE.findall(content.decode(errors="replace")), *known]
    found, folders = [], []
    for entry in sorted(folder.iterdir()):
        mode = entry.lstat().st_mode
        rank = next((i for i, name in enumerate(known) if fnmatch(entry.name, name)), None)
        if nested and stat.S_ISDIR(mode):
            folders.append(entry)
        elif stat.S_ISREG(mode) and rank is not None:
            found.append((rank, entry))
        elif entry.name != LOCK:
            raise _unknown(entry)
    return [entry for _, entry in sorted(found)], folders
