"""Soft gates as vectors: runs and chains of gates, forward and backward."""

from __future__ import annotations

from numba.core import cgutils

from difflogic.engine.kernels import structures as st
from difflogic.engine.kernels.llvm.rows import (
    I64,
    coefficients_of,
    flag,
    instruction,
    looping,
    primitive,
    reversed_index,
    slot_of,
)


@looping
def runs_forward(v, tile, code, coefficients):
    with cgutils.for_range(v.builder, v.count, intp=I64) as loop:
        row = instruction(v, code, loop.index, st.FIELDS)
        a, b, out = (v.row(tile, v.field(row, k)) for k in (st.A, st.B, st.OUT))
        c = coefficients_of(v, coefficients, v.field(row, st.PARAM))

        def line(o, _):
            value = v.gate(c, v.load(v.pointer(a, o)), v.load(v.pointer(b, o)))
            v.store(value, v.pointer(out, o))

        v.lines(v.lanes_of(v.field(row, st.WIDTH)), line)


@primitive
def gates_forward(v, tile, code, coefficients):
    builder = v.builder
    chain = [cgutils.alloca_once(builder, v.type) for _ in range(v.vectors)]
    with cgutils.for_range(builder, v.count, intp=I64) as loop:
        row = instruction(v, code, loop.index, st.FIELDS)
        a, b, out = (v.row(tile, v.field(row, k)) for k in (st.A, st.B, st.OUT))
        c = coefficients_of(v, coefficients, v.field(row, st.PARAM))
        offsets = [I64(k * v.width) for k in range(v.vectors)]
        if v.holds:
            # A linked gate's input a is the previous gate's input b, still in registers. With few
            # registers it is read again: a multiplication does that for free.
            linked = flag(v, v.field(row, st.FLAGS), st.LINK)
            with builder.if_then(builder.not_(linked)):
                for held, o in zip(chain, offsets, strict=True):
                    builder.store(v.load(v.pointer(a, o)), held)
        for held, o in zip(chain, offsets, strict=True):
            value_a = builder.load(held) if v.holds else v.load(v.pointer(a, o))
            value_b = v.load(v.pointer(b, o))
            v.store(v.gate(c, value_a, value_b), v.pointer(out, o))
            if v.holds:
                builder.store(value_b, held)


def _add_or_store(v, adds, values, base, offsets):
    """Add values to a row if `adds`, else store them there."""
    builder = v.builder
    slots = [cgutils.alloca_once(builder, v.type) for _ in values]
    for slot, value in zip(slots, values, strict=True):
        builder.store(value, slot)
    with builder.if_then(adds):
        for slot, o in zip(slots, offsets, strict=True):
            total = builder.fadd(builder.load(slot), v.load(v.pointer(base, o)))
            builder.store(total, slot)
    for slot, o in zip(slots, offsets, strict=True):
        v.store(builder.load(slot), v.pointer(base, o))


def _way_back(v, code, index, tile, coefficients, grad):
    """Decode an instruction: itself, the rows a and b, those of their gradients and out's, the
    rest.
    """
    row = instruction(v, code, index, st.FIELDS)
    values = [v.row(tile, v.field(row, k)) for k in (st.A, st.B)]
    gradients = [v.row(grad, v.field(row, k)) for k in (st.GRAD_A, st.GRAD_B, st.GRAD_OUT)]
    param = v.field(row, st.PARAM)
    flags = v.field(row, st.FLAGS)
    return (row, *values, *gradients, param, flags, coefficients_of(v, coefficients, param))


