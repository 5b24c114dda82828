"""numba's cache of compiled functions, replaced by one that an edit of a callee empties.

numba's own compares a kernel's file with what it was, and not those of the kernels that it calls:
after an edit of a callee in another file the old code runs on. Here the name of a file is a hash of
all that the code depends on. numba's own also unpickles whatever it finds.

The protocol between numba's dispatcher and its cache is private. Where it has changed, kernels are
compiled in every process: no cache rather than a stale one, or a crash.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import platform
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

from difflogic.system.code_cache import CodeCache
from difflogic.system.jit.numba_settings import numba
from difflogic.system.jit.processor import target

LOG = logging.getLogger(__name__)


KEPT = CodeCache("kernels", "compiled kernels")

SAVING = threading.Lock()
"""Held while a file is written: a process that ends at once leaves half of one behind."""

_said: list[str] = []


def _say(problem: str) -> None:
    """Tell the first thing that goes wrong with the cache; what follows from it is the same."""
    if not _said:
        _said.append(problem)
        LOG.warning("warning: %s", problem)


def keep_code(dispatcher: Any, stamp: Callable[[], str]) -> None:
    """Let a compiled function keep its code on disk, if this numba can be taught to."""
    if hasattr(dispatcher, "_cache") and hasattr(dispatcher, "py_func"):
        dispatcher._cache = KernelCache(dispatcher.py_func, stamp)


def keeps_code() -> bool:
    """Return whether compiled code can be kept on disk, for other processes too."""
    return KEPT.problem() is None


def is_compiled(dispatcher: Any, precision: str | None = None) -> bool:
    """Return whether code of this function is kept, for some types or those of a precision."""
    found = getattr(dispatcher, "_cache", None)
    return isinstance(found, KernelCache) and found.holds(precision)


class KernelCache:
    """What a dispatcher of numba's asks for code before it compiles, and tells what it compiled.

    `load_overload` and `save_overload` fail at nothing: where anything is not as it was in the
    numba that this was written for, the kernel is compiled.
    """

    cache_path = None

    def __init__(self, function: Any, stamp: Callable[[], str]) -> None:
        self._function = function
        self._stamp = stamp

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compile result that was kept for these types; None if there is none."""
        try:
            name = self._name(signature)
            content = KEPT.read(name)
            if content is None:
                if name in _names():
                    _say(
                        f"{KEPT.directory()}: {name} is damaged, or others may have written it: "
                        "this kernel is compiled again. If that does not help, set NUMBA_CACHE_DIR "
                        "to a directory of your own"
                    )
                return None
            from numba.core.compiler import CompileResult
            from numba.core.runtime.nrt import rtsys

            # What else numba gets ready for compiling takes longer than to load all kernels.
            rtsys.initialize(target_context)
            return CompileResult._rebuild(target_context, *pickle.loads(content))
        except Exception as error:
            LOG.debug("%s: cannot be loaded: %r", self._function, error)
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compile result on disk, where it can be."""
        try:
            if compiled.lifted or compiled.library.has_dynamic_globals:
                return
            from numba.core.serialize import dumps

            name, content = self._name(signature), dumps(compiled._reduce())
        except Exception as error:
            LOG.debug("%s: cannot be kept: %r", self._function, error)
            return
        with SAVING:
            problem = KEPT.keep(name, content)
        if problem is not None:
            _say(f"{problem}. Until then kernels are compiled in every process")

    def holds(self, precision: str | None) -> bool:
        """Return whether code is kept, for any types or those of a precision."""
        kinds = ["float32", "other"] if precision is None else [_kind(precision)]
        beginnings = tuple(f"{self._common}-{kind}-" for kind in kinds)
        return any(name.startswith(beginnings) for name in _names())

    def flush(self) -> None:
        """Forget nothing: a name holds all that the code depends on."""

    enable = disable = flush

    def _name(self, signature: Any) -> str:
        types = str(signature)
        return f"{self._common}-{_kind(types)}-{_hash(types)}.code"

    @property
    def _common(self) -> str:
        """What the names of one kernel's files begin with."""
        name = f"{self._function.__module__}.{self._function.__qualname__}"
        return f"{name.removeprefix('difflogic.')}-{_hash(self._stamp() + _compiler())}"


def _names() -> list[str]:
    """Return the names of all files that are kept."""
    place = KEPT.directory()
    try:
        return [] if place is None else os.listdir(place)
    except OSError:
        return []


def _kind(types: str) -> str:
    # Losses are added up in float64, whatever the precision.
    return "float32" if "float32" in types else "other"


@cache
def _compiler() -> str:
    """Return what the code depends on besides the sources: the compiler and the processor."""
    import llvmlite

    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{python} {numba.__version__} {llvmlite.__version__} {target()}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:20]
