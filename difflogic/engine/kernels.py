"""The compiled kernels, and nothing else: soft gates over tiles of lanes, forward and backward.

A tile is a one-dimensional buffer of rows; a row holds one value per lane, a lane is one cell.
Gates are emitted as explicit vectors, one cache line each, through llvmlite: the same loops
written in plain numba pay an alias check per gate. All kernels stand in this one file, because
numba's on-disk cache does not notice an edit of a callee in another file. Every kernel is serial
and releases the GIL; `workers.py` runs them side by side.

With NUMBA_DISABLE_JIT=1 the vector and atomic primitives are replaced by their NumPy meaning,
so that the code around them can be traced line by line.
"""

from __future__ import annotations

import platform
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LINE = 64
"""Bytes per vector: one cache line, one AVX-512 register, two of AVX2, four of NEON."""
LANES = (16, 32, 64)
"""Lanes that a tile can have; the vector loops are unrolled for each."""
MAX_LANES = max(LANES)

# Columns of an instruction (program.py). A star is seven gates, see STAR_GATES there.
A, B, OUT, WIDTH, PARAM, GRAD_A, GRAD_B, GRAD_OUT, FLAGS = range(9)
FIELDS = 9
LINK, LINKED, ADD_A, ADD_B = 1, 2, 4, 8
STAR_LEAVES, STAR_CENTER, STAR_OUT, STAR_WIDTH, STAR_PARAMS = 0, 4, 5, 6, 7
STAR_GRAD_LEAVES, STAR_GRAD_CENTER, STAR_GRAD_OUT = 14, 18, 19
STAR_FIELDS = 20

JIT = not getattr(numba.config, "DISABLE_JIT", False)


def kernel(function: Callable) -> Any:
    """Compile lazily, cache on disk, release the GIL: no kernel can lack a flag.

    No fastmath: the vectors below contract by themselves, and sums keep their order.
    """
    try:
        return numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    except RuntimeError:  # no place to write a cache to: compile in every process
        return numba.njit(nogil=True, error_model="numpy")(function)


class Code(NamedTuple):
    """A program's instructions, each kind a matrix; executed in the order of the fields."""

    stars: np.ndarray  # int32 (stars, STAR_FIELDS)
    runs: np.ndarray  # int32 (runs, FIELDS): gates repeated over `width` rows
    gates: np.ndarray  # int32 (gates, FIELDS): gates of one row, linked into chains
    outputs: np.ndarray  # int32 (channels,): rows of the cell's next state
    grad_outputs: np.ndarray  # int32 (channels,): rows of their gradient


class ProgramCode(NamedTuple):
    """A program, as far as the kernels need it."""

    forward: Code
    backward: Code
    zero_rows: np.ndarray  # int32: gradient rows to clear before the walk back


class Layout(NamedTuple):
    """Where the cells of a group of samples lie, and how they are cut into tiles and chunks.

    A state is (channels, stride); cell i stands at `lead` + i, and everything else stays zero.
    Neighbour n of most cells is `shifts[n]` further; for the lanes of a tile where it is not
    (at an edge), mend_start[tile, n : n + 2] bounds the entries that say where it is.
    """

    cells: int
    lead: int
    shifts: np.ndarray  # int32 (9,)
    mend_start: np.ndarray  # int32 (tiles, 10)
    mend_lane: np.ndarray  # int32 (mends,)
    mend_source: np.ndarray  # int32 (mends,): a place in the state
    tile_start: np.ndarray  # int32 (tiles,): first cell
    tile_lanes: np.ndarray  # int32 (tiles,): one of LANES
    chunk_start: np.ndarray  # int32 (chunks + 1,): first tile of each chunk, and the end


class Team(NamedTuple):
    """How workers share the groups of samples: `whole` ones each alone, the rest by cells."""

    workers: int
    whole: int
    abreast: int  # groups whose cells are shared at the same time


class Workspace(NamedTuple):
    """One worker's buffers, aligned to a cache line."""

    values: np.ndarray  # rows · MAX_LANES
    gradients: np.ndarray  # gradient rows · MAX_LANES
    kept: np.ndarray  # channels · MAX_LANES
    scratch: np.ndarray  # 28 vectors


# --- vectors ----------------------------------------------------------------------------------

