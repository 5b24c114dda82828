"""Rows that move between grids and tiles, as vectors.

As numba loops over slices they took nearly half of a lizard's training step.
"""

from __future__ import annotations

from typing import NamedTuple

from llvmlite import ir
from numba import types
from numba.core import cgutils

from difflogic.engine.kernels.llvm.rows import I64, Arrays, Emitter, for_each_lanes, unpack
from difflogic.system.jit.intrinsics import emitting

AHEAD = 8
"""Rows by which a grid's lines are prefetched before they are read or written. Rows lie a stride
apart, which no processor predicts, and the previous step back may have left them in the third-level
cache."""


class _Moves(Emitter, Arrays):
    """Emits moves of rows among arrays: tiles (one-dimensional) and grids (two-dimensional)."""

    def __init__(self, context, builder, arrays, values, lanes):
        Emitter.__init__(self, context, builder, arrays[0].dtype, lanes)
        Arrays.__init__(self, context, builder, arrays, values)

    def tile_row(self, array, number):
        """Return a pointer to the first lane of a tile's row."""
        return self.row(self.arrays[array].data, number)

    def grid_row(self, array, number):
        """Return a pointer to the first element of a grid's row."""
        grid = self.arrays[array]
        start = self.builder.mul(number, self.builder.extract_value(grid.shape, 1))
        return self.builder.gep(grid.data, [start])

    def load_unaligned(self, base, k):
        """Load the vector `k` of a row that need not be aligned."""
        value = self.builder.load(self.pointer(base, I64(k * self.width)))
        value.align = self.element
        return value

    def prefetch_grid(self, array, number, place, writes):
        """Prefetch the lines of some lanes of a grid's row, which need not exist."""
        base = self.builder.gep(self.grid_row(array, number), [place])
        # Rows are written from the start of a line; a row that is read may end in one more line.
        ends = [] if writes else [self.lanes - 1]
        self.prefetch(base, [*self.line_starts(), *ends], writes)


def moving(emit):
    """Make an intrinsic of (arrays…), (integers…), lanes: `emit` gets an emitter and the integers.

    The first array gives the element type.
    """

    def emit_moves(context, builder, signature, args):
        arrays, integers, _ = signature.args
        values, numbers = unpack(context, builder, arrays, integers, args)

        def emit_for(count):
            emit(_Moves(context, builder, arrays, values, count), *numbers)

        for_each_lanes(builder, args[2], emit_for)
        return context.get_dummy_value()

    emit_moves.__name__ = emit.__name__
    return emitting(lambda arrays, integers, lanes: types.void(arrays, integers, types.int64))(
        emit_moves
    )


class Neighbor(NamedTuple):
    """What `rows_seen` copies: `rows` rows of a grid from `row` on, to a tile's rows from `to` on.

    The neighbours begin at `first` in the grid, except for the corrected lanes, entries
    `correction` to before `correction_end`. Lanes from `count` on become 0.
    """

    first: int
    correction: int
    correction_end: int
    count: int
    row: int
    rows: int
    to: int


@moving
def rows_seen(v, seen):
    """Copy one neighbour's values of a tile's cells.

    Arrays: tile, grid, the corrected lanes, and their sources.
    """
    builder = v.builder
    with cgutils.for_range(builder, seen.rows, intp=I64) as loop:
        number = builder.add(seen.row, loop.index)
        v.prefetch_grid(1, builder.add(number, I64(AHEAD)), seen.first, writes=False)
        whole = v.grid_row(1, number)
        source = builder.gep(whole, [seen.first])
        target = v.tile_row(0, builder.add(seen.to, loop.index))
        for k in range(v.vectors):
            v.store(v.load_unaligned(source, k), v.pointer(target, I64(k * v.width)))
        corrected = cgutils.for_range(builder, seen.correction_end, start=seen.correction, intp=I64)
        with corrected as inner:
            value = builder.load(builder.gep(whole, [v.number(3, inner.index)]))
            builder.store(value, builder.gep(target, [v.number(2, inner.index)]))
        with cgutils.for_range(builder, I64(v.lanes), start=seen.count, intp=I64) as inner:
            zero = ir.Constant(v.type.element, 0.0)
            builder.store(zero, builder.gep(target, [inner.index]))


@moving
def rows_added(v, first, end, count, adds):
    """Sum `count` rows for each total that the list names from `first` to before `end`.

    Arrays: the totals' tile, the parts' tile, and the list. The parts of all totals follow each
    other `count` times: each total's are as far apart as there are totals. A sum starts at the
    total's value if it `adds`, else at zero.
    """
    builder = v.builder
    apart = builder.sub(end, first)
    acc = [cgutils.alloca_once(builder, v.type) for _ in range(v.vectors)]
    begins = builder.icmp_unsigned("!=", adds, I64(0))
    with cgutils.for_range(builder, end, start=first, intp=I64) as loop:
        total = v.tile_row(0, v.number(2, loop.index))
        row = builder.sub(loop.index, first)
        for k, held in enumerate(acc):
            before = v.load(v.pointer(total, I64(k * v.width)))
            builder.store(builder.select(begins, before, v.zero()), held)
        with cgutils.for_range(builder, count, intp=I64) as inner:
            source = v.tile_row(1, builder.add(row, builder.mul(inner.index, apart)))
            for k, held in enumerate(acc):
                value = v.load(v.pointer(source, I64(k * v.width)))
                builder.store(builder.fadd(builder.load(held), value), held)
        for k, held in enumerate(acc):
            v.store(builder.load(held), v.pointer(total, I64(k * v.width)))


@moving
def rows_left(v, count, place):
    """Copy the tile's rows that the list names, `count` of them, to those of a grid.

    Arrays: tile, grid and the list. Row r of the grid is written from `place` on, in all lanes.
    """
    builder = v.builder
    with cgutils.for_range(builder, count, intp=I64) as loop:
        source = v.tile_row(0, v.number(2, loop.index))
        v.prefetch_grid(1, builder.add(loop.index, I64(AHEAD)), place, writes=True)
        target = builder.gep(v.grid_row(1, loop.index), [place])
        for k in range(v.vectors):
            value = v.load(v.pointer(source, I64(k * v.width)))
            builder.store(value, v.pointer(target, I64(k * v.width))).align = v.element
