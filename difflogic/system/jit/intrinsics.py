"""Intrinsics: functions that kernels are built from, each with code emitted through LLVM."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numba.extending
import numpy as np
from numba.core.registry import CPUDispatcher

from difflogic.system.jit.decorator import JIT


def intrinsic(typer: Callable[..., Any]) -> Any:
    """Make an intrinsic as numba does; if kernels run as plain Python, one that Python can call.

    The code around the intrinsics can then be traced line by line, and so can what emits them.
    """
    made = numba.extending.intrinsic(typer)
    return made if JIT else alone(made, typer.__name__)


def emitting(signature: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Make an intrinsic of what emits its code; `signature` gives its types from the arguments'."""

    def decorate(emit: Callable[..., Any]) -> Any:
        def typer(typing_context: Any, *kinds: Any) -> tuple[Any, Callable[..., Any]]:
            return signature(*kinds), emit

        # Numba matches a call's arguments with the names of these.
        names = "typing_context", *inspect.signature(signature).parameters
        typer.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        )
        typer.__name__ = emit.__name__
        return intrinsic(typer)

    return decorate


def alone(made: Any, name: str) -> Callable[..., Any]:
    """Return an intrinsic as a function that Python can call."""

    def call(*arguments: Any) -> Any:
        return made(*arguments)

    call.__qualname__ = f"{name}.alone"
    compiled = CPUDispatcher(call, targetoptions={"nopython": True, "nogil": True})
    return lambda *arguments: compiled(*map(_usual, arguments))


def _usual(argument: Any) -> Any:
    """Return whole numbers, but no words, as Python has them, so that few types are compiled."""
    if isinstance(argument, tuple):
        usual = map(_usual, argument)
        return argument._make(usual) if hasattr(argument, "_make") else tuple(usual)
    kept = isinstance(argument, np.ndarray | np.uint64 | np.floating | float)
    return argument if kept else int(argument)
