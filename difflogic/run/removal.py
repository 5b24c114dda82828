"""What is removed: runs and sweeps, of what `dct` wrote alone, and what killed processes left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from difflogic.run.lock import RunLock, is_held
from difflogic.run.run_directory import ATTEMPT, RunDirectory, size_of
from difflogic.system.errors import RunDirectoryError
from difflogic.system.files import is_folder, refused, remove_leftovers

CONTROL = ".running-"
"""Prefix of the name of the directory by which a sweep stops its runs."""

Part = tuple[Path, Sequence[Path]]
"""A directory, and its files in the order of their removal."""


@dataclass(frozen=True)
class Removable:
    """A run or sweep that may be removed."""

    path: Path
    parts: tuple[Part, ...]
    """In the order of their removal."""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(size_of(file) for _, files in self.parts for file in files)

    def remove(self) -> None:
        """Remove it. Raises RunDirectoryError if it is in use, or the system refuses."""
        try:
            _remove(self.parts)
        except OSError as error:
            raise refused(self.path, "removed", error) from error


def removable(name: str | Path) -> Removable:
    """Return what removing a run or sweep would remove, or what a killed process left of one.

    Follows no link. Raises RunDirectoryError if the directory is not a run's or holds anything that
    `dct` did not write there, and if a process uses it.
    """
    run = RunDirectory(Path(name))
    if not run.has_remains:
        run = RunDirectory.named(name, sweeps=True)
    path = run.path
    try:
        if path.is_symlink():
            raise RunDirectoryError(f"{path}: is a link: name the directory itself, or remove it")
        parts = tuple(_parts(run, above=2 if run.is_sweep else 0))
    except OSError as error:
        raise refused(path, "removed", error) from error
    for folder, _ in parts:
        if is_held(folder):
            with RunLock(folder):  # raises, and says who holds it
                pass
    return Removable(path, parts)


@contextmanager
def holding(run: RunDirectory) -> Iterator[RunLock]:
    """Lock a directory, and remove what killed processes left there.

    If it was made for this run and is empty in the end, it is removed, too.
    """
    try:
        with RunLock(run.path) as lock:
            remove_leftovers(run.path)
            clear(run)
            yield lock
    finally:
        run.remove_if_made()


def clear(run: RunDirectory) -> None:
    """Remove the runs inside of a directory, and files that were moved out of them unless all were.

    For the holder of its lock. Raises RunDirectoryError if they hold anything else.
    """
    pending = run.pending
    found = pending if run.is_run or not pending else [run]
    parts = [part for each in found for part in _parts(each)]
    _remove([part for part in parts if part[0] != run.path])


def _parts(run: RunDirectory, above: int = 0) -> Iterator[Part]:
    """Yield each directory after those in it. A sweep is `above` = 2 its runs, a variant 1.

    Raises RunDirectoryError if there is anything that `dct` did not write there.
    """
    own, others = run.split()
    if above and run.path.name.startswith(CONTROL):
        own, others = others, own
    own.reverse()
    for entry in others:
        if not (is_folder(entry) and (above or ATTEMPT.fullmatch(entry.name))):
            raise RunDirectoryError(
                f"{entry}: dct did not write this into the run, and removes no run that holds it: "
                "move it away, or remove the directory yourself"
            )
        for folder, paths in _parts(RunDirectory(entry), max(0, above - 1)):
            # What was moved out of a pending run is known as such while that is there.
            moved, own = ([], own) if run.is_run or run.is_sweep else (own, [])
            yield folder, (*moved, *paths)
    yield run.path, own


def _remove(parts: Sequence[Part]) -> None:
    """Remove directories, each while it is locked; if one is in use, remove nothing."""
    with ExitStack() as stack:
        locks = {path: stack.enter_context(RunLock(path)) for path, _ in reversed(parts)}
        for folder, paths in parts:
            for path in paths:
                path.unlink(missing_ok=True)
            locks[folder].release()
            folder.rmdir()
