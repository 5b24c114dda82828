"""Vector registers, from the compiler's triple and features."""

import pytest

from difflogic.system.jit import JIT
from difflogic.system.jit.processor import AVX, AVX512, SSE, registers, registers_of
from tests.cli.processes import run_python


@pytest.mark.parametrize(
    ("triple", "features", "width", "count"),
    [
        ("x86_64-unknown-linux-gnu", "+sse2,+avx,+avx2,+avx512f,+fma", 64, 32),
        ("x86_64-unknown-linux-gnu", "+sse2,+avx,+avx2,-avx512f,+fma", 32, 16),
        ("x86_64-apple-darwin", "+sse2,-avx,-avx512f", 16, 16),
        ("aarch64-unknown-linux-gnu", "+neon", 16, 32),
    ],
)
def test_registers(triple, features, width, count):
    assert registers_of(triple, features) == (width, count)


@pytest.mark.thorough
@pytest.mark.skipif(
    not JIT or registers() not in (AVX512, AVX), reason="x86 with wide vectors only"
)
def test_kernels_are_compiled_for_narrower_vectors_and_kept_apart():
    program = (
        "from difflogic.system.jit.cache import _compiler\n"
        "from difflogic.system.jit.processor import registers\n"
        "print(tuple(registers()), _compiler())"
    )
    narrow = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "+sse2"}
    (own, compiler), (other, another) = (
        run_python("-c", program, variables=variables).stdout.split(")", 1)
        for variables in ({}, narrow)
    )
    assert own == str(tuple(registers()))[:-1]
    assert other == str(tuple(SSE))[:-1]
    assert compiler != another