@looping
def runs_backward(v, tile, code, coefficients, grad, sums):
    builder = v.builder
    acc = v.sums()
    with cgutils.for_range(builder, v.count, intp=I64) as loop:
        index = reversed_index(v, loop.index)
        row, a, b, grad_a, grad_b, grad_out, param, flags, c = _way_back(
            v, code, index, tile, coefficients, grad
        )
        targets = (grad_b, flag(v, flags, st.ADD_B)), (grad_a, flag(v, flags, st.ADD_A))
        v.clear_sums(acc, v.zero())

        def line(o, k):
            g, value_a, value_b = (v.load(v.pointer(base, o)) for base in (grad_out, a, b))
            v.add_sums(acc, [k], [g], [value_a], [value_b])
            to_a, to_b = v.pull(c, g, value_a, value_b)
            for (base, adds), to in zip(targets, (to_b, to_a), strict=True):
                value = builder.fmul(g, to)
                total = builder.fadd(value, v.load(v.pointer(base, o)))
                v.store(builder.select(adds, total, value), v.pointer(base, o))

        v.lines(v.lanes_of(v.field(row, st.WIDTH)), line)
        v.fold_sums(acc, slot_of(v, sums, param))


EARLY = 2
"""Gates by which rows are prefetched on the way back: each is needed once, mostly from the
second-level cache, and no processor predicts which comes next."""


@primitive
def gates_backward(v, tile, code, coefficients, grad, sums):
    builder = v.builder
    acc = v.sums()
    # Left by the next gate of the chain: its part of the gradient of this gate's input b, and the
    # value of that input. With few registers the value is loaded again, from the cache.
    held_grad = [cgutils.alloca_once(builder, v.type) for _ in range(v.vectors)]
    held_value = [cgutils.alloca_once(builder, v.type) for _ in range(v.vectors)]
    offsets = [I64(k * v.width) for k in range(v.vectors)]
    with cgutils.for_range(builder, v.count, intp=I64) as loop:
        index = reversed_index(v, loop.index)
        _, a, b, grad_a, grad_b, grad_out, param, flags, c = _way_back(
            v, code, index, tile, coefficients, grad
        )
        enough = builder.icmp_unsigned(">=", index, I64(EARLY))
        ahead = builder.select(enough, builder.sub(index, I64(EARLY)), index)
        later = instruction(v, code, ahead, st.FIELDS)
        v.prefetch(v.row(tile, v.field(later, st.A)), v.line_starts())
        v.prefetch(v.row(grad, v.field(later, st.GRAD_OUT)), v.line_starts())
        v.clear_sums(acc, v.nothing())
        with builder.if_then(builder.not_(flag(v, flags, st.LINKED))):
            for value, held, o in zip(held_value, held_grad, offsets, strict=True):
                if v.holds:
                    builder.store(v.load(v.pointer(b, o)), value)
                builder.store(v.zero(), held)
        with builder.if_then(flag(v, flags, st.ADD_B)):
            for held, o in zip(held_grad, offsets, strict=True):
                total = builder.fadd(builder.load(held), v.load(v.pointer(grad_b, o)))
                builder.store(total, held)
        folds = []
        for part, total in enumerate(acc):
            for k in range(part, v.vectors, v.parts):
                value = held_value[k]
                held = held_grad[k]
                o = offsets[k]
                g = v.load(v.pointer(grad_out, o))
                value_a = v.load(v.pointer(a, o))
                value_b = builder.load(value) if v.holds else v.load(v.pointer(b, o))
                to_a, to_b = v.pull(c, g, value_a, value_b)
                v.store(v.fma(g, to_b, builder.load(held)), v.pointer(grad_b, o))
                v.add_sums(acc, [k], [g], [value_a], [value_b])
                builder.store(builder.fmul(g, to_a), held)
                if v.holds:
                    builder.store(value_a, value)
            folds.append(v.fold(total))
        if not v.holds:
            # Before the branch: the compiler would move the additions past it, and keep all they
            # read on the stack.
            v.add_folds(folds, slot_of(v, sums, param))
        with builder.if_then(builder.not_(flag(v, flags, st.LINK))):
            values = [builder.load(held) for held in held_grad]
            _add_or_store(v, flag(v, flags, st.ADD_A), values, grad_a, offsets)
        if v.holds:
            v.add_folds(folds, slot_of(v, sums, param))
