"""The processor itself: denormals, fused multiply-adds, atomic numbers, yielding, and a clock."""

from __future__ import annotations

import platform
import sys
import time

from llvmlite import ir
from numba import types
from numba.core import cgutils

from difflogic.engine.kernels.llvm.rows import I32, I64, Emitter
from difflogic.engine.kernels.structures import LANES, chains_of
from difflogic.system.jit.intrinsics import intrinsic
from difflogic.system.jit.processor import registers


@intrinsic
def flush_denormals(typing_context):
    """Make this thread treat denormal numbers as zero; return the previous mode.

    Gradients vanish through hundreds of layers, and on x86 multiplying denormals takes a hundred
    times longer than multiplying zeros. Other processors have no such penalty, so nothing is done
    there.
    """
    signature = types.uint32()

    def codegen(context, builder, signature, args):
        before = cgutils.alloca_once_value(builder, I32(0))
        if X86:
            _control_register(builder, "stmxcsr", before)
            flushing = builder.or_(builder.load(before), I32(_FLUSH))
            _control_register(builder, "ldmxcsr", cgutils.alloca_once_value(builder, flushing))
        return builder.load(before)

    return signature, codegen


@intrinsic
def restore_denormals(typing_context, mode):
    """Undo flush_denormals."""
    signature = types.void(types.uint32)

    def codegen(context, builder, signature, args):
        if X86:
            _control_register(builder, "ldmxcsr", cgutils.alloca_once_value(builder, args[0]))
        return context.get_dummy_value()

    return signature, codegen


X86 = platform.machine().lower() in ("x86_64", "amd64")
_FLUSH = 0x8040
"""Flush-to-zero and denormals-are-zero, bits 15 and 6 of MXCSR."""


def _control_register(builder, instruction, pointer):
    byte = ir.IntType(8).as_pointer()
    signature = ir.FunctionType(ir.VoidType(), [byte])
    name = f"llvm.x86.sse.{instruction}"
    function = cgutils.get_or_insert_function(builder.module, signature, name)
    builder.call(function, [builder.bitcast(pointer, byte)])


@intrinsic
def fma_chains(typing_context, count, seed):
    """Run `count` rounds of independent fused multiply-adds, `fma_per_round` of them per round."""
    signature = types.float32(types.int64, types.float32)

    def codegen(context, builder, signature, args):
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

    return signature, codegen


def _element(context, builder, array, args):
    """Return a pointer to the element args[1] of the array args[0]."""
    return builder.gep(context.make_array(array)(context, builder, args[0]).data, [args[1]])


@intrinsic
def atomic_add(typing_context, array, index, value):
    """Add to an int64 element, sequentially consistent; return its previous value."""
    signature = types.int64(array, types.intp, types.int64)

    def codegen(context, builder, signature, args):
        element = _element(context, builder, array, args)
        return builder.atomic_rmw("add", element, args[2], "seq_cst")

    return signature, codegen


@intrinsic
def atomic_load(typing_context, array, index):
    """Read an int64 element, sequentially consistent."""
    signature = types.int64(array, types.intp)

    def codegen(context, builder, signature, args):
        element = _element(context, builder, array, args)
        return builder.load_atomic(element, "seq_cst", 8)

    return signature, codegen


@intrinsic
def atomic_claim(typing_context, array, index, value):
    """Increment an int64 element if it equals `value`, sequentially consistent; return if it
    did.
    """
    signature = types.boolean(array, types.intp, types.int64)

    def codegen(context, builder, signature, args):
        element = _element(context, builder, array, args)
        following = builder.add(args[2], I64(1))
        found = builder.cmpxchg(element, args[2], following, "seq_cst", "seq_cst")
        return builder.extract_value(found, 1)

    return signature, codegen


@intrinsic
def yield_thread(typing_context):
    """Yield the core to another thread."""
    signature = types.int32()

    def codegen(context, builder, signature, args):
        name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
        function = ir.FunctionType(I32, [])
        return builder.call(cgutils.get_or_insert_function(builder.module, function, name), [])

    return signature, codegen


@intrinsic
def now(typing_context):
    """Read a steady clock, in seconds."""
    return types.float64(), _reading("CLOCK_MONOTONIC")


@intrinsic
def processor_clock(typing_context):
    """Read how long this thread has run on a processor, in seconds; Windows reads `now`."""
    return types.float64(), _reading("CLOCK_THREAD_CPUTIME_ID")


def _reading(clock):
    """Return the code generator that reads a clock, named as in Python's `time`."""

    def codegen(context, builder, signature, args):
        timespec = cgutils.alloca_once(builder, ir.ArrayType(I64, 2))
        pointer = builder.bitcast(timespec, ir.IntType(8).as_pointer())
        first, second = (builder.gep(timespec, [I32(0), I32(k)], inbounds=True) for k in range(2))
        if sys.platform == "win32":
            name, arguments = "QueryPerformanceCounter", [pointer]
        else:
            name, arguments = "clock_gettime", [I32(getattr(time, clock)), pointer]
        function = ir.FunctionType(I32, [argument.type for argument in arguments])
        builder.call(cgutils.get_or_insert_function(builder.module, function, name), arguments)
        double = ir.DoubleType()
        whole = builder.sitofp(builder.load(first), double)
        if sys.platform == "win32":  # counts at 10 MHz since Windows 10
            return builder.fmul(whole, double(1e-7))
        nanoseconds = builder.sitofp(builder.load(second), double)
        return builder.fadd(whole, builder.fmul(nanoseconds, double(1e-9)))

    return codegen
