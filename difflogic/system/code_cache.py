"""The cache of compiled code on disk, and the rules for running code from it.

The cache `name` is the directory dct-`name` in NUMBA_CACHE_DIR if that is set. Otherwise it is
dct/`name` in the user's cache directory, XDG_CACHE_HOME or ~/.cache. Relative paths in these
variables are ignored, since anybody may have put files below the working directory.

Code from the cache runs as the user. So it is trusted as ssh trusts its keys: the file, its
directory and every directory above must belong to the user or root, and nobody else may write to
them. The exception is directories such as /tmp, where nobody may touch another user's files. The
file and its directory must not be links. Each file starts with a checksum, which finds damage but
stops no forger: whoever can write the file can write its checksum.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from difflogic.system.errors import RunDirectoryError
from difflogic.system.files import open_plain, write_whole

MOST_CACHED_BYTES = 2**26
"""Most bytes of a file. A circuit of 8000 gates takes a tenth of a megabyte."""

_MAGIC = b"dct-code\n"
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class CodeCache:
    """Machine code of one kind, under names that identify everything it depends on."""

    def __init__(self, name: str, what: str) -> None:
        """`what` names the kind of code in messages."""
        self._name = name
        self._what = what

    def directory(self) -> Path | None:
        """Return the cache's directory, which may not exist yet; None if there is no place."""
        numba = _absolute("NUMBA_CACHE_DIR")
        if numba is not None:
            return numba / f"dct-{self._name}"
        own = _absolute("XDG_CACHE_HOME")
        if own is not None:
            return own / "dct" / self._name
        home = Path(os.path.expanduser("~"))
        return home / ".cache" / "dct" / self._name if home.is_absolute() else None

    def problem(self) -> str | None:
        """Return why no code can be kept, with the remedy; None if it can."""
        place = self.directory()
        if place is None:
            return f"{self._what} are not kept, as there is no home: set XDG_CACHE_HOME"
        try:
            _make(place)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            return f"{place}: {self._what} cannot be kept: {why}: set NUMBA_CACHE_DIR"
        wrong = _untrusted(place)
        if wrong is None:
            return None
        return (
            f"{self._what} are not kept: {wrong} is a link, or may be changed by others: take it "
            "for yourself (chmod go-w), or set NUMBA_CACHE_DIR to a directory of your own"
        )

    def read(self, name: str) -> bytes | None:
        """Return the code of this name.

        None if it is missing or damaged, or if others may have written it.
        """
        place = self.directory()
        if place is None or _untrusted(place) is not None:
            return None
        try:
            content = _own_content(place / name)
        except (OSError, ValueError):
            return None
        code = content[len(_head(name, b"")) :]
        return code if content == _head(name, code) + code else None

    def keep(self, name: str, code: bytes) -> str | None:
        """Keep code under a name. Return why that failed, or None; a failure is harmless."""

        def write(file: BinaryIO) -> None:
            if hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), 0o600)
            file.write(_head(name, code) + code)

        problem = self.problem()
        place = self.directory()
        if problem is None and place is not None:
            try:
                write_whole(place / name, write)
            except (OSError, RunDirectoryError) as error:
                return f"{self._what} cannot be kept: {error}, with NUMBA_CACHE_DIR"
        return problem


def _absolute(variable: str) -> Path | None:
    path = Path(os.environ.get(variable) or ".")
    return path if path.is_absolute() else None


def _make(place: Path) -> None:
    """Create a directory, and those above it, for the user alone."""
    for each in (*reversed(place.parents), place):
        with suppress(FileExistsError):
            each.mkdir(mode=0o700)


def _own_content(path: Path) -> bytes:
    """Read a file. Raises OSError for a link, and if others may have written it."""
    with open_plain(path, follow=False) as file:
        found = os.fstat(file.fileno())
        if found.st_size > MOST_CACHED_BYTES or not _is_own(found):
            raise PermissionError(path)
        return file.read(MOST_CACHED_BYTES)


def _untrusted(place: Path) -> Path | None:
    """Return a directory that others may change: this one, or the nearest above it; None if none.

    A directory that is a link itself counts too. Links above it are followed: both the directory
    that holds the link and the one it points to are checked.
    """
    try:
        if place.is_symlink():
            return place
        real = place.resolve(strict=True)
        for each in dict.fromkeys([*place.parents, real, *real.parents]):
            found = each.stat()
            if not stat.S_ISDIR(found.st_mode) or not (_is_own(found) or _is_shared(found)):
                return each
    except (OSError, RuntimeError):  # a directory that is missing, a ring of links
        return place
    return None


def _is_own(found: os.stat_result) -> bool:
    """Return whether only the user or root may change the file."""
    if os.name != "posix":
        return True  # Windows has access lists, and a user's profile is private
    return found.st_uid in (0, os.geteuid()) and not found.st_mode & _OTHERS_WRITE


def _is_shared(found: os.stat_result) -> bool:
    """Return whether a directory is root's, and sticky: nobody may touch another's files in it."""
    return bool(found.st_uid == 0 and found.st_mode & stat.S_ISVTX)


def _head(name: str, code: bytes) -> bytes:
    """Return the header of a file, with the checksum."""
    return _MAGIC + hashlib.sha256(name.encode() + code).digest()
