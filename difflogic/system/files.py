"""Files: read without trusting them, and written either whole or not at all.

A path that the user names may be a link. Inside a directory that somebody else may have made, such
as a run, only plain files are opened.
"""

from __future__ import annotations

import codecs
import errno
import hashlib
import os
import secrets
import shlex
import stat
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from difflib import get_close_matches
from fnmatch import fnmatch
from functools import cache, partial
from io import BufferedReader, BytesIO
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from difflogic.system.errors import (
    ConfigError,
    DctError,
    MissingFileError,
    RunDirectoryError,
    StorageError,
    UnreadableError,
)
from difflogic.system.work import undoing

CONFIG = "config.toml"
METRICS = "metrics.csv"
MODEL = "model.npz"
SUMMARY = "summary.json"
"""The files of a finished run."""
START = "start.npz"
ATTEMPTS = "attempts.json"
"""The saved model that it started from, and what was tried in learning from examples, if any."""
CHECKPOINTS = "checkpoint-*.npz"
OF_RUN = (CONFIG, START, METRICS, CHECKPOINTS, MODEL, ATTEMPTS, SUMMARY)
"""Patterns of all files of a run, in the order in which they are first written."""

LEFTOVERS = ".dct-*.tmp"
"""Matches the temporary files that killed processes leave behind."""

LAST = "last"
"""Names the newest run or sweep under a root, and so no file that is written."""
STANDARD = "-"
"""Stands for standard input and output where a file is named."""
MOST_STANDARD = 2**30
"""Bytes that are read from there: more than any reader takes."""

MOST_BESIDE = 1000
"""Files of a directory among which a missing one's nearest name is looked for."""

MAX_DIGESTED_BYTES = 2**32
"""As much as the metrics of ten million epochs."""

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
    errno.ELOOP: "it is a link that dct does not follow: remove it",
    errno.EMLINK: "it is a pipe or a device, or has another name elsewhere: remove it",
    errno.ENOLCK: "its file system has no locks: name a directory elsewhere",
    errno.ENOTSUP: "its file system has no locks: name a directory elsewhere",
    errno.ENOSYS: "its file system has no locks: name a directory elsewhere",
    errno.EMFILE: "allow more open files (ulimit -n), or use fewer workers",
    errno.ENFILE: "close other programs, which hold too many files open",
}


_STORAGE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE)

_MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)
"""What the system says of a path at which there is nothing."""
_NO_FILE = (*_MISSING, errno.EISDIR, errno.EINVAL, errno.ENXIO, errno.EFBIG)
"""What it, or `open_plain`, says of a path at which there is no plain file, now or later."""

_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_LFS = b"version https://git-lfs.github.com/spec/"
"""What Git has instead of a large file that was not fetched."""


@cache
def _standard_input() -> bytes:
    return sys.stdin.buffer.read(MOST_STANDARD)


def open_plain(path: Path, follow: bool = True) -> BufferedReader:
    """Open a plain file, or "-", for reading, without ever waiting for another pipe or a device.

    A link is opened only if `follow`. Raises OSError, also for anything but a plain file, and
    ValueError for an impossible path.
    """
    if str(path) == STANDARD:
        return BufferedReader(BytesIO(_standard_input()))

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | _NO_WAIT | (0 if follow else _NO_LINK))

    file = open(path, "rb", opener=opener)  # noqa: SIM115 - the caller closes it
    try:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            why = "not a regular file: copy its output to one first"
            raise OSError(errno.EINVAL, why, str(path))
        if file.peek(len(_LFS)).startswith(_LFS):
            raise OSError(errno.EINVAL, "only a pointer to it: fetch it by git lfs pull", str(path))
    except OSError:
        file.close()
        raise
    return file


def cannot_read(
    path: Path, error: OSError | ValueError, kind: type[DctError] = RunDirectoryError
) -> DctError:
    """Return the error for something that cannot be read.

    UnreadableError if the system refuses it now; `kind` if there is nothing that could be read,
    such as a link or a pipe where a file should be.
    """
    if isinstance(error, OSError) and error.errno not in _NO_FILE:
        kind = UnreadableError
    return kind(f"{path}: cannot be read: {reason(error)}")


def read_inside(path: Path, largest: int) -> bytes:
    """Read a plain file of at most `largest` bytes in a directory that may be somebody else's.

    Raises FileNotFoundError if it is missing, UnreadableError if the system refuses it, and
    RunDirectoryError if it is no such file.
    """
    content = _content(path, largest, False, RunDirectoryError)
    if len(content) > largest:
        raise RunDirectoryError(f"{path}: is damaged: it is larger than any file of its kind")
    return content