if JIT:
    from llvmlite import ir

    _I32, _I64 = ir.IntType(32), ir.IntType(64)

    class _Emitter:
        """Emits rows of a tile as vectors of one cache line. `rows` share one lane count."""

        def __init__(self, context: Any, builder: Any, dtype: Any, lanes: int) -> None:
            self.builder = builder
            bits = dtype.bitwidth
            self.width = LINE * 8 // bits
            self.vectors = lanes // self.width
            self.lanes = lanes
            self.type = ir.VectorType(context.get_value_type(dtype), self.width)
            name = f"llvm.fmuladd.v{self.width}f{bits}"
            signature = ir.FunctionType(self.type, [self.type] * 3)
            self._fma = cgutils.get_or_insert_function(builder.module, signature, name)

        def zero(self) -> Any:
            return ir.Constant(self.type, [0.0] * self.width)

        def fma(self, x: Any, y: Any, z: Any) -> Any:
            return self.builder.call(self._fma, [x, y, z])

        def pointer(self, base: Any, offset: Any) -> Any:
            element = self.builder.gep(base, [offset])
            return self.builder.bitcast(element, self.type.as_pointer())

        def load(self, pointer: Any) -> Any:
            value = self.builder.load(pointer)
            value.align = LINE
            return value

        def store(self, value: Any, pointer: Any) -> None:
            self.builder.store(value, pointer).align = LINE

        def splat(self, base: Any, offset: int) -> Any:
            """Load one element and repeat it over the vector."""
            scalar = self.builder.load(self.builder.gep(base, [_I64(offset)]))
            undefined = ir.Constant(self.type, ir.Undefined)
            first = self.builder.insert_element(undefined, scalar, _I32(0))
            return self.shuffle(first, undefined, [0] * self.width)

        def shuffle(self, x: Any, y: Any, mask: list[int]) -> Any:
            constant = ir.Constant(ir.VectorType(_I32, len(mask)), mask)
            return self.builder.shuffle_vector(x, y, constant)

        def field(self, row: Any, column: int) -> Any:
            """One field of an instruction, as a 64-bit number."""
            value = self.builder.load(self.builder.gep(row, [_I64(column)]))
            return self.builder.zext(value, _I64)

        def row(self, base: Any, number: Any) -> Any:
            """Pointer to the first lane of a tile's row."""
            return self.builder.gep(base, [self.builder.mul(number, _I64(self.lanes))])

        def blocks(self, row: Any, column: int | None, body: Callable, step: int) -> None:
            """Call body(offsets of `step` vectors) over all lanes of `width` adjacent rows."""
            builder = self.builder

            def one_row(start: Any) -> None:
                for first in range(0, self.vectors, step):
                    vectors = range(first, min(first + step, self.vectors))
                    body([builder.add(start, _I64(k * self.width)) for k in vectors])

            if column is None:
                one_row(_I64(0))
            else:
                count = self.field(row, column)
                with cgutils.for_range(builder, count, intp=_I64) as loop:
                    one_row(builder.mul(loop.index, _I64(self.lanes)))

        def gate(self, c: list[Any], a: Any, b: Any) -> Any:
            # f(a, b) = c0 + c1·a + c2·b + c3·a·b
            return self.fma(a, self.fma(c[3], b, c[1]), self.fma(c[2], b, c[0]))

        def pull(self, c: list[Any], g: Any, a: Any, b: Any) -> tuple[Any, Any]:
            """Factors of g in dL/da and dL/db: c1 + c3·b and c2 + c3·a."""
            return self.fma(c[3], b, c[1]), self.fma(c[3], a, c[2])

        def add_sums(self, sums: list[Any], g: Any, a: Any, b: Any) -> None:
            """Add g, g·a, g·b, g·a·b to the four vectors that `sums` points to."""
            builder = self.builder
            ga = builder.fmul(g, a)
            self.store(builder.fadd(self.load(sums[0]), g), sums[0])
            self.store(builder.fadd(self.load(sums[1]), ga), sums[1])
            self.store(self.fma(g, b, self.load(sums[2])), sums[2])
            self.store(self.fma(ga, b, self.load(sums[3])), sums[3])

        def fold_sums(self, sums: list[Any], slot: Any) -> None:
            """Add up the lanes of four vectors; add (Σg, Σga, Σgb, Σgab) to a slot of four."""
            builder = self.builder
            x, y, z, w = (self.load(pointer) for pointer in sums)
            groups = range(0, self.width, 4)
            n = self.width
            low = [i for k in groups for i in (k, n + k, k + 1, n + k + 1)]
            high = [i for k in groups for i in (k + 2, n + k + 2, k + 3, n + k + 3)]
            xy = builder.fadd(self.shuffle(x, y, low), self.shuffle(x, y, high))
            zw = builder.fadd(self.shuffle(z, w, low), self.shuffle(z, w, high))
            low = [i for k in groups for i in (k, k + 1, n + k, n + k + 1)]
            high = [i for k in groups for i in (k + 2, k + 3, n + k + 2, n + k + 3)]
            folded = builder.fadd(self.shuffle(xy, zw, low), self.shuffle(xy, zw, high))
            # Now (x, y, z, w) repeats along the vector: halve it until one is left.
            while n > 4:
                n //= 2
                low, high = list(range(n)), list(range(n, 2 * n))
                folded = builder.fadd(
                    self.shuffle(folded, folded, low), self.shuffle(folded, folded, high)
                )
            target = builder.bitcast(slot, folded.type.as_pointer())
            before = builder.load(target)
            before.align = LINE // self.width
            builder.store(builder.fadd(before, folded), target).align = LINE // self.width

    def _data(context: Any, builder: Any, array_type: Any, value: Any) -> Any:
        return context.make_array(array_type)(context, builder, value).data

    def _primitive(emit: Callable) -> Any:
        """Make an intrinsic of (arrays…, lanes): `emit` gets an emitter and data pointers.

        The first array gives the element type, the second is the instruction matrix; `lanes`
        is a literal.
        """

        def typer(typing_context: Any, arrays: Any, lanes: Any) -> Any:
            if not isinstance(lanes, types.IntegerLiteral):
                return None
            signature = types.void(arrays, lanes)

            def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                pointers = [
                    _data(context, builder, array, builder.extract_value(args[0], k))
                    for k, array in enumerate(arrays)
                ]
                code = context.make_array(arrays[1])(
                    context, builder, builder.extract_value(args[0], 1)
                )
                count = builder.extract_value(code.shape, 0)
                emitter = _Emitter(context, builder, arrays[0].dtype, lanes.literal_value)
                emit(emitter, count, *pointers)
                return context.get_dummy_value()

            return signature, codegen

        typer.__name__ = emit.__name__
        return intrinsic(typer)

    def _instruction(v: Any, code: Any, index: Any, fields: int) -> Any:
        return v.builder.gep(code, [v.builder.mul(index, _I64(fields))])

    def _flag(v: Any, flags: Any, bit: int) -> Any:
        return v.builder.icmp_unsigned("!=", v.builder.and_(flags, _I64(bit)), _I64(0))

    def _coefficients(v: Any, base: Any, param: Any) -> list[Any]:
        start = v.builder.gep(base, [v.builder.mul(param, _I64(4))])
        return [v.splat(start, k) for k in range(4)]

    def _slot(v: Any, base: Any, param: Any) -> Any:
        return v.builder.gep(base, [v.builder.mul(param, _I64(4))])

    def _reversed(v: Any, count: Any, index: Any) -> Any:
        return v.builder.sub(v.builder.sub(count, _I64(1)), index)

    @_primitive
    def runs_forward(v: Any, count: Any, tile: Any, code: Any, coefficients: Any) -> None:
        with cgutils.for_range(v.builder, count, intp=_I64) as loop:
            row = _instruction(v, code, loop.index, FIELDS)
            a, b, out = (v.row(tile, v.field(row, k)) for k in (A, B, OUT))
            c = _coefficients(v, coefficients, v.field(row, PARAM))

            def block(offsets: list[Any]) -> None:
                for o in offsets:
                    value = v.gate(c, v.load(v.pointer(a, o)), v.load(v.pointer(b, o)))
                    v.store(value, v.pointer(out, o))

            v.blocks(row, WIDTH, block, step=v.vectors)

    @_primitive
    def gates_forward(v: Any, count: Any, tile: Any, code: Any, coefficients: Any) -> None:
        builder = v.builder
        chain = [cgutils.alloca_once(builder, v.type) for _ in range(v.vectors)]
        with cgutils.for_range(builder, count, intp=_I64) as loop:
            row = _instruction(v, code, loop.index, FIELDS)
            a, b, out = (v.row(tile, v.field(row, k)) for k in (A, B, OUT))
            c = _coefficients(v, coefficients, v.field(row, PARAM))
            offsets = [_I64(k * v.width) for k in range(v.vectors)]
            # A linked gate's input a is the input b of the gate before, still in registers.
            linked = _flag(v, v.field(row, FLAGS), LINK)
            with builder.if_then(builder.not_(linked)):
                for held, o in zip(chain, offsets, strict=True):
                    builder.store(v.load(v.pointer(a, o)), held)
            for held, o in zip(chain, offsets, strict=True):
                value_b = v.load(v.pointer(b, o))
                v.store(v.gate(c, builder.load(held), value_b), v.pointer(out, o))
                builder.store(value_b, held)

    @_primitive
    def stars_forward(v: Any, count: Any, tile: Any, code: Any, coefficients: Any) -> None:
        with cgutils.for_range(v.builder, count, intp=_I64) as loop:
            row = _instruction(v, code, loop.index, STAR_FIELDS)
            leaves = [v.row(tile, v.field(row, STAR_LEAVES + k)) for k in range(4)]
            center = v.row(tile, v.field(row, STAR_CENTER))
            out = v.row(tile, v.field(row, STAR_OUT))
            params = [v.field(row, STAR_PARAMS + k) for k in range(7)]

            def block(offsets: list[Any]) -> None:
                middle = [v.load(v.pointer(center, o)) for o in offsets]

                def leaf(k: int) -> list[Any]:
                    c = _coefficients(v, coefficients, params[k])
                    return [
                        v.gate(c, v.load(v.pointer(leaves[k], o)), m)
                        for o, m in zip(offsets, middle, strict=True)
                    ]

                def join(k: int, left: list[Any], right: list[Any]) -> list[Any]:
                    c = _coefficients(v, coefficients, params[k])
                    return [v.gate(c, x, y) for x, y in zip(left, right, strict=True)]

                left = join(4, leaf(0), leaf(1))
                right = join(5, leaf(2), leaf(3))
                for value, o in zip(join(6, left, right), offsets, strict=True):
                    v.store(value, v.pointer(out, o))

            v.blocks(row, STAR_WIDTH, block, step=4)

    def _add_or_store(v: Any, adds: Any, values: list[Any], base: Any, offsets: list[Any]) -> None:
        """Store values to a row, or add them to what it holds if `adds`."""
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

    def _way_back(
        v: Any, code: Any, index: Any, tile: Any, coefficients: Any, grad: Any
    ) -> tuple[Any, ...]:
        """Decode an instruction: itself, rows a, b, of their gradients and out's, and the rest."""
        row = _instruction(v, code, index, FIELDS)
        values = [v.row(tile, v.field(row, k)) for k in (A, B)]
        gradients = [v.row(grad, v.field(row, k)) for k in (GRAD_A, GRAD_B, GRAD_OUT)]
        param, flags = v.field(row, PARAM), v.field(row, FLAGS)
        return (row, *values, *gradients, param, flags, _coefficients(v, coefficients, param))

    @_primitive
    def runs_backward(
        v: Any, count: Any, tile: Any, code: Any, coefficients: Any, grad: Any, sums: Any
    ) -> None:
        builder = v.builder
        acc = [cgutils.alloca_once(builder, v.type) for _ in range(4)]
        with cgutils.for_range(builder, count, intp=_I64) as loop:
            index = _reversed(v, count, loop.index)
            row, a, b, grad_a, grad_b, grad_out, param, flags, c = _way_back(
                v, code, index, tile, coefficients, grad
            )
            adds_a, adds_b = _flag(v, flags, ADD_A), _flag(v, flags, ADD_B)
            for slot in acc:
                builder.store(v.zero(), slot)

            def block(offsets: list[Any]) -> None:
                for o in offsets:
                    g = v.load(v.pointer(grad_out, o))
                    value_a, value_b = v.load(v.pointer(a, o)), v.load(v.pointer(b, o))
                    to_a, to_b = v.pull(c, g, value_a, value_b)
                    _add_or_store(v, adds_b, [builder.fmul(g, to_b)], grad_b, [o])
                    _add_or_store(v, adds_a, [builder.fmul(g, to_a)], grad_a, [o])
                    v.add_sums(acc, g, value_a, value_b)

            v.blocks(row, WIDTH, block, step=v.vectors)
            v.fold_sums(acc, _slot(v, sums, param))

    @_primitive
    def gates_backward(
        v: Any, count: Any, tile: Any, code: Any, coefficients: Any, grad: Any, sums: Any
    ) -> None:
        builder = v.builder
        acc = [cgutils.alloca_once(builder, v.type) for _ in range(4)]
        # What the gate after this one in its chain leaves: the value of our input b, and its
        # part of that input's gradient.
        held_value = [cgutils.alloca_once(builder, v.type) for _ in range(v.vectors)]
        held_grad = [cgutils.alloca_once(builder, v.type) for _ in range(v.vectors)]
        offsets = [_I64(k * v.width) for k in range(v.vectors)]
        with cgutils.for_range(builder, count, intp=_I64) as loop:
            index = _reversed(v, count, loop.index)
            _, a, b, grad_a, grad_b, grad_out, param, flags, c = _way_back(
                v, code, index, tile, coefficients, grad
            )
            for slot in acc:
                builder.store(v.zero(), slot)
            with builder.if_then(builder.not_(_flag(v, flags, LINKED))):
                for value, held, o in zip(held_value, held_grad, offsets, strict=True):
                    builder.store(v.load(v.pointer(b, o)), value)
                    builder.store(v.zero(), held)
            with builder.if_then(_flag(v, flags, ADD_B)):
                for held, o in zip(held_grad, offsets, strict=True):
                    total = builder.fadd(builder.load(held), v.load(v.pointer(grad_b, o)))
                    builder.store(total, held)
            for value, held, o in zip(held_value, held_grad, offsets, strict=True):
                g = v.load(v.pointer(grad_out, o))
                value_a, value_b = v.load(v.pointer(a, o)), builder.load(value)
                to_a, to_b = v.pull(c, g, value_a, value_b)
                v.store(v.fma(g, to_b, builder.load(held)), v.pointer(grad_b, o))
                v.add_sums(acc, g, value_a, value_b)
                builder.store(builder.fmul(g, to_a), held)
                builder.store(value_a, value)
            with builder.if_then(builder.not_(_flag(v, flags, LINK))):
                values = [builder.load(held) for held in held_grad]
                _add_or_store(v, _flag(v, flags, ADD_A), values, grad_a, offsets)
            v.fold_sums(acc, _slot(v, sums, param))

    @_primitive
    def stars_backward(
        v: Any, count: Any, tile: Any, code: Any, coefficients: Any, grad: Any, sums: Any,
        scratch: Any,
    ) -> None:  # fmt: skip
        builder = v.builder
        # The sums of seven gates do not fit the registers: they live in a scratch of 28 lines.
        acc = [
            [v.pointer(scratch, _I64((4 * gate + k) * v.width)) for k in range(4)]
            for gate in range(7)
        ]
        with cgutils.for_range(builder, count, intp=_I64) as loop:
            row = _instruction(v, code, _reversed(v, count, loop.index), STAR_FIELDS)
            leaves = [v.row(tile, v.field(row, STAR_LEAVES + k)) for k in range(4)]
            center = v.row(tile, v.field(row, STAR_CENTER))
            grad_leaves = [v.row(grad, v.field(row, STAR_GRAD_LEAVES + k)) for k in range(4)]
            grad_center = v.row(grad, v.field(row, STAR_GRAD_CENTER))
            grad_out = v.row(grad, v.field(row, STAR_GRAD_OUT))
            params = [v.field(row, STAR_PARAMS + k) for k in range(7)]
            for gate in range(7):
                for pointer in acc[gate]:
                    v.store(v.zero(), pointer)

            def block(offsets: list[Any]) -> None:
                n = range(len(offsets))
                middle = [v.load(v.pointer(center, o)) for o in offsets]
                x = [[v.load(v.pointer(leaf, o)) for o in offsets] for leaf in leaves]

                def values(k: int, left: list[Any], right: list[Any]) -> list[Any]:
                    c = _coefficients(v, coefficients, params[k])
                    return [v.gate(c, left[i], right[i]) for i in n]

                y = [values(k, x[k], middle) for k in range(4)]
                z = [values(4, y[0], y[1]), values(5, y[2], y[3])]

                def pulls(
                    k: int, g: list[Any], left: list[Any], right: list[Any]
                ) -> list[tuple[Any, Any]]:
                    c = _coefficients(v, coefficients, params[k])
                    _add_block_sums(v, acc[k], g, left, right)
                    return [v.pull(c, g[i], left[i], right[i]) for i in n]

                def back(
                    k: int, g: list[Any], left: list[Any], right: list[Any]
                ) -> tuple[list[Any], list[Any]]:
                    to = pulls(k, g, left, right)
                    to_left = [builder.fmul(g[i], to[i][0]) for i in n]
                    return to_left, [builder.fmul(g[i], to[i][1]) for i in n]

                g = [v.load(v.pointer(grad_out, o)) for o in offsets]
                g4, g5 = back(6, g, z[0], z[1])
                below = [*back(4, g4, y[0], y[1]), *back(5, g5, y[2], y[3])]
                # The inputs are zeroed before the walk: every star can add to them.
                to_center = [v.load(v.pointer(grad_center, o)) for o in offsets]
                for k in range(4):
                    to = pulls(k, below[k], x[k], middle)
                    for i in n:
                        target = v.pointer(grad_leaves[k], offsets[i])
                        v.store(v.fma(below[k][i], to[i][0], v.load(target)), target)
                        to_center[i] = v.fma(below[k][i], to[i][1], to_center[i])
                for i in n:
                    v.store(to_center[i], v.pointer(grad_center, offsets[i]))

            v.blocks(row, STAR_WIDTH, block, step=4)
            for gate in range(7):
                v.fold_sums(acc[gate], _slot(v, sums, params[gate]))

    def _add_block_sums(v: Any, sums: list[Any], g: list[Any], a: list[Any], b: list[Any]) -> None:
        """As add_sums, over several vectors at once, so that `sums` is touched only once."""
        builder = v.builder
        totals = [v.load(pointer) for pointer in sums]
        for i in range(len(g)):
            ga = builder.fmul(g[i], a[i])
            totals[0] = builder.fadd(totals[0], g[i])
            totals[1] = builder.fadd(totals[1], ga)
            totals[2] = v.fma(g[i], b[i], totals[2])
            totals[3] = v.fma(ga, b[i], totals[3])
        for total, pointer in zip(totals, sums, strict=True):
            v.store(total, pointer)

    # --- atomics ------------------------------------------------------------------------------

    @intrinsic
    def atomic_add(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
        """Add to an int64 element, sequentially consistent; return what it held before."""
        signature = types.int64(array, types.intp, types.int64)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            element = builder.gep(_data(context, builder, array, args[0]), [args[1]])
            return builder.atomic_rmw("add", element, args[2], "seq_cst")

        return signature, codegen

    @intrinsic
    def atomic_load(typing_context: Any, array: Any, index: Any) -> Any:
        """Read an int64 element, sequentially consistent."""
        signature = types.int64(array, types.intp)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            element = builder.gep(_data(context, builder, array, args[0]), [args[1]])
            return builder.load_atomic(element, "seq_cst", 8)

        return signature, codegen

    @intrinsic
    def yield_thread(typing_context: Any) -> Any:
        """Let another thread have the core."""
        signature = types.int32()

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
            function = ir.FunctionType(_I32, [])
            return builder.call(cgutils.get_or_insert_function(builder.module, function, name), [])

        return signature, codegen

    @intrinsic
    def now(typing_context: Any) -> Any:
        """Read a steady clock, in seconds."""
        signature = types.float64()

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            timespec = cgutils.alloca_once(builder, ir.ArrayType(_I64, 2))
            pointer = builder.bitcast(timespec, ir.IntType(8).as_pointer())
            first, second = (
                builder.gep(timespec, [_I32(0), _I32(k)], inbounds=True) for k in range(2)
            )
            if sys.platform == "win32":
                name, arguments = "QueryPerformanceCounter", [pointer]
            else:
                name, arguments = "clock_gettime", [_I32(_MONOTONIC), pointer]
            function = ir.FunctionType(_I32, [argument.type for argument in arguments])
            builder.call(cgutils.get_or_insert_function(builder.module, function, name), arguments)
            double = ir.DoubleType()
            whole = builder.sitofp(builder.load(first), double)
            if sys.platform == "win32":  # counts at 10 MHz since Windows 10
                return builder.fmul(whole, double(1e-7))
            nanoseconds = builder.sitofp(builder.load(second), double)
            return builder.fadd(whole, builder.fmul(nanoseconds, double(1e-9)))

        return signature, codegen

    _MONOTONIC = 6 if sys.platform == "darwin" else 1
    """CLOCK_MONOTONIC of clock_gettime."""

    @intrinsic
    def flush_denormals(typing_context: Any) -> Any:
        """Make this thread take denormal numbers as zero; return the mode it had.

        Gradients vanish through hundreds of layers, and a multiplication of denormals takes a
        hundred times longer than one of zeros on x86. Elsewhere it does not, and nothing is done.
        """
        signature = types.uint32()

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            before = cgutils.alloca_once_value(builder, _I32(0))
            if _X86:
                _control_register(builder, "stmxcsr", before)
                flushing = builder.or_(builder.load(before), _I32(_FLUSH))
                _control_register(builder, "ldmxcsr", cgutils.alloca_once_value(builder, flushing))
            return builder.load(before)

        return signature, codegen

    @intrinsic
    def restore_denormals(typing_context: Any, mode: Any) -> Any:
        """Undo flush_denormals."""
        signature = types.void(types.uint32)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if _X86:
                _control_register(builder, "ldmxcsr", cgutils.alloca_once_value(builder, args[0]))
            return context.get_dummy_value()

        return signature, codegen

    _X86 = platform.machine().lower() in ("x86_64", "amd64")
    _FLUSH = 0x8040
    """Flush-to-zero and denormals-are-zero, bits 15 and 6 of MXCSR."""

    def _control_register(builder: Any, instruction: str, pointer: Any) -> None:
        byte = ir.IntType(8).as_pointer()
        signature = ir.FunctionType(ir.VoidType(), [byte])
        name = f"llvm.x86.sse.{instruction}"
        function = cgutils.get_or_insert_function(builder.module, signature, name)
        builder.call(function, [builder.bitcast(pointer, byte)])

    @intrinsic
    def fma_chains(typing_context: Any, count: Any, seed: Any) -> Any:
        """Run `count` rounds of CHAINS independent fused multiply-adds on full vectors."""
        signature = types.float32(types.int64, types.float32)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            v = _Emitter(context, builder, types.float32, 16)
            seed_pointer = cgutils.alloca_once_value(builder, args[1])
            x = v.splat(seed_pointer, 0)
            chains = [
                cgutils.alloca_once_value(builder, builder.fadd(x, ir.Constant(v.type, [k] * 16)))
                for k in range(CHAINS)
            ]
            with cgutils.for_range(builder, args[0], intp=_I64):
                for chain in chains:
                    builder.store(v.fma(builder.load(chain), x, x), chain)
            total = builder.load(chains[0])
            for chain in chains[1:]:
                total = builder.fadd(total, builder.load(chain))
            return builder.extract_element(total, _I32(0))

        return signature, codegen

else:
    # The same primitives in NumPy, one row at a time. They serve coverage, and say plainly what
    # the vectors above compute.

    def _rows(tile: Any, row: int, width: int, lanes: int) -> Any:
        return tile[row * lanes : (row + width) * lanes]

    def _forward_gate(tile: Any, c: Any, a: int, b: int, out: int, width: int, lanes: int) -> None:
        x, y = _rows(tile, a, width, lanes), _rows(tile, b, width, lanes)
        _rows(tile, out, width, lanes)[:] = c[0] + c[1] * x + c[2] * y + c[3] * x * y

    def _back(g: Any, a: Any, b: Any, c: Any, sums: Any, param: int) -> tuple[Any, Any]:
        slot = sums[4 * param : 4 * param + 4]
        slot += np.array([g.sum(), (g * a).sum(), (g * b).sum(), (g * a * b).sum()], g.dtype)
        return g * (c[1] + c[3] * b), g * (c[2] + c[3] * a)

    def _put(grad: Any, row: int, width: int, lanes: int, adds: int, value: Any) -> None:
        target = _rows(grad, row, width, lanes)
        target[:] = target + value if adds else value

    def runs_forward(arrays: Any, lanes: int) -> None:
        tile, code, coefficients = arrays
        for row in code:
            c = coefficients[4 * row[PARAM] : 4 * row[PARAM] + 4]
            _forward_gate(tile, c, row[A], row[B], row[OUT], row[WIDTH], lanes)

    def gates_forward(arrays: Any, lanes: int) -> None:
        tile, code, coefficients = arrays
        held = None
        for row in code:
            c = coefficients[4 * row[PARAM] : 4 * row[PARAM] + 4]
            x = held if row[FLAGS] & LINK else _rows(tile, row[A], 1, lanes).copy()
            held = _rows(tile, row[B], 1, lanes).copy()
            _rows(tile, row[OUT], 1, lanes)[:] = c[0] + c[1] * x + c[2] * held + c[3] * x * held

    def _star_values(tile: Any, row: Any, c: Any, lanes: int) -> list[tuple[Any, Any]]:
        """Inputs of the seven gates of a star, in the order of its params, then its value."""
        center = _rows(tile, row[STAR_CENTER], row[STAR_WIDTH], lanes)
        pairs = [
            (_rows(tile, row[STAR_LEAVES + k], row[STAR_WIDTH], lanes), center) for k in range(4)
        ]

        def value(k: int) -> Any:
            x, y = pairs[k]
            return c[k][0] + c[k][1] * x + c[k][2] * y + c[k][3] * x * y

        pairs += [(value(0), value(1)), (value(2), value(3))]
        pairs.append((value(4), value(5)))
        return [*pairs, (value(6), value(6))]

    def stars_forward(arrays: Any, lanes: int) -> None:
        tile, code, coefficients = arrays
        for row in code:
            c = [coefficients[4 * p : 4 * p + 4] for p in row[STAR_PARAMS : STAR_PARAMS + 7]]
            values = _star_values(tile, row, c, lanes)
            _rows(tile, row[STAR_OUT], row[STAR_WIDTH], lanes)[:] = values[-1][0]

    def runs_backward(arrays: Any, lanes: int) -> None:
        tile, code, coefficients, grad, sums = arrays
        for row in code[::-1]:
            width, param, flags = row[WIDTH], row[PARAM], row[FLAGS]
            x, y = _rows(tile, row[A], width, lanes), _rows(tile, row[B], width, lanes)
            g = _rows(grad, row[GRAD_OUT], width, lanes)
            c = coefficients[4 * param : 4 * param + 4]
            to_a, to_b = _back(g, x, y, c, sums, param)
            _put(grad, row[GRAD_B], width, lanes, flags & ADD_B, to_b)
            _put(grad, row[GRAD_A], width, lanes, flags & ADD_A, to_a)

    def gates_backward(arrays: Any, lanes: int) -> None:
        tile, code, coefficients, grad, sums = arrays
        held_value, held_grad = None, None
        for row in code[::-1]:
            param, flags = row[PARAM], row[FLAGS]
            if not flags & LINKED:
                held_value, held_grad = _rows(tile, row[B], 1, lanes), 0.0
            x, g = _rows(tile, row[A], 1, lanes), _rows(grad, row[GRAD_OUT], 1, lanes)
            c = coefficients[4 * param : 4 * param + 4]
            to_a, to_b = _back(g, x, held_value, c, sums, param)
            _put(grad, row[GRAD_B], 1, lanes, flags & ADD_B, held_grad + to_b)
            held_value, held_grad = x, to_a
            if not flags & LINK:
                _put(grad, row[GRAD_A], 1, lanes, flags & ADD_A, to_a)

    def stars_backward(arrays: Any, lanes: int) -> None:
        tile, code, coefficients, grad, sums, _scratch = arrays
        for row in code[::-1]:
            width = row[STAR_WIDTH]
            params = row[STAR_PARAMS : STAR_PARAMS + 7]
            c = [coefficients[4 * p : 4 * p + 4] for p in params]
            values = _star_values(tile, row, c, lanes)
            g: dict[int, Any] = {6: _rows(grad, row[STAR_GRAD_OUT], width, lanes)}
            to_center = 0.0
            for gate, (left, right) in ((6, (4, 5)), (5, (2, 3)), (4, (0, 1))):
                g[left], g[right] = _back(g[gate], *values[gate], c[gate], sums, params[gate])
            for leaf in range(4):
                to_leaf, to_middle = _back(g[leaf], *values[leaf], c[leaf], sums, params[leaf])
                to_center = to_center + to_middle
                grad_row = row[STAR_GRAD_LEAVES + leaf]
                _put(grad, grad_row, width, lanes, True, to_leaf)
            _put(grad, row[STAR_GRAD_CENTER], width, lanes, True, to_center)

    _ATOMIC = threading.Lock()

    def atomic_add(array: Any, index: int, value: int) -> int:
        with _ATOMIC:
            before = int(array[index])
            array[index] += value
        return before

    def atomic_load(array: Any, index: int) -> int:
        return int(array[index])

    def yield_thread() -> int:
        time.sleep(0)
        return 0

    def now() -> float:
        return time.perf_counter()

    def flush_denormals() -> int:
        return 0

    def restore_denormals(mode: int) -> None:
        pass

    def fma_chains(count: int, seed: Any) -> Any:
        x = np.full(16, seed, np.float32)
        for _ in range(count):
            x = x * seed + seed
        return x[0]


CHAINS = 20
"""Independent chains of fused multiply-adds: enough to hide their latency on two ports."""


# --- one tile ---------------------------------------------------------------------------------


@kernel
def run_forward(code, coefficients, tile, lanes):
    """Evaluate all gates of a tile whose input rows are filled."""
    if lanes == 16:
        stars_forward((tile, code.stars, coefficients), 16)
        runs_forward((tile, code.runs, coefficients), 16)
        gates_forward((tile, code.gates, coefficients), 16)
    elif lanes == 32:
        stars_forward((tile, code.stars, coefficients), 32)
        runs_forward((tile, code.runs, coefficients), 32)
        gates_forward((tile, code.gates, coefficients), 32)
    else:
        stars_forward((tile, code.stars, coefficients), 64)
        runs_forward((tile, code.runs, coefficients), 64)
        gates_forward((tile, code.gates, coefficients), 64)


@kernel
def run_backward(code, coefficients, tile, grad, sums, scratch, lanes):
    """Walk a tile's gates back: from `grad`'s output rows to its input rows, and to `sums`."""
    if lanes == 16:
        gates_backward((tile, code.gates, coefficients, grad, sums), 16)
        runs_backward((tile, code.runs, coefficients, grad, sums), 16)
        stars_backward((tile, code.stars, coefficients, grad, sums, scratch), 16)
    elif lanes == 32:
        gates_backward((tile, code.gates, coefficients, grad, sums), 32)
        runs_backward((tile, code.runs, coefficients, grad, sums), 32)
        stars_backward((tile, code.stars, coefficients, grad, sums, scratch), 32)
    else:
        gates_backward((tile, code.gates, coefficients, grad, sums), 64)
        runs_backward((tile, code.runs, coefficients, grad, sums), 64)
        stars_backward((tile, code.stars, coefficients, grad, sums, scratch), 64)


@kernel
def gather(source, layout, tile_index, mirrored, rows):
    """Copy the neighbours of a tile's cells to rows n·C + c, for neighbour n and channel c.

    `source` is a state (C, stride), or the gradient that the cells' inputs left (9·C, stride);
    `mirrored` walks the neighbours from the other side: what neighbour 8 - n of a cell is to the
    cell, the cell is to it. Most lanes are one shifted copy; the rest are mended one by one.
    """
    start, lanes = layout.tile_start[tile_index], layout.tile_lanes[tile_index]
    count = min(lanes, layout.cells - start)
    channels = source.shape[0] // 9 if mirrored else source.shape[0]
    for n in range(9):
        neighbor = 8 - n if mirrored else n
        first = layout.lead + start + layout.shifts[neighbor]
        mend = layout.mend_start[tile_index, neighbor]
        mend_end = layout.mend_start[tile_index, neighbor + 1]
        for c in range(channels):
            row = source[n * channels + c] if mirrored else source[c]
            target = rows[(n * channels + c) * lanes : (n * channels + c + 1) * lanes]
            # Slices, since numba cannot vectorise an index that it must check for a sign.
            shifted = row[first : first + lanes]
            for i in range(lanes):
                target[i] = shifted[i]
            for m in range(mend, mend_end):
                target[layout.mend_lane[m]] = row[layout.mend_source[m]]
            for i in range(count, lanes):
                target[i] = 0.0


@kernel
def tile_forward(code, coefficients, layout, tile_index, state, mask, new_state, values):
    """Advance a tile's cells by one step: `state` to `new_state`, both (C, stride).

    `mask` is (cells,), 1 where a cell takes its new state, or empty if all do.
    """
    gather(state, layout, tile_index, False, values)
    start, lanes = layout.tile_start[tile_index], layout.tile_lanes[tile_index]
    run_forward(code, coefficients, values, lanes)
    count = min(lanes, layout.cells - start)
    first = layout.lead + start
    for c in range(state.shape[0]):
        computed = values[code.outputs[c] * lanes : (code.outputs[c] + 1) * lanes]
        old, new = state[c, first : first + count], new_state[c, first : first + count]
        if len(mask) == 0:
            for i in range(count):
                new[i] = computed[i]
        else:
            updated = mask[start : start + count]
            for i in range(count):
                new[i] = computed[i] if updated[i] else old[i]


@kernel
def tile_backward(code, zero_rows, coefficients, layout, tile_index, state, mask, last,
                  supervised, loss_gradient, upstream, downstream, sums, workspace):  # fmt: skip
    """Take the gradient of one step of a tile's cells back to the inputs of that step.

    dL/d(new state) is the sum of `loss_gradient` (C, stride), if the new state is `supervised`,
    and of what the step after left at its cells' inputs, `upstream` (9·C, stride), if this is not
    the `last` step. This step's goes to `downstream` (9·C, stride), and what its gates' logits
    need is added to `sums`.
    """
    start, lanes = layout.tile_start[tile_index], layout.tile_lanes[tile_index]
    count = min(lanes, layout.cells - start)
    first = layout.lead + start
    channels = state.shape[0]
    values, grad, kept = workspace.values, workspace.gradients, workspace.kept
    gather(state, layout, tile_index, False, values)
    run_forward(code, coefficients, values, lanes)

    if not last:
        # The input rows of the gradient tile are free until the backward walk stores to them.
        gather(upstream, layout, tile_index, True, grad)
    for c in range(channels):
        # Gathered before any output row is written: the two never share rows (program.py).
        total = kept[c * lanes : (c + 1) * lanes]
        total[:] = 0.0
        if supervised:
            given = loss_gradient[c, first : first + lanes]
            for i in range(lanes):
                total[i] = given[i] if i < count else 0.0
        if not last:
            for n in range(9):
                part = grad[(n * channels + c) * lanes : (n * channels + c + 1) * lanes]
                for i in range(lanes):
                    total[i] += part[i]
        target = grad[code.grad_outputs[c] * lanes : (code.grad_outputs[c] + 1) * lanes]
        if len(mask) == 0:
            for i in range(lanes):
                target[i] = total[i]
        else:
            # A cell that kept its old state hands its gradient straight to it.
            target[:] = 0.0
            updated = mask[start : start + count]
            for i in range(count):
                if updated[i]:
                    target[i], total[i] = total[i], 0.0
    for r in range(len(zero_rows)):
        grad[zero_rows[r] * lanes : (zero_rows[r] + 1) * lanes] = 0.0

    run_backward(code, coefficients, values, grad, sums, workspace.scratch, lanes)

    for r in range(9 * channels):
        target = downstream[r, first : first + count]
        found = grad[r * lanes : r * lanes + count]
        for i in range(count):
            target[i] = found[i]
    if len(mask) != 0:
        for c in range(channels):
            target = downstream[4 * channels + c, first : first + count]
            unchanged = kept[c * lanes : c * lanes + count]
            for i in range(count):
                target[i] += unchanged[i]


# --- workers ----------------------------------------------------------------------------------

ARRIVED, GENERATION, STOLEN, ABORTED, TICKETS = 0, 8, 16, 24, 32
"""Places in the control array, a cache line apart. TICKETS has one place per stage and worker; the
whole groups are stage 0, and every step of the shared ones is another."""
SPINS = 4000
"""Polls of the barrier before a waiting worker offers its core: some ten microseconds."""


@kernel
def barrier(control, workers):
    """Wait until all workers have come here, or the call is given up."""
    if workers == 1:
        return
    generation = atomic_load(control, GENERATION)
    if atomic_add(control, ARRIVED, 1) == workers - 1:
        atomic_add(control, ARRIVED, -workers)
        atomic_add(control, GENERATION, 1)
        return
    spins = 0
    while atomic_load(control, GENERATION) == generation:
        spins += 1
        if spins > SPINS:
            if atomic_load(control, ABORTED) != 0:
                return
            yield_thread()


@kernel
def take(control, stage, tasks, worker, workers):
    """Return a task of 0 to tasks - 1 that nobody has taken in this stage, or -1.

    Every worker has a share of its own, neighbouring tasks that stay in its cache from stage to
    stage; when that is done it takes from the others'.
    """
    for turn in range(workers):
        owner = (worker + turn) % workers
        first, end = owner * tasks // workers, (owner + 1) * tasks // workers
        place = TICKETS + stage * workers + owner
        if atomic_load(control, place) < end - first:
            task = first + atomic_add(control, place, 1)
            if task < end:
                if turn != 0:
                    atomic_add(control, STOLEN, 1)
                return task
    return -1


@kernel
def forward_share(worker, team, control, code, coefficients, layout, steps, states, masks, values):
    """Do one worker's share of a rollout of all groups of samples, `steps` steps long.

    `states` (groups, steps + 1 or more, C, stride) holds the starts at step 0 and receives all
    steps. `masks` is (groups, as many, cells), or (groups, …, 0) where every cell is updated.
    """
    groups = states.shape[0]
    tiles, chunks = len(layout.tile_start), len(layout.chunk_start) - 1
    # Whole groups of samples first: no worker waits for another.
    group = take(control, 0, team.whole, worker, team.workers)
    while group >= 0:
        for step in range(steps):
            for tile in range(tiles):
                tile_forward(code, coefficients, layout, tile, states[group, step],
                             masks[group, step], states[group, step + 1], values)  # fmt: skip
        group = take(control, 0, team.whole, worker, team.workers)
    # Then all workers share the cells of the groups that are left, `abreast` groups at a time.
    stage = 1
    for first in range(team.whole, groups, team.abreast):
        tasks = min(team.abreast, groups - first) * chunks
        for step in range(steps):
            task = take(control, stage, tasks, worker, team.workers)
            while task >= 0:
                group, chunk = first + task // chunks, task % chunks
                for tile in range(layout.chunk_start[chunk], layout.chunk_start[chunk + 1]):
                    tile_forward(code, coefficients, layout, tile, states[group, step],
                                 masks[group, step], states[group, step + 1], values)  # fmt: skip
                task = take(control, stage, tasks, worker, team.workers)
            stage += 1
            barrier(control, team.workers)


@kernel
def chunk_backward(program, coefficients, layout, chunk, states, step, mask, loss_steps,
                   loss_gradients, input_gradients, sums, workspace):  # fmt: skip
    """One step back for a chunk of tiles of one group; its gate sums go to its own slot.

    `loss_steps` (losses,) are the steps after which the state is supervised, ascending, and
    `loss_gradients` (losses, C, stride) is dL/d(those states), as far as they directly count.
    """
    last = step == loss_steps[-1] - 1
    if last:
        sums[:] = 0.0
    supervised, loss = False, 0
    for index in range(len(loss_steps)):
        if loss_steps[index] == step + 1:
            supervised, loss = True, index
    for tile in range(layout.chunk_start[chunk], layout.chunk_start[chunk + 1]):
        tile_backward(program.backward, program.zero_rows, coefficients, layout, tile,
                      states[step], mask, last, supervised, loss_gradients[loss],
                      input_gradients[(step + 1) % 2], input_gradients[step % 2], sums,
                      workspace)  # fmt: skip


@kernel
def backward_share(worker, team, control, program, coefficients, layout, states, masks, loss_steps,
                   loss_gradients, input_gradients, sums, workspace):  # fmt: skip
    """Do one worker's share of the backward pass; the counterpart of forward_share.

    `loss_gradients` (groups, losses, C, stride) is as in chunk_backward; `input_gradients`
    (groups, 2, 9·C, stride) is space for two steps; `sums` (groups, chunks, parameters · 4) gets
    the slots. Its stages follow those of the forward pass.
    """
    groups, steps = states.shape[0], loss_steps[-1]
    chunks = len(layout.chunk_start) - 1
    stage = shared_stages(team, groups, steps) + 1
    group = take(control, stage, team.whole, worker, team.workers)
    while group >= 0:
        for step in range(steps - 1, -1, -1):
            for chunk in range(chunks):
                chunk_backward(program, coefficients, layout, chunk, states[group], step,
                               masks[group, step], loss_steps, loss_gradients[group],
                               input_gradients[group], sums[group, chunk],
                               workspace)  # fmt: skip
        group = take(control, stage, team.whole, worker, team.workers)
    stage += 1
    for first in range(team.whole, groups, team.abreast):
        tasks = min(team.abreast, groups - first) * chunks
        for step in range(steps - 1, -1, -1):
            task = take(control, stage, tasks, worker, team.workers)
            while task >= 0:
                group, chunk = first + task // chunks, task % chunks
                chunk_backward(program, coefficients, layout, chunk, states[group], step,
                               masks[group, step], loss_steps, loss_gradients[group],
                               input_gradients[group], sums[group, chunk],
                               workspace)  # fmt: skip
                task = take(control, stage, tasks, worker, team.workers)
            stage += 1
            barrier(control, team.workers)


@kernel
def shared_stages(team, groups, steps):
    """Count the stages of a pass in which workers share cells: one per round and step."""
    return -(-(groups - team.whole) // team.abreast) * steps


@kernel
def loss_share(worker, team, layout, loss_steps, states, targets, loss_channels, losses,
               loss_gradients, in_use):  # fmt: skip
    """Take the sum of squared errors of each sample of every `workers`-th group, and its gradient.

    The target is that of all `loss_steps`, whose errors are added up. `targets` is (groups, loss
    channels, stride), `losses` (groups, samples of a group). Only the first `in_use` samples
    count; the others leave no gradient.
    """
    samples = losses.shape[1]
    cells = layout.cells // samples
    for group in range(worker, states.shape[0], team.workers):
        losses[group] = 0.0
        for loss in range(len(loss_steps)):
            for index in range(len(loss_channels)):
                channel = loss_channels[index]
                state = states[group, loss_steps[loss], channel]
                target, gradient = targets[group, index], loss_gradients[group, loss, channel]
                for sample in range(samples):
                    first = layout.lead + sample * cells
                    if group * samples + sample >= in_use:
                        gradient[first : first + cells] = 0.0
                        continue
                    for i in range(first, first + cells):
                        error = state[i] - target[i]
                        gradient[i] = 2 * error
                        losses[group, sample] += np.float64(error) * np.float64(error)


FORWARD, LOSS, BACKWARD = 1, 2, 4
"""Parts of a training step that a worker can be asked for."""


@kernel
def train(worker, team, control, parts, program, coefficients, layout, loss_steps, states, masks,
          targets, loss_channels, losses, loss_gradients, in_use, input_gradients, sums, clock,
          workspace):  # fmt: skip
    """Do one worker's share of a rollout, its loss and the way back: all `parts` in one call.

    The rollout ends with the last of `loss_steps`. Waking threads costs time, and compiling the
    tiles' code more than once too: hence one kernel. Worker 0 writes
    the seconds that loss and backward pass took to `clock` (2,).
    """
    mode = flush_denormals()
    if parts & FORWARD:
        forward_share(worker, team, control, program.forward, coefficients, layout,
                      loss_steps[-1], states, masks, workspace.values)  # fmt: skip
        barrier(control, team.workers)
    start = now()
    if parts & LOSS:
        loss_share(worker, team, layout, loss_steps, states, targets, loss_channels, losses,
                   loss_gradients, in_use)  # fmt: skip
        barrier(control, team.workers)
    middle = now()
    if parts & BACKWARD:
        backward_share(worker, team, control, program, coefficients, layout, states, masks,
                       loss_steps, loss_gradients, input_gradients, sums,
                       workspace)  # fmt: skip
        barrier(control, team.workers)
    if worker == 0:
        clock[0], clock[1] = middle - start, now() - middle
    restore_denormals(mode)


@kernel
def reduce_sums(sums, total):
    """Add all slots (groups, chunks, parameters · 4) to `total` (parameters · 4), in order."""
    for group in range(sums.shape[0]):
        for chunk in range(sums.shape[1]):
            slot = sums[group, chunk]
            for i in range(len(total)):
                total[i] += slot[i]


# --- logits -----------------------------------------------------------------------------------
# Transposed, (16, parameters): then every loop runs over parameters and fills whole vectors.

COLUMNS = 256
"""Parameters handled at a time: their 16 rows stay in the first-level cache."""


@kernel
def shift_and_harden(logits, shifted, ops):
    """Write logits minus their column's largest to `shifted`, and that one's place to `ops`.

    Logits and shifted are (16, parameters), ops (parameters,). The lowest place wins a tie.
    """
    parameters = logits.shape[1]
    best = np.empty(COLUMNS, logits.dtype)
    for first in range(0, parameters, COLUMNS):
        count = min(COLUMNS, parameters - first)
        place = ops[first : first + count]
        row = logits[0, first : first + count]
        for p in range(count):
            best[p], place[p] = row[p], 0
        for i in range(1, 16):
            row = logits[i, first : first + count]
            for p in range(count):
                larger = row[p] > best[p]
                best[p] = row[p] if larger else best[p]
                place[p] = np.uint8(i) if larger else place[p]
        for i in range(16):
            row, out = logits[i, first : first + count], shifted[i, first : first + count]
            for p in range(count):
                out[p] = row[p] - best[p]


@kernel
def normalize_and_mix(weights, basis, coefficients):
    """Divide each column of `weights` (16, parameters) by its sum; mix the ops' coefficients.

    `basis` (16, 4) holds those of the ops, `coefficients` (parameters, 4) receives the mixtures.
    """
    parameters = weights.shape[1]
    sums = np.empty((5, COLUMNS), weights.dtype)
    total, c0, c1, c2, c3 = sums[0], sums[1], sums[2], sums[3], sums[4]
    for first in range(0, parameters, COLUMNS):
        count = min(COLUMNS, parameters - first)
        sums[:] = 0.0
        for i in range(16):
            row = weights[i, first : first + count]
            b0, b1, b2, b3 = basis[i, 0], basis[i, 1], basis[i, 2], basis[i, 3]
            for p in range(count):
                total[p] += row[p]
                c0[p] += row[p] * b0
                c1[p] += row[p] * b1
                c2[p] += row[p] * b2
                c3[p] += row[p] * b3
        for i in range(16):
            row = weights[i, first : first + count]
            for p in range(count):
                row[p] /= total[p]
        for p in range(count):
            for j in range(4):
                coefficients[first + p, j] = sums[1 + j, p] / total[p]


@kernel
def adamw_step(logits, first, second, probabilities, basis, gradients, rates):
    """Turn dL/d(coefficients) into dL/dlogits, clip it, and take one AdamW step, in place.

    The arrays are (16, parameters), `basis` (16, 4) and `gradients` (parameters, 4). `rates` is
    (clip, β1, 1 - β1, β2, 1 - β2, 1 / (1 - β1^t), 1 / (1 - β2^t), ε, learning rate, 1 - rate ·
    decay), in the logits' type.
    """
    clip, beta1, rest1, beta2, rest2 = rates[0], rates[1], rates[2], rates[3], rates[4]
    unbias1, unbias2, epsilon, rate, keep = rates[5], rates[6], rates[7], rates[8], rates[9]
    parameters = logits.shape[1]
    mode = flush_denormals()  # second moments of settled gates
    space = np.empty((5, COLUMNS), logits.dtype)
    mean, c0, c1, c2, c3 = space[0], space[1], space[2], space[3], space[4]
    for start in range(0, parameters, COLUMNS):
        count = min(COLUMNS, parameters - start)
        for p in range(count):
            c0[p], c1[p] = gradients[start + p, 0], gradients[start + p, 1]
            c2[p], c3[p] = gradients[start + p, 2], gradients[start + p, 3]
            mean[p] = 0.0
        # dL/dz = p ⊙ (M·s - ⟨p, M·s⟩)
        for i in range(16):
            weights = probabilities[i, start : start + count]
            b0, b1, b2, b3 = basis[i, 0], basis[i, 1], basis[i, 2], basis[i, 3]
            for p in range(count):
                mean[p] += weights[p] * (c0[p] * b0 + c1[p] * b1 + c2[p] * b2 + c3[p] * b3)
        for i in range(16):
            weights = probabilities[i, start : start + count]
            z = logits[i, start : start + count]
            m, v = first[i, start : start + count], second[i, start : start + count]
            b0, b1, b2, b3 = basis[i, 0], basis[i, 1], basis[i, 2], basis[i, 3]
            for p in range(count):
                pull = c0[p] * b0 + c1[p] * b1 + c2[p] * b2 + c3[p] * b3
                g = min(max(weights[p] * (pull - mean[p]), -clip), clip)
                m[p] = beta1 * m[p] + rest1 * g
                v[p] = beta2 * v[p] + rest2 * g * g
                change = m[p] * unbias1 / (np.sqrt(v[p] * unbias2) + epsilon)
                z[p] = keep * z[p] - rate * change
    restore_denormals(mode)


# --- hard circuits ----------------------------------------------------------------------------

WORDS = 8
"""Words of 64 cells that a hard tile holds: one vector per row."""

HARD_FIELDS = 3
"""Columns of a hard gate: rows of its two inputs, and its op. It writes the row of its number."""


class HardCode(NamedTuple):
    """A hardened circuit without what does not matter. Rows: all inputs, then `gates`."""

    gates: np.ndarray  # int32 (gates, HARD_FIELDS)
    inputs: np.ndarray  # int32 (inputs, 3): rows that are read, their neighbours and channels
    channels: np.ndarray  # int32: channels that are computed
    outputs: np.ndarray  # int32: their next state's rows


class HardCells(NamedTuple):
    """How bit-packed cells find their neighbours.

    Bit i of word `pad` + w is cell 64·w + i of the batch. Neighbour n is the state from word
    `skip` on, shifted right by `shift` bits, under `masks`, joined over start[n : n + 2] (several
    where a boundary wraps).
    """

    pad: int
    cells: int  # of one sample
    start: np.ndarray  # int64 (10,)
    skip: np.ndarray  # int64 (shifts,)
    shift: np.ndarray  # uint64 (shifts,): below 64
    masks: np.ndarray  # uint64 (shifts, words)


class HardScript(NamedTuple):
    """What happens to a batch of bit-packed samples during a rollout, and what is counted.

    Each of the first two is empty, or has one row of words for all steps, or one per step.
    """

    fires: np.ndarray  # uint64 (… , words): bits of cells that take their new state
    keeps: np.ndarray  # uint64 (… , words): bits of cells that are not zeroed after the step
    at: np.ndarray  # int64 (counts,): steps after which wrong bits are counted, ascending, from 1
    channels: np.ndarray  # int32 (loss channels,)
    targets: np.ndarray  # uint64 (1 or counts, loss channels, words)
    counted: np.ndarray  # uint64 (words,): bits of cells that count


if JIT:

    class _Words:
        """Emits operations on WORDS words at a time, which are the arrays' elements at a place."""

        def __init__(self, context: Any, builder: Any, arrays: Any, values: Any) -> None:
            self.builder = builder
            self.type = ir.VectorType(_I64, WORDS)
            self.arrays = [
                context.make_array(array)(context, builder, value)
                for array, value in zip(arrays, values, strict=True)
            ]

        def rows(self, array: int) -> Any:
            return self.builder.extract_value(self.arrays[array].shape, 0)

        def field(self, array: int, place: Any) -> Any:
            """Return an element of an array of int32 as a 64-bit number."""
            value = self.builder.load(self.builder.gep(self.arrays[array].data, [place]))
            return self.builder.zext(value, _I64)

        def pointer(self, array: int, place: Any) -> Any:
            element = self.builder.gep(self.arrays[array].data, [place])
            return self.builder.bitcast(element, self.type.as_pointer())

        def load(self, array: int, place: Any) -> Any:
            value = self.builder.load(self.pointer(array, place))
            value.align = 8
            return value

        def store(self, value: Any, array: int, place: Any) -> None:
            self.builder.store(value, self.pointer(array, place)).align = 8

        def row(self, number: Any) -> Any:
            """Return the place of a tile's row."""
            return self.builder.mul(number, _I64(WORDS))

        def splat(self, scalar: Any) -> Any:
            undefined = ir.Constant(self.type, ir.Undefined)
            first = self.builder.insert_element(undefined, scalar, _I32(0))
            zeros = ir.Constant(ir.VectorType(_I32, WORDS), [0] * WORDS)
            return self.builder.shuffle_vector(first, undefined, zeros)

    def _words_primitive(emit: Callable) -> Any:
        """Make an intrinsic of (arrays…, integers): `emit` gets an emitter and the integers."""

        def typer(typing_context: Any, arrays: Any, integers: Any) -> Any:
            def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                values = [builder.extract_value(args[0], i) for i in range(len(arrays))]
                numbers = [
                    context.cast(builder, builder.extract_value(args[1], i), integer, types.int64)
                    for i, integer in enumerate(integers)
                ]
                emit(_Words(context, builder, arrays, values), *numbers)
                return context.get_dummy_value()

            return types.void(arrays, integers), codegen

        typer.__name__ = emit.__name__
        return intrinsic(typer)

    @_words_primitive
    def hard_gates(v: Any) -> None:
        """Evaluate the second array's gates over a tile, the first; the third holds the forms."""
        builder = v.builder
        # Inputs come first in a tile: as many rows as it has more than there are gates.
        first = builder.sub(v.rows(0), v.rows(1))
        with cgutils.for_range(builder, v.rows(1), intp=_I64) as loop:
            gate = builder.mul(loop.index, _I64(HARD_FIELDS))
            a, b, op = (v.field(1, builder.add(gate, _I64(i))) for i in range(HARD_FIELDS))
            x, y = v.load(0, v.row(a)), v.load(0, v.row(b))
            form = builder.gep(v.arrays[2].data, [builder.mul(op, _I64(4))])
            c = [v.splat(builder.load(builder.gep(form, [_I64(i)]))) for i in range(4)]
            # f(a, b) = c0 ⊕ c1·a ⊕ b·(c2 ⊕ c3·a) over bits
            value = builder.xor(
                builder.xor(c[0], builder.and_(c[1], x)),
                builder.and_(y, builder.xor(c[2], builder.and_(c[3], x))),
            )
            v.store(value, 0, v.row(builder.add(first, loop.index)))

    @_words_primitive
    def hard_see(
        v: Any, row: Any, place: Any, right: Any, left: Any, high: Any, mask: Any, join: Any
    ) -> None:
        """Write to a tile's row what lies at `place` of the state, shifted, under a mask.

        Arrays: tile, state, masks. `high` is 0 if nothing comes from the next word, and `join`
        keeps what the row held already; else they are all ones.
        """
        builder = v.builder
        low = builder.lshr(v.load(1, place), v.splat(right))
        next_word = v.load(1, builder.add(place, _I64(1)))
        moved = builder.and_(builder.shl(next_word, v.splat(left)), v.splat(high))
        seen = builder.and_(builder.or_(low, moved), v.load(2, mask))
        held = builder.and_(v.load(0, v.row(row)), v.splat(join))
        v.store(builder.or_(seen, held), 0, v.row(row))

    @_words_primitive
    def hard_write(v: Any, row: Any, place: Any, fire: Any, keep: Any) -> None:
        """Write a tile's row to `place` of the new state where cells fire, then zero the damaged.

        Arrays: tile, state, new state, fires, keeps.
        """
        builder = v.builder
        old, fires = v.load(1, place), v.load(3, fire)
        # new where it fires, else old
        changed = builder.and_(builder.xor(old, v.load(0, v.row(row))), fires)
        v.store(builder.and_(builder.xor(old, changed), v.load(4, keep)), 2, place)

else:

    def hard_gates(arrays: Any, integers: Any) -> None:
        tile, gates, forms = arrays
        first = len(tile) - len(gates)
        for g, (a, b, op) in enumerate(gates):
            c, x, y = forms[op], tile[a], tile[b]
            tile[first + g] = c[0] ^ (c[1] & x) ^ (y & (c[2] ^ (c[3] & x)))

    def hard_see(arrays: Any, integers: Any) -> None:
        tile, state, masks = arrays
        row, place, right, left, high, mask, join = integers
        low = state.ravel()[place : place + WORDS] >> right
        moved = (state.ravel()[place + 1 : place + 1 + WORDS] << left) & high
        seen = (low | moved) & masks.ravel()[mask : mask + WORDS]
        tile[row] = seen | (tile[row] & join)

    def hard_write(arrays: Any, integers: Any) -> None:
        tile, state, new_state, fires, keeps = arrays
        row, place, fire, keep = integers
        old, fire_words = state.ravel()[place : place + WORDS], fires[fire : fire + WORDS]
        new = old ^ ((old ^ tile[row]) & fire_words)
        new_state.reshape(-1)[place : place + WORDS] = new & keeps[keep : keep + WORDS]


@kernel
def prune(a, b, param, outputs, inputs, ops, code, origin, rows, live, read):
    """Reduce a hardened netlist to the gates that the `live` channels' future depends on.

    Gates that pass an input through become that input; an input that an op ignores is not
    needed. Writes the gates that remain to `code` (gates, HARD_FIELDS), with rows renumbered
    (the inputs, then these gates), what gates of the netlist they are to `origin` (gates,), each
    channel's next state to `rows` (channels,), and whether an input is read to `read` (inputs,).
    Channels that live ones read come to life in `live` (channels,), too. Returns the number of
    gates that remain.
    """
    gates, channels = len(a), len(outputs)
    source = np.arange(inputs + gates)
    needed = np.zeros(inputs + gates, np.bool_)
    for g in range(gates):
        op = ops[param[g]]
        if op == 3:
            source[inputs + g] = source[a[g]]
        elif op == 5:
            source[inputs + g] = source[b[g]]
    growing = True
    while growing:
        growing = False
        for c in range(channels):
            if live[c]:
                needed[source[outputs[c]]] = True
        for g in range(gates - 1, -1, -1):
            if needed[inputs + g]:
                op = ops[param[g]]
                # Bits 3 to 0 of an op are its values at (a, b) = 00, 01, 10, 11.
                if (op >> 2) != (op & 3):
                    needed[source[a[g]]] = True
                if ((op >> 1) & 5) != (op & 5):
                    needed[source[b[g]]] = True
        for row in range(inputs):
            if needed[row] and not live[row % channels]:
                live[row % channels] = True
                growing = True
    number = np.arange(inputs + gates)
    kept = 0
    for g in range(gates):
        if needed[inputs + g]:
            # An ignored input may be gone; row 0 stands for it.
            code[kept, 0] = number[source[a[g]]] if needed[source[a[g]]] else 0
            code[kept, 1] = number[source[b[g]]] if needed[source[b[g]]] else 0
            code[kept, 2] = ops[param[g]]
            origin[kept] = g
            number[inputs + g] = inputs + kept
            kept += 1
    for c in range(channels):
        rows[c] = number[source[outputs[c]]]
    read[:] = needed[:inputs]
    return kept


@kernel
def mark_live(a, b, param, outputs, inputs, ops, live, marked):
    """Set `marked` (parameters,) for gates that the `live` channels' future depends on.

    Other than in `prune`, gates that pass an input on count too: with another op they would not.
    Channels that live ones read come to life in `live` (channels,).
    """
    gates, channels = len(a), len(outputs)
    needed = np.zeros(inputs + gates, np.bool_)
    growing = True
    while growing:
        growing = False
        for c in range(channels):
            if live[c]:
                needed[outputs[c]] = True
        for g in range(gates - 1, -1, -1):
            if needed[inputs + g]:
                op = ops[param[g]]
                if (op >> 2) != (op & 3):
                    needed[a[g]] = True
                if ((op >> 1) & 5) != (op & 5):
                    needed[b[g]] = True
        for row in range(inputs):
            if needed[row] and not live[row % channels]:
                live[row % channels] = True
                growing = True
    for g in range(gates):
        if needed[inputs + g]:
            marked[param[g]] = True


@kernel
def hard_step(code, cells, forms, fires, keeps, state, new_state, tile):
    """Advance bit-packed cells by one step: `state` to `new_state`, both (C, pad + words + pad).

    `fires` and `keeps` are (words,), or (WORDS,) for all cells alike, see HardScript; words are
    a multiple of WORDS. `forms` (16, 4) holds each op's algebraic normal form, as words of zeros
    or ones. `tile` is (rows, WORDS), with a row for each input and each gate.
    """
    stride = state.shape[1]
    words = stride - 2 * cells.pad
    none, every = np.uint64(0), ~np.uint64(0)
    for first in range(0, words, WORDS):
        for i in range(len(code.inputs)):
            row, n = code.inputs[i, 0], code.inputs[i, 1]
            place = code.inputs[i, 2] * stride + first
            for s in range(cells.start[n], cells.start[n + 1]):
                right = cells.shift[s]
                # A shift by 64 is none: then take nothing of the next word.
                left, high = (np.uint64(64) - right, every) if right else (none, none)
                join = none if s == cells.start[n] else every
                hard_see(
                    (tile, state, cells.masks),
                    (row, place + cells.skip[s], right, left, high, s * words + first, join),
                )
        hard_gates((tile, code.gates, forms), ())
        fire = first if len(fires) == words else 0
        keep = first if len(keeps) == words else 0
        for i in range(len(code.channels)):
            place = code.channels[i] * stride + cells.pad + first
            hard_write((tile, state, new_state, fires, keeps), (code.outputs[i], place, fire, keep))


@kernel
def ones(word):
    """Return the number of ones in a word of 64 bits."""
    one, two, four = np.uint64(1), np.uint64(2), np.uint64(4)
    word = word - ((word >> one) & np.uint64(0x5555555555555555))
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> two) & pairs)
    word = (word + (word >> four)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    word = word + (word >> np.uint64(8))
    word = word + (word >> np.uint64(16))
    word = word + (word >> np.uint64(32))
    return np.int64(word & np.uint64(0x7F))


@kernel
def count_wrong(script, cells, target, state, wrong):
    """Write to `wrong` (batch,) how many counted bits of each sample differ from `target`."""
    every = ~np.uint64(0)
    for sample in range(len(wrong)):
        start, last = sample * cells.cells, (sample + 1) * cells.cells - 1
        total = 0
        for w in range(start // 64, last // 64 + 1):
            bits = script.counted[w]
            if w == start // 64:
                bits &= every << np.uint64(start % 64)
            if w == last // 64:
                bits &= every >> np.uint64(63 - last % 64)
            for i in range(len(script.channels)):
                differing = state[script.channels[i], cells.pad + w] ^ target[i, w]
                total += ones(differing & bits)
        wrong[sample] = total


@kernel
def hard_rollout(code, cells, forms, script, steps, states, tile, wrong):
    """Take `steps` hard steps from states[0] of `states` (2, C, …) to states[steps % 2].

    Writes the wrong bits of each sample after each of the steps `script.at` to `wrong`
    (counts, batch).
    """
    every = np.full(WORDS, ~np.uint64(0))
    counts = 0
    for step in range(steps):
        fires = script.fires[step % len(script.fires)] if len(script.fires) != 0 else every
        keeps = script.keeps[step % len(script.keeps)] if len(script.keeps) != 0 else every
        state = states[(step + 1) % 2]
        hard_step(code, cells, forms, fires, keeps, states[step % 2], state, tile)
        if counts < len(script.at) and script.at[counts] == step + 1:
            target = script.targets[counts % len(script.targets)]
            count_wrong(script, cells, target, state, wrong[counts])
            counts += 1


# --- the machine ------------------------------------------------------------------------------


@kernel
def fma_peak(rounds, seed):
    """Run rounds · CHAINS · 16 fused multiply-adds; the result only keeps them from vanishing."""
    return fma_chains(rounds, seed)
