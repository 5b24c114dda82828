"""NumPy arrays: checks of those that callers pass in, and new ones that start at a cache line."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.system.array_types import Array, Bits, Flags
from difflogic.system.errors import ConfigError, described

CACHE_LINE = 64
"""Bytes of a cache line on every processor that matters here, and of the widest vector."""


PAGE = 4096
"""Bytes of a page, on most machines. Processors first tell addresses apart by their place in it."""


def aligned(
    shape: tuple[int, ...], dtype: npt.DTypeLike, multiple: int = CACHE_LINE, after: int = 0
) -> Array:
    """Return zeros of `shape` that start at a cache line. They take no memory until written.

    The first byte is `after` bytes after a `multiple`.
    """
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    buffer = np.zeros(size + multiple, dtype=np.uint8)
    start = (after - buffer.ctypes.data) % multiple
    return buffer[start : start + size].view(dtype).reshape(shape)


def real_numbers(name: str, given: Any, *, nan: bool = False) -> Array:
    """Return `given` as an array of finite real numbers; with `nan`, NaN is allowed too.

    Raises ConfigError, which calls the array `name`.
    """
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ConfigError(
            f"{name}: {described(given)} is not an array of numbers: {error}"
        ) from None
    if array.dtype.kind not in "buif":
        raise ConfigError(f"{name} of shape {array.shape}: type {array.dtype}: give real numbers")
    remedy = "give finite numbers" + (", or NaN for what does not count" if nan else "")
    _refuse(name, array, np.isinf(array) if nan else ~np.isfinite(array), remedy)
    return array


def bits(name: str, given: Any) -> Bits:
    """Return `given` as an array of 0 and 1. Raises ConfigError, which calls the array `name`."""
    array = real_numbers(name, given)
    _refuse(name, array, (array != 0) & (array != 1), "give 0 and 1 only")
    return array.astype(np.uint8, copy=False)


def _refuse(name: str, array: Array, wrong: Flags, remedy: str) -> None:
    """Raise ConfigError, which names the first wrong element, if there is one."""
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0].tolist())
        raise ConfigError(f"{name} of shape {array.shape}: {array[place]} at {place}: {remedy}")
