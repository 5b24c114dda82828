"""The processor itself: denormals, fused multiply-adds, atomic numbers, yielding, and a clock."""

from __future__ import annotations

import platform
import sys
import time

from llvmlite import ir
from llvmlite.binding import initialize_native_asmparser
from numba import types
from numba.core import cgutils

from difflogic.engine.kernels.llvm.rows import I32, I64, Emitter
from difflogic.engine.kernels.structures import LANES, chains_of
from difflogic.system.jit.intrinsics import emitting
from difflogic.system.jit.processor import registers


@emitting(lambda: types.uint32())
def flush_denormals(context, builder, signature, args):
    """Make this thread treat denormal numbers as zero; return the previous mode.

    Gradients vanish through hundreds of layers, and on x86 multiplying denormals takes a hundred
    times longer than multiplying zeros. ARM has no such penalty, but should have the same results.
    """
    before = cgutils.alloca_once_value(builder, I32(0))
    if ARM:
        mode = _fpcr(builder, "get", ir.FunctionType(I64, []))
        _fpcr(builder, "set", _SETS, builder.or_(mode, I64(1 << 24)))
        builder.store(builder.trunc(mode, I32), before)
    if X86:
        _control_register(builder, "stmxcsr", before)
        flushing = builder.or_(builder.load(before), I32(_FLUSH))
        _control_register(builder, "ldmxcsr", cgutils.alloca_once_value(builder, flushing))
    return builder.load(before)


@emitting(lambda mode: types.void(types.uint32))
def restore_denormals(context, builder, signature, args):
    """Undo flush_denormals."""
    if ARM:
        _fpcr(builder, "set", _SETS, builder.zext(args[0], I64))
    if X86:
        _control_register(builder, "ldmxcsr", cgutils.alloca_once_value(builder, args[0]))
    return context.get_dummy_value()


_SETS = ir.FunctionType(ir.VoidType(), [I64])


def _fpcr(builder, verb, signature, *values):
    """Get or set ARM's floating-point control register; bit 24 flushes to zero."""
    name = f"llvm.aarch64.{verb}.fpcr"
    function = cgutils.get_or_insert_function(builder.module, signature, name)
    return builder.call(function, values)


X86 = platform.machine().lower() in ("x86_64", "amd64")
ARM = platform.machine().lower() in ("aarch64", "arm64")
_FLUSH = 0x8040
"""Flush-to-zero and denormals-are-zero, bits 15 and 6 of MXCSR."""


def _control_register(builder, instruction, pointer):
    byte = ir.IntType(8).as_pointer()
    signature = ir.FunctionType(ir.VoidType(), [byte])
    name = f"llvm.x86.sse.{instruction}"
    function = cgutils.get_or_insert_function(builder.module, signature, name)
    builder.call(function, [builder.bitcast(pointer, byte)])


@emitting(lambda count, seed: types.float32(types.int64, types.float32))
def fma_chains(context, builder, signature, args):
    """Run `count` rounds of independent fused multiply-adds, `fma_per_round` of them per round."""
    v = Emitter(context, builder, types.float32, LANES[0])
    seed_pointer = cgutils.alloca_once_value(builder, args[1])
    x = v.splat(seed_pointer, 0)
    chains = [
        cgutils.alloca_once_value(builder, builder.fadd(x, ir.Constant(v.type, [k] * v.width)))
        for k in range(chains_of(registers()))
    ]
    with cgutils.for_range(builder, args[0], intp=I64):
        for chain in chains:
            builder.store(v.fma(builder.load(chain), x, x), chain)
    total = builder.load(chains[0])
    for chain in chains[1:]:
        total = builder.fadd(total, builder.load(chain))
    return builder.extract_element(total, I32(0))


@emitting(lambda count: types.void(types.int64))
def do_nothing(context, builder, signature, args):
    """Run `count` rounds of IDLE instructions that only take their way through the processor."""
    initialize_native_asmparser()
    kind = ir.FunctionType(ir.VoidType(), [])
    with cgutils.for_range(builder, args[0], intp=I64):
        builder.asm(kind, "nop\n" * IDLE, "", (), side_effect=True)
    return context.get_dummy_value()


IDLE = 64


def _element(context, builder, signature, args):
    """Return a pointer to the element args[1] of the array args[0]."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.gep(array.data, [args[1]])


@emitting(lambda array, index, value: types.int64(array, types.intp, types.int64))
def atomic_add(context, builder, signature, args):
    """Add to an int64 element, sequentially consistent; return its previous value."""
    element = _element(context, builder, signature, args)
    return builder.atomic_rmw("add", element, args[2], "seq_cst")


@emitting(lambda array, index: types.int64(array, types.intp))
def atomic_load(context, builder, signature, args):
    """Read an int64 element, sequentially consistent."""
    element = _element(context, builder, signature, args)
    return builder.load_atomic(element, "seq_cst", 8)


@emitting(lambda array, index, value: types.boolean(array, types.intp, types.int64))
def atomic_claim(context, builder, signature, args):
    """Increment an int64 element if it equals `value`, sequentially consistent; return if it
    did.
    """
    element = _element(context, builder, signature, args)
    following = builder.add(args[2], I64(1))
    found = builder.cmpxchg(element, args[2], following, "seq_cst", "seq_cst")
    return builder.extract_value(found, 1)


@emitting(lambda: types.int32())
def yield_thread(context, builder, signature, args):
    """Yield the core to another thread."""
    name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
    function = ir.FunctionType(I32, [])
    return builder.call(cgutils.get_or_insert_function(builder.module, function, name), [])


@emitting(lambda: types.float64())
def now(context, builder, signature, args):
    """Read a steady clock, in seconds."""
    return _reading(builder, "CLOCK_MONOTONIC")


@emitting(lambda: types.float64())
def processor_clock(context, builder, signature, args):
    """Read how long this thread has run on a processor, in seconds; Windows reads `now`."""
    return _reading(builder, "CLOCK_THREAD_CPUTIME_ID")


def _reading(builder, clock):
    """Read a clock, named as in Python's `time`."""
    timespec = cgutils.alloca_once(builder, ir.ArrayType(I64, 2))
    pointer = builder.bitcast(timespec, ir.IntType(8).as_pointer())
    first, second = (builder.gep(timespec, [I32(0), I32(k)], inbounds=True) for k in range(2))
    if sys.platform == "win32":
        name = "QueryPerformanceCounter"
        arguments = [pointer]
    else:
        name = "clock_gettime"
        arguments = [I32(getattr(time, clock)), pointer]
    function = ir.FunctionType(I32, [argument.type for argument in arguments])
    builder.call(cgutils.get_or_insert_function(builder.module, function, name), arguments)
    double = ir.DoubleType()
    whole = builder.sitofp(builder.load(first), double)
    if sys.platform == "win32":  # counts at 10 MHz since Windows 10
        return builder.fmul(whole, double(1e-7))
    nanoseconds = builder.sitofp(builder.load(second), double)
    return builder.fadd(whole, builder.fmul(nanoseconds, double(1e-9)))
