"""Measures the machine's peak rate of bitwise logic, to compare simulations with.

The kernel runs chains of AND, OR and XOR on the widest vectors. Two operations read each result,
so LLVM cannot join them into ternary logic: the machine executes exactly the counted operations. A
real circuit's gates can be joined on processors with ternary logic (AVX-512), and may therefore
exceed this rate.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache, reduce
from typing import Any

from llvmlite import ir

from difflogic.simulation import native
from difflogic.simulation.builder import Builder
from difflogic.system.measuring import fastest_rate

CHAINS = 12
ROUNDS_UNROLLED = 4
SCALAR_OPS = 32


@cache
def _kernels() -> tuple[Callable[[int, int], int], Callable[[int, int], int], Any]:
    module = ir.Module("peak")
    word = ir.IntType(64)
    for name, emit in (("logic", _emit_logic), ("clock", _emit_clock)):
        function = ir.Function(module, ir.FunctionType(word, [word, word]), name)
        emit(Builder(function, native.vector_words()), *function.args)
    engine = native.load(native.lower(module))
    kind = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64)
    logic, clock = (kind(engine.get_function_address(name)) for name in ("logic", "clock"))
    return logic, clock, engine


def _emit_logic(b: Builder, rounds: Any, seed: Any) -> None:
    def one_round(carried: list[Any]) -> tuple[Sequence[Any], Any]:
        left, *chains = carried
        for turn in range(ROUNDS_UNROLLED):
            for number in range(CHAINS):
                operation = (b.ir.xor, b.ir.or_, b.ir.xor, b.ir.and_)[(turn + number) % 4]
                chains[number] = operation(chains[number], chains[(number + 1) % CHAINS])
        return _count_down(b, left, chains)

    word = seed.type
    starts = [b.splat(b.ir.add(seed, ir.Constant(word, number))) for number in range(CHAINS)]
    _, *chains = b.repeat([rounds, *starts], one_round)
    total = reduce(b.ir.xor, chains)
    b.ir.ret(b.ir.extract_element(total, ir.Constant(ir.IntType(32), 0)))


def _emit_clock(b: Builder, rounds: Any, seed: Any) -> None:
    """Emit a chain of additions and XORs. Each takes one cycle and waits for the one before."""

    def one_round(carried: list[Any]) -> tuple[Sequence[Any], Any]:
        left, value = carried
        for number in range(SCALAR_OPS):
            value = (b.ir.add, b.ir.xor)[number % 2](value, seed)
        return _count_down(b, left, [value])

    b.ir.ret(b.repeat([rounds, seed], one_round)[1])


def _count_down(b: Builder, left: Any, values: Sequence[Any]) -> tuple[Sequence[Any], Any]:
    left = b.ir.sub(left, ir.Constant(left.type, 1))
    return [left, *values], b.ir.icmp_unsigned("!=", left, ir.Constant(left.type, 0))


def logic_rate(workers: int = 1) -> float:
    """Measure two-input operations per second, counted per bit, on all workers together."""
    logic = _kernels()[0]
    bits = 64 * native.vector_words() * CHAINS * ROUNDS_UNROLLED
    if workers == 1:
        return bits * fastest_rate(lambda rounds: logic(rounds, 1))
    from difflogic.engine.workers import Workers

    with Workers(workers) as team:
        return (
            workers * bits * fastest_rate(lambda rounds: team.run(logic, [(rounds, 1)] * workers))
        )


def clock_rate() -> float:
    """Measure the clock of one core, in cycles per second."""
    clock = _kernels()[1]
    return SCALAR_OPS * fastest_rate(lambda rounds: clock(rounds, 3))
