"""Compiling kernels with numba, and keeping their machine code on disk."""

from __future__ import annotations

from difflogic.jit.cache import is_compiled
from difflogic.jit.decorator import JIT, inlined, kernel

__all__ = ["JIT", "inlined", "is_compiled", "kernel"]
