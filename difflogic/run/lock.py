"""Who may write to a run's directory, and what is removed from it.

A lock keeps two processes from writing to one directory. The operating system holds it, and
releases it when its process ends in any way, so locks are never stale. The file's content names the
process, only for messages. Runs and sweeps are removed under their locks: what `dct` wrote alone.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from difflogic.run.run_directory import ATTEMPT, LOCK, RunDirectory, size_of
from difflogic.system.errors import DctError, LockLostError, RunDirectoryError, UnreadableError
from difflogic.system.files import (
    cannot_read,
    is_folder,
    open_inside,
    open_plain,
    read_inside,
    refused,
    remove_leftovers,
)

MAX_HOLDER_BYTES = 2**12
GLANCE_SECONDS = 0.05
"""More than `is_held` takes: whoever begins meanwhile tries again."""

_TAKEN = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)
_BEYOND = 2**30
"""Offset of the locked byte on Windows, where other processes cannot read what is locked."""

if sys.platform == "win32":
    import msvcrt

    def _lock(file: BinaryIO) -> None:
        file.seek(_BEYOND)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        file.seek(0)
else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


class RunLock:
    """Holds a run directory for this process alone while entered.

    Raises RunDirectoryError if another process holds it (the message names it), if the directory
    cannot be written to, or if its file system has no locks. If somebody removes the file, another
    process can get in: call `require` before each write.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = directory / LOCK
        self._file: BinaryIO | None = None

    def __enter__(self) -> RunLock:
        try:
            self._acquire()
        except OSError as error:
            raise refused(self._path, "locked", error) from error
        return self

    def __exit__(self, *raised: object) -> None:
        self.release()

    def release(self) -> None:
        """Remove the file, and let others in; does nothing the second time."""
        # While still locked: whoever waits for this file then finds that the name has another one.
        try:
            self.remove()
        finally:
            if self._file is not None:
                self._file.close()
                self._file = None

    def remove(self) -> None:
        """Remove the file, if it is still this process's."""
        with suppress(OSError, DctError):  # Windows cannot remove an open file: leave it there
            if self.held:
                self._path.unlink()

    @property
    def held(self) -> bool:
        """Whether the file in the directory is still the one that this process has locked."""
        return self._file is not None and _is_at(self._file, self._path)

    def require(self) -> None:
        """Raise LockLostError if the file was removed or replaced: others may be writing.

        Raises nothing if the whole directory is gone, since nothing can be written there.
        """
        if not self.held and self._directory.is_dir():
            raise LockLostError(
                f"{self._path}: was removed or replaced while this process was using the "
                "directory, so that another process may be writing there"
            )

    def _acquire(self) -> None:
        while self._file is None:
            # Opening changes nothing in the file; that waits until the lock is held.
            file = open_inside(self._path)
            try:
                self._lock(file)
                if _is_at(file, self._path):
                    self._file = file
                    _write_holder(file)
                else:
                    file.close()  # its holder has just removed it
            except BaseException:
                if not _is_taken(file):  # interrupted, or a file system without locks
                    self._file = file
                    self.release()
                file.close()
                raise

    def _lock(self, file: BinaryIO) -> None:
        with suppress(OSError):
            return _lock(file)
        time.sleep(GLANCE_SECONDS)
        try:
            _lock(file)
        except OSError as error:
            if error.errno not in _TAKEN:
                raise
            raise RunDirectoryError(
                f"{self._directory}: in use by {_holder(self._path)}: wait until it ends, or "
                "stop it"
            ) from None


def is_held(directory: Path) -> bool:
    """Whether a process holds a directory's lock. Raises UnreadableError."""
    path = directory / LOCK
    try:
        with open_plain(path, follow=False) as file:
            return _is_taken(file)
    except OSError as error:
        if isinstance(found := cannot_read(path, error), UnreadableError):
            raise found from None
        return False


def _is_taken(file: BinaryIO) -> bool:
    try:
        _lock(file)
    except OSError as error:
        return error.errno in _TAKEN
    return False


def _is_at(file: BinaryIO, path: Path) -> bool:
    """Whether an open file is the one at `path`. Raises UnreadableError."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.lstat())
    except FileNotFoundError:
        return False
    except OSError as error:
        raise cannot_read(path, error) from None


def _write_holder(file: BinaryIO) -> None:
    holder = {"pid": os.getpid(), "host": socket.gethostname()}
    with suppress(OSError):  # a full disk is reported by more important files
        file.truncate(0)
        file.write(json.dumps(holder).encode())


def _holder(path: Path) -> str:
    try:
        holder: Any = json.loads(read_inside(path, MAX_HOLDER_BYTES))
        pid = int(holder["pid"])
        host = str(holder["host"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError, DctError):
        return "another process"
    if host != socket.gethostname():
        return f"process {pid} on {host}"
    return "this process itself" if pid == os.getpid() else f"process {pid}"


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
    """Remove the pending runs in a directory, and the files that were moved out of one.

    These files stay if all of them were moved: then the directory is a run. For the holder of its
    lock. Raises RunDirectoryError if the pending runs hold anything else.
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
