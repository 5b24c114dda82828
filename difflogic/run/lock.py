"""A lock that keeps two processes from writing to one run directory.

The operating system holds it, and releases it when its process ends in any way, so locks are never
stale. The file's content names the process, only for messages.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from difflogic.run.run_directory import LOCK
from difflogic.system.errors import DctError, LockLostError, RunDirectoryError, UnreadableError
from difflogic.system.files import cannot_read, open_inside, open_plain, read_inside, refused

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
