"""Soft gates as vectors: runs, chains and stars of gates, forward and backward."""

from __future__ import annotations

from numba.core import cgutils

from difflogic.engine.kernels import structures as st
from difflogic.engine.kernels.llvm.rows import (
    I64,
    coefficients_of,
    flag,
    instruction,
    primitive,
    reversed_index,
    slot_of,
)


@primitive
def runs_forward(v, tile, code, coefficients):
    with cgutils.for_range(v.builder, v.count, intp=I64) as loop:
        row = instruction(v, code, loop.index, st.FIELDS)
        a, b, out = (v.row(tile, v.field(row, k)) for k in (st.A, st.B, st.OUT))
        c = coefficients_of(v, coefficients, v.field(row, st.PARAM))

        def block(offsets, _):
            for o in offsets:
                value = v.gate(c, v.load(v.pointer(a, o)), v.load(v.pointer(b, o)))
                v.store(value, v.pointer(out, o))

        v.blocks(row, st.WIDTH, block, step=v.vectors)


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


@primitive
def stars_forward(v, tile, code, coefficients):
    with cgutils.for_range(v.builder, v.count, intp=I64) as loop:
        row = instruction(v, code, loop.index, st.STAR_FIELDS)
        leaves = [v.row(tile, v.field(row, st.STAR_LEAVES + k)) for k in range(4)]
        center = v.row(tile, v.field(row, st.STAR_CENTER))
        out = v.row(tile, v.field(row, st.STAR_OUT))
        params = [v.field(row, st.STAR_PARAMS + k) for k in range(7)]

        def block(offsets, _):
            middle = [v.load(v.pointer(center, o)) for o in offsets]

            def leaf(k):
                c = coefficients_of(v, coefficients, params[k], many=True)
                return [
                    v.gate(c, v.load(v.pointer(leaves[k], o)), m)
                    for o, m in zip(offsets, middle, strict=True)
                ]

            def join(k, left, right):
                c = coefficients_of(v, coefficients, params[k], many=True)
                return [v.gate(c, x, y) for x, y in zip(left, right, strict=True)]

            left = join(4, leaf(0), leaf(1))
            right = join(5, leaf(2), leaf(3))
            for value, o in zip(join(6, left, right), offsets, strict=True):
                v.store(value, v.pointer(out, o))

        # As many vectors at a time as leave a star's inner values in the registers.
        v.blocks(row, st.STAR_WIDTH, block, step=4 if v.registers > 16 else 3)


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


@primitive
def runs_backward(v, tile, code, coefficients, grad, sums):
    builder = v.builder
    acc = v.sums()
    with cgutils.for_range(builder, v.count, intp=I64) as loop:
        index = reversed_index(v, loop.index)
        row, a, b, grad_a, grad_b, grad_out, param, flags, c = _way_back(
            v, code, index, tile, coefficients, grad
        )
        adds_a = flag(v, flags, st.ADD_A)
        adds_b = flag(v, flags, st.ADD_B)
        v.clear_sums(acc, v.zero())

        def block(offsets, vectors):
            for k, o in zip(vectors, offsets, strict=True):
                g = v.load(v.pointer(grad_out, o))
                value_a = v.load(v.pointer(a, o))
                value_b = v.load(v.pointer(b, o))
                to_a, to_b = v.pull(c, g, value_a, value_b)
                _add_or_store(v, adds_b, [builder.fmul(g, to_b)], grad_b, [o])
                _add_or_store(v, adds_a, [builder.fmul(g, to_a)], grad_a, [o])
                v.add_sums(acc, [k], [g], [value_a], [value_b])

        v.blocks(row, st.WIDTH, block, step=v.vectors)
        v.fold_sums(acc, slot_of(v, sums, param))


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


@primitive
def stars_backward(v, tile, code, coefficients, grad, sums, scratch):
    builder = v.builder
    # The sums of seven gates do not fit the registers: they are kept in a scratch of 28 lines.
    acc = [v.sums_in(scratch, gate) for gate in range(7)]
    zeros = builder.gep(scratch, [I64(st.SCRATCH_SUMS)])
    with cgutils.for_range(builder, v.count, intp=I64) as loop:
        row = instruction(v, code, reversed_index(v, loop.index), st.STAR_FIELDS)
        leaves = [v.row(tile, v.field(row, st.STAR_LEAVES + k)) for k in range(4)]
        center = v.row(tile, v.field(row, st.STAR_CENTER))
        grad_leaves = [v.row(grad, v.field(row, st.STAR_GRAD_LEAVES + k)) for k in range(4)]
        grad_center = v.row(grad, v.field(row, st.STAR_GRAD_CENTER))
        grad_out = v.row(grad, v.field(row, st.STAR_GRAD_OUT))
        adds = [flag(v, v.field(row, st.STAR_ADDS), 1 << k) for k in range(5)]
        params = [v.field(row, st.STAR_PARAMS + k) for k in range(7)]
        for sums_of_gate in acc:
            v.clear_sums(sums_of_gate, v.zero())

        def block(offsets, vectors):
            n = range(len(offsets))
            middle = [v.load(v.pointer(center, o)) for o in offsets]
            x = [[v.load(v.pointer(leaf, o)) for o in offsets] for leaf in leaves]

            def values(k, left, right):
                c = coefficients_of(v, coefficients, params[k], many=True)
                return [v.gate(c, left[i], right[i]) for i in n]

            y = [values(k, x[k], middle) for k in range(4)]
            z = [values(4, y[0], y[1]), values(5, y[2], y[3])]

            def pulls(k, g, left, right):
                c = coefficients_of(v, coefficients, params[k], many=True)
                v.add_sums(acc[k], vectors, g, left, right)
                return [v.pull(c, g[i], left[i], right[i]) for i in n]

            def back(k, g, left, right):
                to = pulls(k, g, left, right)
                to_left = [builder.fmul(g[i], to[i][0]) for i in n]
                return to_left, [builder.fmul(g[i], to[i][1]) for i in n]

            g = [v.load(v.pointer(grad_out, o)) for o in offsets]
            g4, g5 = back(6, g, z[0], z[1])
            below = [*back(4, g4, y[0], y[1]), *back(5, g5, y[2], y[3])]
            # The first star that reaches an input's gradient adds to zeros.
            start = builder.sub(offsets[0], I64(vectors[0] * v.width))
            before = [
                builder.select(add, builder.gep(base, [start]), zeros)
                for add, base in zip(adds, [*grad_leaves, grad_center], strict=True)
            ]
            at = [I64(k * v.width) for k in vectors]
            to_center = [v.load(v.pointer(before[4], o)) for o in at]
            # Loaded again: kept in registers, they would be written to the stack.
            middle = [v.load(v.pointer(center, o)) for o in offsets]
            for k in range(4):
                to = pulls(k, below[k], [v.load(v.pointer(leaves[k], o)) for o in offsets], middle)
                for i in n:
                    held = v.load(v.pointer(before[k], at[i]))
                    target = v.pointer(grad_leaves[k], offsets[i])
                    v.store(v.fma(below[k][i], to[i][0], held), target)
                    to_center[i] = v.fma(below[k][i], to[i][1], to_center[i])
            for i in n:
                v.store(to_center[i], v.pointer(grad_center, offsets[i]))

        v.blocks(row, st.STAR_WIDTH, block, step=2)
        for gate in range(7):
            v.fold_sums(acc[gate], slot_of(v, sums, params[gate]))
