"""Files: read without trusting them, and written so that they appear whole or not at all.

A path that the user names may be a link. Files inside a named directory, which somebody else may
have made, are opened only if they are plain files.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shlex
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from difflogic.system.errors import ConfigError, RunDirectoryError, StorageError

LEFTOVERS = ".dct-*.tmp"
"""Matches temporary files of killed processes."""

MAX_DIGESTED_BYTES = 2**32
"""Metrics of ten million epochs."""

_REMEDIES = {
    errno.ENOSPC: "free some space there, or write elsewhere",
    errno.EDQUOT: "free some of your quota, or write elsewhere",
    errno.EFBIG: "raise the limit on the size of files, or write elsewhere",
    errno.EROFS: "write to a place that is not read-only",
    errno.EACCES: "check the directory's permissions, or write elsewhere",
    errno.EPERM: "check the directory's permissions, or write elsewhere",
    errno.ENOENT: "create the directory first, or write elsewhere",
    errno.ENOTDIR: "a part of the path is a file: choose another path",
    errno.EISDIR: "the path is a directory: choose another path",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ELOOP: "it is a link, and none is followed there: remove it",
    errno.EMLINK: "it is a pipe or a device, or has another name elsewhere: remove it",
    errno.EMFILE: "allow more open files (ulimit -n), or use fewer workers",
    errno.ENFILE: "close other programs, which hold too many files open",
}


_OF_THE_STORAGE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE)

_AT_ONCE = getattr(os, "O_NONBLOCK", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def open_plain(path: Path, follow: bool = True) -> BinaryIO:
    """Open a plain file to read, without ever waiting for a pipe or a device.

    A link is opened only if `follow`. Raises OSError, also if it is not a plain file, and
    ValueError for an impossible path.
    """

    def at_once(name: str, flags: int) -> int:
        return os.open(name, flags | _AT_ONCE | (0 if follow else _NO_LINK))

    file = open(path, "rb", opener=at_once)  # noqa: SIM115 - the caller closes it
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "not a regular file: copy its output to one first", str(path))
    return file


def read_inside(path: Path, largest: int) -> bytes:
    """Read a plain file of bounded size in a directory that may be somebody else's.

    Raises FileNotFoundError if it is missing, and RunDirectoryError if it cannot be used.
    """
    try:
        with open_plain(path, follow=False) as file:
            content = file.read(largest + 1)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise RunDirectoryError(f"{path}: cannot be read: {reason(error)}") from None
    if len(content) > largest:
        raise RunDirectoryError(f"{path}: is damaged: it is larger than any file of its kind")
    return content


def read_named(path: Path, largest: int) -> bytes:
    """Read a plain file of bounded size that the user named. Raises ConfigError."""
    try:
        with open_plain(path) as file:
            content = file.read(largest + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise ConfigError(f"{path}: cannot be read: {reason(error)}") from None
    if len(content) > largest:
        raise ConfigError(f"{path}: is larger than {largest} bytes: cut it")
    return content


def open_inside(path: Path) -> BinaryIO:
    """Open a file to read and append in such a directory, made if it is missing; nothing is cut.

    Raises OSError, also for a link, a file with several names, and anything but a plain file.
    """

    def here(name: str, flags: int) -> int:
        return os.open(name, flags | _AT_ONCE | _NO_LINK, 0o666)

    file = open(path, "a+b", buffering=0, opener=here)  # noqa: SIM115 - the caller closes it
    found = os.fstat(file.fileno())
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        file.close()
        raise OSError(errno.EMLINK, "not a regular file of its own", str(path))
    return file


def write_inside(path: Path, text: str) -> None:
    """Write a short text in such a directory, in place. Raises OSError."""
    with open_inside(path) as file:
        file.truncate(0)
        file.write(text.encode())


def require_directory(path: Path) -> None:
    """Raise RunDirectoryError if `path`, inside such a directory, is there and no directory."""
    with suppress(FileNotFoundError):
        if not stat.S_ISDIR(path.lstat().st_mode):
            raise RunDirectoryError(
                f"{path}: is not a directory, or a link, which dct does not follow: move it away"
            )


def is_there(path: Path) -> bool:
    """Whether something exists at `path`. Raises OSError if that cannot be determined."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def digest(path: Path) -> str:
    """Return the SHA-256 of such a file, as hexadecimal digits. Raises OSError."""
    with open_plain(path, follow=False) as file:
        if os.fstat(file.fileno()).st_size > MAX_DIGESTED_BYTES:
            raise OSError(errno.EFBIG, "larger than any file of dct's", str(path))
        found = hashlib.sha256()
        while block := file.read(2**20):
            found.update(block)
        return found.hexdigest()