def read_named(path: Path, largest: int, kind: str) -> bytes:
    """Read a plain file of at most `largest` bytes that the user named, perhaps through a link.

    `kind` names such a file in messages, as in "a picture". Raises MissingFileError if there is no
    such file, UnreadableError if the system refuses it, and ConfigError if it cannot be used.
    """
    try:
        content = _content(path, largest, True, ConfigError)
    except FileNotFoundError as error:
        raise MissingFileError(f"{path}: cannot be read: {reason(error)}{nearest(path)}") from None
    if len(content) > largest:
        raise ConfigError(f"{path}: is larger than {largest} bytes: this is not {kind}")
    if not content:
        raise ConfigError(f"{path}: is empty: this is not {kind}")
    return content


def _content(path: Path, largest: int, follow: bool, kind: type[DctError]) -> bytes:
    """Return the beginning of a file, one byte more than `largest`."""
    try:
        with open_plain(path, follow) as file:
            return file.read(largest + 1)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise cannot_read(path, error, kind) from None


def nearest(path: Path, names: Iterable[str] = ()) -> str:
    """Return a hint at what may be meant by a missing file: one of its suffix, or of `names`."""
    known = {Path(name).name: name for name in names}
    with suppress(OSError, ValueError):
        beside = islice(path.parent.iterdir(), MOST_BESIDE)
        alike = (each for each in beside if "" != each.suffix == path.suffix and each.is_file())
        known |= {each.name: str(each) for each in alike}
    found = get_close_matches(path.name, known, 1)
    return f": did you mean {for_shell(known[found[0]])}?" if found else ""


def open_inside(path: Path) -> BinaryIO:
    """Open a file in such a directory for reading and appending; create it if it is missing.

    Raises OSError, also for a link, a file with several names, and anything but a plain file.
    """

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | _NO_WAIT | _NO_LINK, 0o666)

    file = open(path, "a+b", buffering=0, opener=opener)  # noqa: SIM115 - the caller closes it
    found = os.fstat(file.fileno())
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        file.close()
        raise OSError(errno.EMLINK, "not a regular file of its own", str(path))
    return file


def write_inside(path: Path, text: str) -> None:
    """Write a short text to a file in such a directory, in place. Raises OSError."""
    with open_inside(path) as file:
        file.truncate(0)
        file.write(text.encode())


def require_directory(path: Path) -> None:
    """Raise RunDirectoryError if `path`, in such a directory, exists and is not a directory."""
    if kind_of(path, follow=False) not in (0, stat.S_IFDIR):
        raise RunDirectoryError(
            f"{path}: is not a directory, or a link, which dct does not follow: move it away"
        )


def kind_of(path: Path, follow: bool = True) -> int:
    """Return the kind of what is at `path`, as `stat.S_IFMT` does; 0 if there is nothing.

    Raises UnreadableError if the system does not say.
    """
    try:
        return stat.S_IFMT(path.stat(follow_symlinks=follow).st_mode)
    except ValueError:  # a NUL in the path
        return 0
    except OSError as error:
        if error.errno in _MISSING:
            return 0
        raise cannot_read(path, error) from None


def is_file(path: Path) -> bool:
    """Whether there is a plain file, or a link to one. Raises UnreadableError."""
    return kind_of(path) == stat.S_IFREG


def is_folder(path: Path) -> bool:
    """Whether there is a directory, and no link to one. Raises UnreadableError."""
    return kind_of(path, follow=False) == stat.S_IFDIR


def listed(folder: Path) -> list[Path]:
    """Return what is in a directory, by name.

    Raises FileNotFoundError if there is nothing, and UnreadableError or RunDirectoryError.
    """
    try:
        return sorted(folder.iterdir())
    except FileNotFoundError:
        raise
    except OSError as error:
        raise cannot_read(folder, error) from None


def digest(path: Path) -> str | None:
    """Return the SHA-256 of a file in such a directory, in hexadecimal; None if it is missing.

    Raises UnreadableError or RunDirectoryError.
    """
    try:
        with open_plain(path, follow=False) as file:
            if os.fstat(file.fileno()).st_size > MAX_DIGESTED_BYTES:
                raise OSError(errno.EFBIG, "larger than any file of dct's", str(path))
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise cannot_read(path, error) from None


def for_shell(path: str | Path) -> str:
    """Quote a path for a command line that the user may copy.

    A name that begins with a dash must not be taken for an option. Characters that a terminal
    would not print as such are escaped, in the quotes of bash and zsh.
    """
    text = f"./{path}" if str(path).startswith("-") else str(path)
    if text.isprintable():
        return shlex.quote(text)
    return f"$'{''.join(map(_escaped, text))}'"


def _escaped(sign: str) -> str:
    if sign in "\\'":
        return f"\\{sign}"
    if sign.isprintable():
        return sign
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(sign))


def reason(error: Exception) -> str:
    """Return why something cannot be read."""
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        return "it is a link that dct does not follow: put the file itself in its place"
    return (getattr(error, "strerror", None) or str(error)).lower()


