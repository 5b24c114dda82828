"""The one decorator that makes a kernel, so that no kernel can lack a flag."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from difflogic.system.jit.cache import keep_code
from difflogic.system.jit.numba_settings import numba
from difflogic.system.jit.pipeline import KernelPipeline, PartPipeline
from difflogic.system.jit.sources import stamp

_FLAGS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
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

    It is compiled with each kernel that calls it, and not kept by itself. Python's call raises
    TypeError.
    """
    return _make_part(function, _nrt=False)


def make_kernel(function: Callable, stamp: Callable[[], str], **options: Any) -> Any:
    """Do what `kernel` does, under another stamp, which is asked for when code is looked up."""
    made = numba.njit(pipeline_class=KernelPipeline, **_FLAGS, **options)(function)
    if JIT:
        keep_code(made, stamp)
        # Other kernels call a part that does the same.
        lent = _make_part(function, **options)
        made.get_call_template, made.get_overload = lent.get_call_template, lent.get_overload
    return made


def _make_part(function: Callable, **options: Any) -> Any:
    flags = {**_FLAGS, "no_cpython_wrapper": True, **options}
    made = numba.njit(pipeline_class=PartPipeline, **flags)(function)
    if JIT:
        _refuse_python(made)
        _take_few_types(made)
    return made


def _refuse_python(dispatcher: Any) -> None:
    """Let a dispatcher know its compiled code for kernels alone: Python would jump to nowhere."""

    def add_overload(self: Any, compiled: Any) -> None:
        self.overloads[tuple(compiled.signature.args)] = compiled

    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise TypeError(f"{self.py_func.__qualname__}() is a part of kernels: only they call it")

    dispatcher.add_overload = types.MethodType(add_overload, dispatcher)
    dispatcher._compile_for_args = types.MethodType(refuse, dispatcher)


def _take_few_types(dispatcher: Any) -> None:
    """Let a dispatcher compile once for all signed integers, whether their values are known or not.

    It would do so for each kind that some caller has, and for each number that stands in a call.
    """
    ask = dispatcher.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        return ask(tuple(map(_widen, args)), {name: _widen(arg) for name, arg in kws.items()})

    dispatcher.get_call_template = get_call_template


def _widen(kind: Any) -> Any:
    kind = numba.types.unliteral(kind)
    narrow = isinstance(kind, numba.types.Integer) and kind.signed
    return numba.int64 if narrow else kind
