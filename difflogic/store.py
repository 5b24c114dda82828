"""Compiled code, kept on disk between processes, and trusted only where nobody else can write.

Machine code that is loaded is executed, so a file counts only if it belongs to this user, or to
root, and nobody else may write to it; if its directory is nobody else's and not open to all; and if
its content is what was written under its name. Anything else is as good as not there: the caller
compiles again. What goes wrong is said once per process, with the remedy, through `logging`.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
from pathlib import Path

from difflogic.errors import RunDirectoryError
from difflogic.files import open_plain, write_whole

LOG = logging.getLogger(__name__)

MAGIC = b"dct-code-1\n"

_SHARED = stat.S_IWGRP | stat.S_IWOTH


def cache_directory(name: str) -> Path | None:
    """Return where code of this kind is kept; it may not exist yet. None if there is no place.

    That is the directory dct-`name` in NUMBA_CACHE_DIR if that is set, else dct/`name` in the
    user's cache directory: XDG_CACHE_HOME, or ~/.cache. Not beside the sources, where numba would
    put it: those may be installed for all, and read-only.
    """
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(chosen) / f"dct-{name}"
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dct" / name
    except RuntimeError:  # a user without a home
        return None


class Store:
    """Files in one directory, each written whole, and read only if it may be trusted."""

    def __init__(self, directory: Path | None) -> None:
        self.directory = directory
        self._told = False
        self._usable: bool | None = None

    def read(self, name: str) -> bytes | None:
        """Return what was kept under `name`; None if it is not there, or not to be trusted."""
        if self.directory is None or not self._is_ours():
            return None
        path = self.directory / name
        try:
            with open_plain(path) as file:
                if not _private(os.fstat(file.fileno())):
                    self._tell(f"{path}: belongs to another user, or others may write to it")
                    return None
                content = file.read()
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            self._tell(f"{path}: {error}")
            return None
        kept = content[len(_head(name, b"")) :]
        if content != _head(name, kept) + kept:
            self._tell(f"{path}: is damaged, and is replaced")
            return None
        return kept

    def keep(self, name: str, content: bytes) -> None:
        """Write a file, replacing an earlier one. A place that takes none is no reason to fail."""
        if self.directory is None:
            self._tell("no cache directory: neither HOME nor XDG_CACHE_HOME says where it is")
            return

        def write(file: object) -> None:
            if hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), 0o600)  # type: ignore[attr-defined]
            file.write(_head(name, content) + content)  # type: ignore[attr-defined]

        try:
            if not self.directory.is_dir():
                self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._usable = None
            if self._is_ours():
                write_whole(self.directory / name, write)
        except (OSError, ValueError, RunDirectoryError) as error:
            self._tell(str(error))

    def _is_ours(self) -> bool:
        """Whether nobody else may put files into the directory; one that is not there yet is."""
        assert self.directory is not None
        if self._usable is None:
            try:
                found = self.directory.stat()
            except (OSError, ValueError):
                return True
            self._usable = _owned(found) and not found.st_mode & stat.S_IWOTH
            if not self._usable:
                self._tell(f"{self.directory}: belongs to another user, or all may write to it")
        return self._usable

    def _tell(self, problem: str) -> None:
        if not self._told:
            self._told = True
            LOG.warning(
                "warning: the cache of compiled code: %s\n"
                "What cannot be had from it is compiled again. To keep it elsewhere, set "
                "NUMBA_CACHE_DIR to a directory of your own.",
                problem,
            )


def _owned(found: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or found.st_uid in (os.geteuid(), 0)


def _private(found: os.stat_result) -> bool:
    return _owned(found) and (os.name != "posix" or not found.st_mode & _SHARED)


def _head(name: str, content: bytes) -> bytes:
    """Return what stands before the content of a file: so it is neither damaged nor another's."""
    return MAGIC + hashlib.sha256(name.encode() + b"\n" + content).digest()
