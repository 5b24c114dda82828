"""Arrays that start at a cache line, as compiled vectors need them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

CACHE_LINE = 64
"""Bytes of a cache line, on every processor that matters here, and of the widest vector."""


def aligned(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray:
    """Return zeros of `shape` that start at a cache line; they take no memory until written."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    buffer = np.zeros(size + CACHE_LINE, dtype=np.uint8)
    start = -buffer.ctypes.data % CACHE_LINE
    return buffer[start : start + size].view(dtype).reshape(shape)
