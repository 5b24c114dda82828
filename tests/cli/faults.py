"""Faults of the file system and stops, at every file operation of a command."""

import builtins
import errno
import fcntl
import io
import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self
from unittest import mock

FAULTS = ("interrupt", "interrupt after", "ENOSPC", "EIO", "EACCES", "kill")
READING = ("EIO", "EACCES", "EMFILE")
"""What the system may say of what it does not let a program read now."""


class Killed(BaseException):
    """The program ended: nothing that it does from here on reaches the disk."""


class Faults:
    """While entered, counts what is done to files below `root`, and lets the operation `at` fail.

    "interrupt" raises KeyboardInterrupt instead of the operation, "interrupt after" behind it;
    "kill" ends the program behind it; else `fault` names the error of the system. With `reading`,
    these are the reads: opening a file for it, its first read, `stat`, and lists of directories.
    """

    def __init__(self, root: Path, at: int = -1, fault: str = "", *, reading: bool = False) -> None:
        self.done: list[str] = []
        """The operations so far."""
        self._root = os.path.realpath(root)
        self._at = at
        self._fault = fault
        self.reading = reading
        self._looking = False
        self.dead = False
        self._locks: list[int] = []
        self._patches = ExitStack()

    def __enter__(self) -> Self:
        one = self._first
        both = self._second
        if self.reading:
            for name in ("stat", "lstat", "fstat", "listdir", "scandir"):
                self._patch(os, name, self._counted(getattr(os, name), one, name))
            self._patch(os, "open", self._open_descriptor(os.open, 0))
            for module in (io, builtins):
                self._patch(module, "open", self._open_file(builtins.open, "r"))
            return self
        for module, name, place, what in (
            (os, "fsync", one, "fsync"),
            (os, "unlink", one, "unlink"),
            (os, "remove", one, "unlink"),
            (os, "mkdir", one, "mkdir"),
            (os, "rmdir", one, "rmdir"),
            (os, "rename", both, "rename"),
            (os, "replace", both, "rename"),
            (fcntl, "flock", one, "lock"),
        ):
            self._patch(module, name, self._counted(getattr(module, name), place, what))
        self._patch(os, "open", self._open_descriptor(os.open, os.O_CREAT))
        for module in (io, builtins):
            self._patch(module, "open", self._open_file(builtins.open, "wxa+"))
        return self

    def __exit__(self, *raised: object) -> None:
        self._patches.close()
        if self.dead:  # the system takes a dead process's locks away
            for descriptor in self._locks:
                with suppress(OSError):
                    fcntl.flock(descriptor, fcntl.LOCK_UN)

    def step(self, what: str, operation: Callable[[], Any], path: Any = None) -> Any:
        """Do an operation, on what is at `path`, unless it is the one that fails."""
        if self.dead:
            raise Killed
        number = len(self.done)
        self.done.append(what)
        if number != self._at:
            return operation()
        if hasattr(errno, self._fault):
            code = getattr(errno, self._fault)
            raise OSError(code, os.strerror(code), path)
        if self._fault == "interrupt":
            raise KeyboardInterrupt
        operation()
        self.dead = self._fault == "kill"
        raise Killed if self.dead else KeyboardInterrupt

    def _patch(self, module: Any, name: str, new: Any) -> None:
        self._patches.enter_context(mock.patch.object(module, name, new))

    def _counted(self, real: Any, place: Callable[..., str], what: str) -> Any:
        def call(*arguments: Any, **more: Any) -> Any:
            if not self._is_below(place(*arguments, **more)):
                return real(*arguments, **more)
            if what == "lock":
                self._locks.append(arguments[0])
            path = arguments[0] if arguments and not isinstance(arguments[0], int) else None
            return self.step(what, lambda: real(*arguments, **more), path)

        return call

    def _open_descriptor(self, real: Any, wanted: int) -> Any:
        def call(path: Any, flags: int, *arguments: Any, **more: Any) -> Any:
            if not (flags & os.O_CREAT == wanted and self._is_below(self._first(path, **more))):
                return real(path, flags, *arguments, **more)
            return self.step("open", lambda: real(path, flags, *arguments, **more), path)

        return call

    def _open_file(self, real: Any, modes: str) -> Any:
        def call(file: Any, mode: str = "r", buffering: int = -1, *text: Any, **more: Any) -> Any:
            wanted = {*mode} & {*modes} and not isinstance(file, int)
            if not (wanted and self._is_below(os.fspath(file))):
                return real(file, mode, buffering, *text, **more)
            opener = more.pop("opener", None)
            plain = mode.replace("b", "").replace("t", "")
            raw = (lambda: _Raw(self, file, plain, opener=opener)) if opener else None
            found = raw() if raw else self.step("open", lambda: _Raw(self, file, plain), file)
            if buffering == 0:
                return found
            kind = io.BufferedRandom if "+" in mode else io.BufferedWriter
            buffered = (io.BufferedReader if plain == "r" else kind)(found)
            return buffered if "b" in mode else io.TextIOWrapper(buffered, *text, **more)

        return call

    def _first(self, path: Any, *_: Any, dir_fd: int | None = None, **more: Any) -> str:
        if isinstance(path, int):
            return os.readlink(f"/proc/self/fd/{path}")
        text = os.fsdecode(path)
        return text if dir_fd is None else f"/proc/self/fd/{dir_fd}/{text}"

    def _second(self, _: Any, target: Any, *__: Any, **more: Any) -> str:
        return self._first(target)

    def _is_below(self, path: str) -> bool:
        if self._looking:  # this asks the system, too
            return False
        self._looking = True
        try:
            parent, name = os.path.split(os.path.abspath(path))
            return f"{os.path.realpath(parent)}/{name}/".startswith(f"{self._root}/")
        finally:
            self._looking = False


class _Raw(io.FileIO):
    """A file whose first read, or write, is an operation; those that follow change nothing."""

    def __init__(self, faults: Faults, *arguments: Any, **more: Any) -> None:
        self._faults = faults
        self._begun = False
        super().__init__(*arguments, **more)

    def readall(self) -> bytes:
        return self._once(super().readall)

    def readinto(self, buffer: Any) -> int:
        read = super().readinto
        return self._once(lambda: read(buffer))

    def _once(self, read: Callable[[], Any]) -> Any:
        begun, self._begun = self._begun, True
        return read() if begun or not self._faults.reading else self._faults.step("read", read)

    def write(self, content: Any) -> int:
        if self._faults.dead:
            return len(content)
        begun, self._begun = self._begun, True
        write = super().write
        found: int = write(content) if begun else self._faults.step("write", lambda: write(content))
        return found