def write_whole(path: Path, writer: Callable[[BinaryIO], object]) -> None:
    """Write a temporary file with `writer`, then rename it to `path`, replacing an earlier file.

    Whatever goes wrong, even an interrupt, `path` is the earlier file or the whole new one, and
    nothing else is left behind. Raises RunDirectoryError, with the remedy, if the system refuses.

    Renaming also replaces a link, a pipe or a device, which is right in the program's own
    directories. Use `check_output` first for paths that users name.
    """
    if str(path) == STANDARD:
        with open(1, "wb", closefd=False) as stdout:
            writer(stdout)
        return
    aside = path.with_name(f".dct-{secrets.token_hex(8)}.tmp")
    remove = partial(aside.unlink, missing_ok=True)
    action = "written"
    try:
        try:
            with undoing(remove):
                with aside.open("xb") as file:
                    writer(file)
                    file.flush()
                    # Otherwise a crash soon after the renaming could leave an empty file.
                    os.fsync(file.fileno())
                aside.replace(path)
        except BaseException:
            remove()
            raise
        action = "kept through a crash, though it is written"
        _flush_names(path.parent)
    except OSError as error:
        raise refused(path, action, error) from error


def check_output(path: Path | None, force: bool = False) -> None:
    """Raise RunDirectoryError unless a file may be written at `path`, if a user named one.

    An earlier file may be replaced only with `force`, only if it is a regular file, and never if it
    is one of a run's. A link is neither replaced nor followed: it may lead to standard output.
    """
    if path is None or str(path) == STANDARD:
        return
    found = kind_of(path, follow=False)
    if str(path) == LAST:
        raise RunDirectoryError(f"{path}: means the newest run: name a file, such as {path}.json")
    if stat.S_IFDIR in (found, kind_of(path)):
        raise RunDirectoryError(f"{path}: is a directory: name a file")
    if found == stat.S_IFLNK:
        if os.readlink(path).startswith(("/proc/", "/dev/")):
            what = f"leads to a stream: for standard output, name it {STANDARD}"
        else:
            what = "is a link: name the file that it should lead to"
        raise RunDirectoryError(f"{path}: {what}")
    if found not in (0, stat.S_IFREG):
        raise RunDirectoryError(f"{path}: is not a regular file: choose another path")
    if found and _is_of_run(path):
        raise RunDirectoryError(
            f"{path}: belongs to the run in that directory, which is never overwritten: choose "
            "another path"
        )
    if found and not force:
        raise RunDirectoryError(f"{path}: exists already: give --force to overwrite it")
    parent = path.absolute().parent
    probe = parent / f".dct-{secrets.token_hex(8)}.tmp"
    try:
        probe.open("xb").close()
    except FileNotFoundError:  # from a directory, too, as in /proc
        number = errno.EACCES if is_folder(parent) else errno.ENOENT
        raise refused(path, "written", OSError(number, os.strerror(number))) from None
    except OSError as error:
        raise refused(path, "written", error) from error
    finally:
        with suppress(OSError):
            probe.unlink()


def require_output(file: str | Path, suffixes: str | tuple[str, ...], force: bool = False) -> Path:
    """Return a file's path. Raises ConfigError or RunDirectoryError unless it may be written."""
    path = Path(file)
    allowed = (suffixes,) if isinstance(suffixes, str) else suffixes
    if path.suffix not in allowed:
        raise ConfigError(f"{file}: the file name must end in {', '.join(allowed)}")
    check_output(path, force)
    return path


def write_output(file: str | Path, content: str | bytes, force: bool = False) -> None:
    """Write a file. Raises RunDirectoryError if it cannot, or if it exists without `force`."""
    data = content.encode() if isinstance(content, str) else content
    check_output(Path(file), force)
    write_whole(Path(file), lambda out: out.write(data))


def _is_of_run(path: Path) -> bool:
    """Return whether this is one of the files that training wrote in its run's directory."""
    own = any(fnmatch(path.name, name) for name in OF_RUN)
    return own and all(is_file(path.parent / name) for name in (CONFIG, METRICS))


def _flush_names(directory: Path) -> None:
    """Make the names in `directory` survive a system crash, if the system supports that."""
    if os.name != "posix":
        return
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except PermissionError:  # a directory may be writable but not readable
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems cannot flush directories. The file is whole anyway.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(descriptor)


def remove_leftovers(directory: Path) -> None:
    """Remove temporary files of killed processes. No other process may be using `directory`."""
    with suppress(OSError):  # a leftover does no harm
        for path in directory.glob(LEFTOVERS):
            path.unlink(missing_ok=True)


def refused(path: Path, action: str, error: OSError) -> RunDirectoryError:
    """Return the error that says why `path` cannot be written or created, and what to do."""
    reason = error.strerror or str(error)
    remedy = _REMEDIES.get(error.errno or 0, "check the disk and the path, or write elsewhere")
    kind = StorageError if error.errno in _STORAGE_ERRORS else RunDirectoryError
    return kind(f"{path}: cannot be {action}: {reason.lower()}: {remedy}")


def text_of(content: bytes) -> str:
    """Return the text in a file: UTF-8, or UTF-16 if it begins with that mark.

    A mark is dropped, and what is no such text becomes U+FFFD.
    """
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if wide else "utf-8-sig", "replace")