def for_shell(path: str | Path) -> str:
    """Return a path as a word of a command line that a user may copy."""
    return shlex.quote(str(path))


def reason(error: Exception) -> str:
    """Say why something cannot be read."""
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        return "it is a link, and none is followed there: put the file itself in its place"
    return (getattr(error, "strerror", None) or str(error)).lower()


def write_whole(path: Path, writer: Callable[[BinaryIO], object]) -> None:
    """Write a temporary file with `writer`, then rename it to `path`, replacing an earlier file.

    Whatever goes wrong, even an interrupt, the earlier file is unchanged and nothing else is left
    behind. Raises RunDirectoryError, with the remedy, if the system refuses.

    The renaming replaces a link, a pipe or a device of that name, which is right in a directory of
    the program's own; see `check_output` for paths that users name.
    """
    aside = path.with_name(f".dct-{secrets.token_hex(8)}.tmp")
    try:
        try:
            with aside.open("xb") as file:
                writer(file)
                file.flush()
                # Else a crash soon after the renaming could leave an empty file.
                os.fsync(file.fileno())
            aside.replace(path)
            _make_names_last(path.parent)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise refused(path, "written", error) from error


def check_output(
    path: Path, force: bool = False, remedy: str = "give --force to overwrite it"
) -> None:
    """Raise RunDirectoryError unless a file may be written at `path`, which a user named.

    An earlier file is only replaced with `force`, and what is no regular file never is; `remedy`
    is for who has named an earlier one.
    """
    if path.is_dir():
        raise RunDirectoryError(f"{path}: is a directory: name a file")
    if os.path.lexists(path) and not path.is_file():
        raise RunDirectoryError(f"{path}: is not a regular file: choose another path")
    if path.exists() and not force:
        raise RunDirectoryError(f"{path}: exists already: {remedy}")
    parent = path.absolute().parent
    if not parent.is_dir():
        raise refused(path, "written", OSError(errno.ENOENT, os.strerror(errno.ENOENT)))
    if not os.access(parent, os.W_OK | os.X_OK):
        raise refused(path, "written", OSError(errno.EACCES, os.strerror(errno.EACCES)))


def check_new_output(path: Path) -> None:
    """Raise RunDirectoryError unless a new file may be written at `path`, which a user named."""
    check_output(path, remedy="choose another path")


def write_new(path: Path, writer: Callable[[BinaryIO], object]) -> None:
    """Write a file as `write_whole` does, at a path that `check_new_output` found free before.

    It checks again, since a file may have appeared there.
    """
    check_new_output(path)
    write_whole(path, writer)


def _make_names_last(directory: Path) -> None:
    """Make the names in `directory` survive a system crash, where the system supports it."""
    if os.name != "posix":
        return
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except PermissionError:  # one may write into a directory that one may not list
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems have no such thing for directories; the file is whole all the same.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(descriptor)


def remove_leftovers(directory: Path) -> None:
    """Remove temporary files of killed processes; only if no other process uses `directory`."""
    for path in directory.glob(LEFTOVERS):
        with suppress(OSError):  # it does no harm
            path.unlink(missing_ok=True)


def refused(path: Path, action: str, error: OSError) -> RunDirectoryError:
    """Return the error that says why `path` cannot be written or created, and what to do."""
    reason = error.strerror or str(error)
    remedy = _REMEDIES.get(error.errno or 0, "check the disk and the path, or write elsewhere")
    kind = StorageError if error.errno in _OF_THE_STORAGE else RunDirectoryError
    return kind(f"{path}: cannot be {action}: {reason.lower()}: {remedy}")
