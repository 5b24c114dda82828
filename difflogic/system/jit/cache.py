"""A disk cache for compiled kernels, in place of numba's own.

Numba's cache checks only the file of the kernel itself. After an edit of a callee in another file,
the old code would keep running. Here the name of a cached file is a hash of everything that the
code depends on. Also, numba's cache unpickles whatever it finds.

The protocol between numba's dispatcher and its cache is private. If a numba version changes it,
kernels are compiled in every process: better no cache than a stale one, or a crash.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import platform
import threading
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from difflogic.system.code_cache import CodeCache
from difflogic.system.jit.numba_settings import numba
from difflogic.system.jit.processor import target

SOURCES = Path(__file__).parents[2]

KERNEL_PACKAGES = (
    "system/jit",
    "engine/kernels",
    "simplification/kernels",
    "proof/kernels",
    "tasks/kernels",
)
"""Packages whose sources end up in kernels. They import nothing of dct but each other."""

LOG = logging.getLogger(__name__)

CODE = CodeCache("kernels", "compiled kernels")

SAVING = threading.Lock()
"""Held while a file is written: take it before ending the process abruptly."""

_warned: list[str] = []


def _warn(problem: str) -> None:
    """Log the first problem with the cache. Later ones follow from it."""
    if not _warned:
        _warned.append(problem)
        LOG.warning("warning: %s", problem)


def keep_code(dispatcher: Any, stamp: Callable[[], str]) -> None:
    """Make a compiled function keep its code on disk, if this version of numba allows it."""
    if hasattr(dispatcher, "_cache") and hasattr(dispatcher, "py_func"):
        counts = dispatcher.targetoptions.get("_nrt", True)
        dispatcher._cache = KernelCache(dispatcher.py_func, stamp, counts)


def keeps_code() -> bool:
    """Return whether compiled code can be kept on disk for other processes."""
    return CODE.problem() is None


def is_compiled(dispatcher: Any, precision: str | None = None) -> bool:
    """Return whether code of this function is on disk, for any types or those of a precision.

    Without the compiler nothing needs compiling, so this is True.
    """
    if getattr(numba.config, "DISABLE_JIT", False):
        return True
    found = getattr(dispatcher, "_cache", None)
    return isinstance(found, KernelCache) and found.holds(precision)


class KernelCache:
    """The cache of one numba dispatcher, which loads code before it compiles and saves it after.

    `load_overload` and `save_overload` never raise: with an unknown version of numba, the kernel
    is simply compiled.
    """

    cache_path = None

    def __init__(self, function: Any, stamp: Callable[[], str], counts: bool) -> None:
        """`counts` says whether the code counts references."""
        self._function = function
        self._stamp = stamp
        self._counts = counts

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compile result for these types; None if none is kept."""
        try:
            name = self._name(signature)
            content = CODE.read(name)
            if content is None:
                if name in _names():
                    _warn(
                        f"{CODE.directory()}: {name} is damaged, or others may have written it: "
                        "this kernel is compiled again. If that does not help, set NUMBA_CACHE_DIR "
                        "to a directory of your own"
                    )
                return None
            from numba.core.compiler import CompileResult
            from numba.core.runtime.nrt import rtsys

            # Initialise only this part of numba: the rest takes longer than loading all kernels.
            if self._counts:
                rtsys.initialize(target_context)
            return CompileResult._rebuild(target_context, *pickle.loads(content))
        except Exception as error:
            LOG.debug("%s: cannot be loaded: %r", self._function, error)
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compile result on disk, if possible."""
        try:
            if compiled.lifted or compiled.library.has_dynamic_globals:
                return
            name = self._name(signature)
            content = pickle.dumps(compiled._reduce())
        except Exception as error:
            LOG.debug("%s: cannot be kept: %r", self._function, error)
            return
        with SAVING:
            problem = CODE.keep(name, content)
        if problem is not None:
            _warn(f"{problem}. Until then kernels are compiled in every process")

    def holds(self, precision: str | None) -> bool:
        kinds = ["float32", "other"] if precision is None else [_kind(precision)]
        beginnings = tuple(f"{self._common}-{kind}-" for kind in kinds)
        return any(name.startswith(beginnings) for name in _names())

    def flush(self) -> None:
        """Do nothing: a file's name already holds everything that the code depends on."""

    enable = disable = flush

    def _name(self, signature: Any) -> str:
        types = str(signature)
        return f"{self._common}-{_kind(types)}-{_hash(types)}.code"

    @property
    def _common(self) -> str:
        """The beginning of the file names of this kernel."""
        name = f"{self._function.__module__}.{self._function.__qualname__}"
        return f"{name.removeprefix('difflogic.')}-{_hash(self._stamp() + _compiler())}"


def _names() -> list[str]:
    """Return the names of all cached files."""
    place = CODE.directory()
    try:
        return [] if place is None else os.listdir(place)
    except OSError:
        return []


def _kind(types: str) -> str:
    # A float32 kernel has float64 arguments too, since losses are added up in float64.
    return "float32" if "float32" in types else "other"


@cache
def _compiler() -> str:
    """Return the versions and the processor that the code depends on besides the sources."""
    import llvmlite

    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{python} {numba.__version__} {llvmlite.__version__} {target()}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:20]


@cache
def stamp() -> str:
    """Return the hash over the sources of all kernels."""
    return stamp_of(SOURCES / package for package in KERNEL_PACKAGES)


def stamp_of(places: Iterable[Path]) -> str:
    """Return a hash over the names and contents of Python files, and of all those in folders.

    One stamp serves all kernels, since a kernel's code contains that of the kernels it calls.
    """
    found = hashlib.sha256()
    for place in places:
        for path in sorted(place.rglob("*.py")) or [place]:
            content = path.read_bytes()
            found.update(f"{path.relative_to(place)} {len(content)}\n".encode() + content)
    return found.hexdigest()
