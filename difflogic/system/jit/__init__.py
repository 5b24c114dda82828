"""Compiling kernels with numba, and keeping their machine code on disk."""

from __future__ import annotations

from difflogic.system.jit.cache import is_compiled, keeps_code
from difflogic.system.jit.decorator import JIT, borrowing_kernel, kernel, part
from difflogic.system.jit.references import by_reference

__all__ = ["JIT", "borrowing_kernel", "by_reference", "is_compiled", "keeps_code", "kernel", "part"]
