"""The one decorator that makes a kernel, so that no kernel can lack a flag."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numba

from difflogic.system.jit.cache import keep_code
from difflogic.system.jit.sources import stamp

JIT = not getattr(numba.config, "DISABLE_JIT", False)
"""Whether kernels are compiled; with NUMBA_DISABLE_JIT=1 they run as the Python they are."""


def kernel(function: Callable) -> Any:
    """Compile lazily, keep the code on disk under all kernels' stamp, and release the GIL.

    No fastmath: the vectors contract by themselves, and sums keep their order.
    """
    return make_kernel(function, stamp)


def borrowing_kernel(function: Callable) -> Any:
    """Make a kernel that allocates and returns no array, and so counts no references.

    Numba counts them by atomic additions wherever an array is taken out of a tuple: in a kernel of
    many short loops that was nine tenths of its time.
    """
    return make_kernel(function, stamp, _nrt=False)


def part(function: Callable) -> Any:
    """Make a part of kernels, which only they call, and which allocates and returns no array.

    What Python would need to call it is left out: to take a tuple of tuples of arrays to pieces
    takes longer to compile than most parts themselves. Python's call raises TypeError.
    """
    made = make_kernel(function, stamp, _nrt=False, no_cpython_wrapper=True)
    if JIT:
        _refuse_python(made)
    return made


def inlined(function: Callable) -> Any:
    """Put a function's body where a kernel calls it, and compile it only there.

    A part's code is optimised again in every kernel that calls it: a tower of five takes five
    times as long. Worth it where there is one call.
    """
    return numba.njit(nogil=True, error_model="numpy", inline="always")(function)


def make_kernel(function: Callable, stamp: Callable[[], str], **options: Any) -> Any:
    """Do what `kernel` does, under another stamp, which is asked for when code is looked up."""
    flags = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    made = numba.njit(**flags)(function)
    if JIT:
        keep_code(made, stamp)
    return made


def _refuse_python(dispatcher: Any) -> None:
    """Let a dispatcher know its compiled code for kernels alone: Python would jump to nowhere."""

    def add_overload(self: Any, compiled: Any) -> None:
        self.overloads[tuple(compiled.signature.args)] = compiled

    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise TypeError(f"{self.py_func.__qualname__}() is a part of kernels: only they call it")

    dispatcher.add_overload = types.MethodType(add_overload, dispatcher)
    dispatcher._compile_for_args = types.MethodType(refuse, dispatcher)
