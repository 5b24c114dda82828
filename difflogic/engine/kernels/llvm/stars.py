"""Stars, forward and backward: gate after gate over a piece of their rows.

All seven gates of a vector at once would need more registers than there are on the way back.
"""

from __future__ import annotations

from numba.core import cgutils

from difflogic.engine.kernels import structures as st
from difflogic.engine.kernels.llvm.rows import (
    I64,
    coefficients_of,
    flag,
    instruction,
    looping,
    reversed_index,
    slot_of,
)


@looping
def stars_forward(v, tile, code, coefficients, scratch):
    inner = _inner(v, scratch)
    with cgutils.for_range(v.builder, v.count, intp=I64) as loop:
        row = instruction(v, code, loop.index, st.STAR_FIELDS)
        values = [v.row(tile, v.field(row, st.STAR_LEAVES + k)) for k in range(6)]
        c = [coefficients_of(v, coefficients, v.field(row, st.STAR_PARAMS + k)) for k in range(7)]
        with v.pieces(v.field(row, st.STAR_WIDTH)) as (start, count):
            *reads, out = [v.builder.gep(base, [start]) for base in values]
            _recompute(v, count, c, reads, inner, keep=False)

            def line(o, _):
                z = [v.load(v.pointer(base, o)) for base in inner[4:]]
                v.store(v.gate(c[6], *z), v.pointer(out, o))

            v.lines(count, line)


def _inner(v, scratch):
    """Return places for the values of gates 0 to 5, and then for their gradients."""
    return [v.builder.gep(scratch, [I64(st.SCRATCH_SUMS + k * st.PIECE)]) for k in range(1, 7)]


def _recompute(v, count, coefficients, reads, inner, keep=True):
    """Store the values of gates 4 and 5, and of 0 to 3 if they are to be kept, in `inner`."""
    for gate in (4, 5):
        left = 2 * gate - 8
        right = left + 1

        def line(o, _, gate=gate, left=left, right=right):
            middle = v.load(v.pointer(reads[4], o))
            below = []
            for leaf in (left, right):
                value = v.load(v.pointer(reads[leaf], o))
                below.append(v.gate(coefficients[leaf], value, middle))
                if keep:
                    v.store(below[-1], v.pointer(inner[leaf], o))
            v.store(v.gate(coefficients[gate], *below), v.pointer(inner[gate], o))

        v.lines(count, line)


@looping
def stars_backward(v, tile, code, coefficients, grad, sums, scratch):
    builder = v.builder
    zeros = builder.gep(scratch, [I64(st.SCRATCH_SUMS)])
    inner = _inner(v, scratch)
    acc = [v.sums_in(scratch, gate) for gate in range(7)]
    with cgutils.for_range(builder, v.count, intp=I64) as loop:
        row = instruction(v, code, reversed_index(v, loop.index), st.STAR_FIELDS)
        values = [v.row(tile, v.field(row, st.STAR_LEAVES + k)) for k in range(5)]
        gradients = [v.row(grad, v.field(row, st.STAR_GRAD_LEAVES + k)) for k in range(6)]
        adds = [flag(v, v.field(row, st.STAR_ADDS), 1 << k) for k in range(5)]
        params = [v.field(row, st.STAR_PARAMS + k) for k in range(7)]
        for sums_of_gate in acc:
            v.clear_sums(sums_of_gate, v.zero())
        with v.pieces(v.field(row, st.STAR_WIDTH)) as (start, count):
            *leaves, center = [builder.gep(base, [start]) for base in values]
            *to_leaves, to_center, grad_out = [builder.gep(base, [start]) for base in gradients]
            c = [coefficients_of(v, coefficients, param) for param in params]
            _recompute(v, count, c, [*leaves, center], inner)
            for gate in (6, 5, 4):
                g = grad_out if gate == 6 else inner[gate]
                below = inner[2 * gate - 8 : 2 * gate - 6]
                _back(v, count, c[gate], acc[gate], (g, *below), [(None, each) for each in below])
            # The first star that reaches an input's gradient adds to zeros.
            *before, center_before = [
                builder.select(add, base, zeros)
                for add, base in zip(adds, [*to_leaves, to_center], strict=True)
            ]
            for gate, leaf in enumerate(leaves):
                targets = [(before[gate], to_leaves[gate]), (center_before, to_center)]
                _back(v, count, c[gate], acc[gate], (inner[gate], leaf, center), targets)
                center_before = to_center
        for gate in range(7):
            v.fold_sums(acc[gate], slot_of(v, sums, params[gate]))


def _back(v, count, c, sums, reads, targets):
    """Take one gate's gradient back: `reads` are the rows of that, and of its inputs a and b.

    For each input `targets` has the row to add to, or None, and the row to store to.
    """
    held = v.sums()
    v.copy_sums(sums, held)

    def line(o, k):
        # All loads come before the stores: a processor compares the lowest bits of addresses
        # first, and lets a load of another row wait for a store.
        g, a, b = (v.load(v.pointer(base, o)) for base in reads)
        before = [base and v.load(v.pointer(base, o)) for base, _ in targets]
        v.add_sums(held, [k], [g], [a], [b])
        for to, start, (_, target) in zip(v.pull(c, g, a, b), before, targets, strict=True):
            total = v.fma(g, to, start) if start else v.builder.fmul(g, to)
            v.store(total, v.pointer(target, o))

    v.lines(count, line)
    v.copy_sums(held, sums)
