"""The vector registers of the processor that kernels are compiled for.

The environment variables NUMBA_CPU_NAME and NUMBA_CPU_FEATURES select another processor.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple


class Registers(NamedTuple):
    """A processor's widest vector registers."""

    width: int
    """Bytes of a register."""
    number: int


AVX512 = Registers(64, 32)
AVX = Registers(32, 16)
NEON = Registers(16, 32)
SSE = Registers(16, 16)


@cache
def target() -> tuple[str, str, str]:
    """Return LLVM's triple, processor and features that numba compiles for."""
    from numba.core.registry import cpu_target

    triple, name, features = cpu_target.target_context.codegen().magic_tuple()
    return triple, name, features


@cache
def registers() -> Registers:
    """Return the vector registers of the processor that kernels are compiled for."""
    triple, _, features = target()
    return registers_of(triple, features)


@cache
def fuses() -> bool:
    """Return whether the processor that kernels are compiled for has fused multiply-adds."""
    triple, _, features = target()
    return triple.startswith(("aarch64", "arm64")) or "+fma" in features.split(",")


def registers_of(triple: str, features: str) -> Registers:
    """Return the registers for LLVM's triple and features such as "+sse2,+avx2,-avx512f"."""
    if triple.startswith(("aarch64", "arm64")):
        return NEON
    found = features.split(",")
    if "+avx512f" in found:
        return AVX512
    return AVX if "+avx" in found else SSE
