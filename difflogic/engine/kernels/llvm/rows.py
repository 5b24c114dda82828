"""Rows of a tile as vectors, emitted through LLVM, and how a primitive is made from them.

The same loops written in plain numba check for aliasing at every gate.
"""

from __future__ import annotations

from contextlib import contextmanager

from llvmlite import ir
from numba import types
from numba.core import cgutils

from difflogic.engine.kernels.structures import LANES, PIECE, SCRATCH_SUMS
from difflogic.system.jit.arithmetic import fma
from difflogic.system.jit.intrinsics import emitting
from difflogic.system.jit.processor import registers

I32 = ir.IntType(32)
I64 = ir.IntType(64)
PARTS_BITS = 512
"""Bits of a sum's parts, those of the widest registers: 16 parts in float32, 8 in float64."""


class Arrays:
    """Emits access to the elements of some arrays."""

    def __init__(self, context, builder, kinds, values):
        self.builder = builder
        self.arrays = [
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(kinds, values, strict=True)
        ]

    def at(self, array, place):
        """Return a pointer to an element."""
        return self.builder.gep(self.arrays[array].data, [place])

    def number(self, array, place):
        """Return an element of an int32 array as a 64-bit number."""
        return self.builder.zext(self.builder.load(self.at(array, place)), I64)


class Emitter:
    """Emits operations on rows of a tile, `lanes` values each, as vectors that fill a register."""

    def __init__(self, context, builder, dtype, lanes, count=None):
        """`holds` says whether the vectors of a row stay in registers from gate to gate."""
        self.builder = builder
        self.count = count
        bits = dtype.bitwidth
        # At least four, since sums are folded to four numbers.
        self.width = max(4, registers().width * 8 // bits)
        self.registers = registers().number
        self._alignment = self.width * bits // 8
        self.element = bits // 8
        self.vectors = lanes // self.width
        # Sums have as many parts as numbers fill a line, whatever the registers hold.
        self.parts = PARTS_BITS // bits // self.width
        self.holds = 8 * self.vectors <= self.registers
        self.lanes = lanes
        self.type = ir.VectorType(context.get_value_type(dtype), self.width)

    def zero(self):
        return ir.Constant(self.type, [0.0] * self.width)

    def nothing(self):
        """The start of a sum: the compiler knows that x - 0 is x, for x of either zero."""
        return ir.Constant(self.type, [-0.0] * self.width)

    def fma(self, x, y, z):
        return fma(self.builder, x, y, z)

    def pointer(self, base, offset):
        element = self.builder.gep(base, [offset])
        return self.builder.bitcast(element, self.type.as_pointer())

    def load(self, pointer):
        value = self.builder.load(pointer)
        value.align = self._alignment
        return value

    def store(self, value, pointer):
        self.builder.store(value, pointer).align = self._alignment

    def splat(self, base, offset):
        """Load one element and repeat it over the vector."""
        scalar = self.builder.load(self.builder.gep(base, [I64(offset)]))
        undefined = ir.Constant(self.type, ir.Undefined)
        first = self.builder.insert_element(undefined, scalar, I32(0))
        return self.shuffle(first, undefined, [0] * self.width)

    def shuffle(self, x, y, mask):
        constant = ir.Constant(ir.VectorType(I32, len(mask)), mask)
        return self.builder.shuffle_vector(x, y, constant)

    def field(self, row, column):
        """Return one field of an instruction as a 64-bit number."""
        value = self.builder.load(self.builder.gep(row, [I64(column)]))
        return self.builder.zext(value, I64)

    def row(self, base, number):
        """Return a pointer to the first lane of a tile's row."""
        return self.builder.gep(base, [self.builder.mul(number, I64(self.lanes))])

    def line_starts(self):
        """Return the first lane of each line of a row."""
        return range(0, self.lanes, 64 // self.element)

    def prefetch(self, base, lanes, writes=False):
        """Prefetch the lines that hold some lanes of a row, to read them or to write them."""
        byte = ir.IntType(8).as_pointer()
        signature = ir.FunctionType(ir.VoidType(), [byte, I32, I32, I32])
        name = "llvm.prefetch.p0i8"
        function = cgutils.get_or_insert_function(self.builder.module, signature, name)
        for lane in lanes:
            place = self.builder.bitcast(self.builder.gep(base, [I64(lane)]), byte)
            self.builder.call(function, [place, I32(int(writes)), I32(3), I32(1)])

    def gate(self, c, a, b):
        # f(a, b) = c0 + c1·a + c2·b + c3·a·b
        return self.fma(a, self.fma(c[3], b, c[1]), self.fma(c[2], b, c[0]))

    def pull(self, c, g, a, b):
        """Return the factors of g in dL/da and dL/db: c1 + c3·b and c2 + c3·a."""
        return self.fma(c[3], b, c[1]), self.fma(c[3], a, c[2])

    def sums(self):
        """Return places for four sums: for each part that fills a vector, four pointers."""
        each = range(4)
        return [
            [cgutils.alloca_once(self.builder, self.type) for _ in each] for _ in range(self.parts)
        ]

    def sums_in(self, scratch, number):
        """Return the places of the four sums `number` in a scratch."""
        start = 4 * self.parts * number
        end = (start + 4 * self.parts) * self.width
        assert end <= SCRATCH_SUMS, "SCRATCH_SUMS has less room than sums of PARTS_BITS take"
        each = range(4)
        return [
            [self.pointer(scratch, I64((start + 4 * part + k) * self.width)) for k in each]
            for part in range(self.parts)
        ]

    def clear_sums(self, sums, value):
        for pointers in sums:
            for pointer in pointers:
                self.store(value, pointer)

    def copy_sums(self, sums, target):
        for pointers, others in zip(sums, target, strict=True):
            for pointer, other in zip(pointers, others, strict=True):
                self.store(self.load(pointer), other)

    def add_sums(self, sums, vectors, g, a, b):
        """Add g, g·a, g·b and g·a·b of some `vectors` of a row to `sums`.

        A cell's number alone says which part it adds to, and cells add in their order.
        """
        for part, pointers in enumerate(sums):
            own = [i for i, k in enumerate(vectors) if k % self.parts == part]
            if not own:
                continue
            totals = [self.load(pointer) for pointer in pointers]
            for each_g, each_a, each_b in ((g[i], a[i], b[i]) for i in own):
                ga = self.builder.fmul(each_g, each_a)
                totals[0] = self.builder.fadd(totals[0], each_g)
                totals[1] = self.builder.fadd(totals[1], ga)
                totals[2] = self.fma(each_g, each_b, totals[2])
                totals[3] = self.fma(ga, each_b, totals[3])
            for total, pointer in zip(totals, pointers, strict=True):
                self.store(total, pointer)

    def fold_sums(self, sums, slot):
        """Add up the parts of `sums`, and add (Σg, Σga, Σgb, Σgab) to a slot of four.

        The tree is the same for all widths: four neighbouring parts to one, then halves to one.
        """
        self.add_folds([self.fold(pointers) for pointers in sums], slot)

    def fold(self, pointers):
        """Return x, y, z, w, repeated: four neighbouring numbers of each sum, added up."""
        builder = self.builder
        groups = range(0, self.width, 4)
        n = self.width
        x, y, z, w = (self.load(pointer) for pointer in pointers)
        low = [i for k in groups for i in (k, n + k, k + 1, n + k + 1)]
        high = [i for k in groups for i in (k + 2, n + k + 2, k + 3, n + k + 3)]
        xy = builder.fadd(self.shuffle(x, y, low), self.shuffle(x, y, high))
        zw = builder.fadd(self.shuffle(z, w, low), self.shuffle(z, w, high))
        low = [i for k in groups for i in (k, k + 1, n + k, n + k + 1)]
        high = [i for k in groups for i in (k + 2, k + 3, n + k + 2, n + k + 3)]
        return builder.fadd(self.shuffle(xy, zw, low), self.shuffle(xy, zw, high))

    def add_folds(self, folds, slot):
        """Halve the folds of all parts until one copy of the four numbers is left, and add it."""
        builder = self.builder
        n = self.width
        while len(folds) > 1:
            half = len(folds) // 2
            folds = [builder.fadd(folds[i], folds[i + half]) for i in range(half)]
        folded = folds[0]
        while n > 4:
            n //= 2
            low = list(range(n))
            high = list(range(n, 2 * n))
            folded = builder.fadd(
                self.shuffle(folded, folded, low), self.shuffle(folded, folded, high)
            )
        target = builder.bitcast(slot, folded.type.as_pointer())
        before = builder.load(target)
        before.align = self.element
        builder.store(builder.fadd(before, folded), target).align = self.element


class Lines(Emitter):
    """Emits loops over adjacent rows: their lanes are known at run time, a multiple of a line's."""

    def __init__(self, context, builder, dtype, lanes, count):
        super().__init__(context, builder, dtype, LANES[0], count)
        self._row_lanes = lanes

    def row(self, base, number):
        return self.builder.gep(base, [self.lanes_of(number)])

    def lanes_of(self, rows):
        return self.builder.mul(rows, self._row_lanes)

    @contextmanager
    def pieces(self, rows):
        """Loop over pieces of some rows: yield the first lane of a piece, and its lanes."""
        builder = self.builder
        lanes = self.lanes_of(rows)
        most = I64(PIECE)
        with cgutils.for_range_slice(builder, I64(0), lanes, most, I64) as (start, _):
            left = builder.sub(lanes, start)
            yield start, builder.select(builder.icmp_unsigned("<", left, most), left, most)

    def lines(self, lanes, body):
        """Call body(offset, number in its line) for each vector of some `lanes`.

        As many parts of a sum at a time as leave it in registers; each part's vectors in order.
        """
        together = min(self.parts, self.registers // 8)
        for first in range(0, self.parts, together):
            steps = cgutils.for_range_slice(self.builder, I64(0), lanes, I64(self.lanes), I64)
            with steps as (start, _):
                for k in range(self.vectors):
                    if first <= k % self.parts < first + together:
                        body(self.builder.add(start, I64(k * self.width)), k)


def unpack(context, builder, arrays, integers, args):
    """Return the values of a tuple of arrays, and a list of 64-bit numbers.

    Integers that have names stay together: the list has one tuple of them.
    """
    values = [builder.extract_value(args[0], i) for i in range(len(arrays))]
    numbers = [
        context.cast(builder, builder.extract_value(args[1], i), integer, types.int64)
        for i, integer in enumerate(integers)
    ]
    if isinstance(integers, types.BaseNamedTuple):
        numbers = [integers.instance_class(*numbers)]
    return values, numbers


def for_each_lanes(builder, lanes, emit):
    """Emit code for each number of lanes that a tile can have; `lanes` selects one at run time."""
    # Without it, vectors that the compiler keeps on the stack may lie across two lines.
    builder.function.attributes.alignstack = 64
    builder.function.attributes.add("nounwind")  # llvmlite writes no alignment alone
    numbers = [(count, builder.append_basic_block(f"lanes{count}")) for count in LANES]
    done = builder.append_basic_block("lanes_done")
    chosen = builder.switch(lanes, numbers[-1][1])
    for count, block in numbers:
        chosen.add_case(I64(count), block)
        builder.position_at_end(block)
        emit(count)
        builder.branch(done)
    builder.position_at_end(done)


def primitive(emit):
    """Make an intrinsic of (arrays…), lanes: `emit` gets an emitter and the data pointers.

    The first array gives the element type. The second is the instruction matrix, whose length is
    the emitter's `count`.
    """
    return _intrinsic(emit, Emitter, for_each_lanes)


def looping(emit):
    """Do what `primitive` does with one code for all numbers of lanes: `emit` gets `Lines`."""
    return _intrinsic(emit, Lines, lambda builder, lanes, emit_for: emit_for(lanes))


def _intrinsic(emit, kind, choose):
    def emit_rows(context, builder, signature, args):
        kinds = signature.args[0]
        arrays = Arrays(
            context, builder, kinds, unpack(context, builder, kinds, (), args)[0]
        ).arrays
        count = builder.extract_value(arrays[1].shape, 0)

        def emit_for(lanes):
            emitter = kind(context, builder, kinds[0].dtype, lanes, count)
            emit(emitter, *(array.data for array in arrays))

        choose(builder, args[1], emit_for)
        return context.get_dummy_value()

    emit_rows.__name__ = emit.__name__
    return emitting(lambda arrays, lanes: types.void(arrays, types.int64))(emit_rows)


def instruction(v, code, index, fields):
    return v.builder.gep(code, [v.builder.mul(index, I64(fields))])


def flag(v, flags, bit):
    return v.builder.icmp_unsigned("!=", v.builder.and_(flags, I64(bit)), I64(0))


def coefficients_of(v, base, param):
    """Return a gate's coefficients as vectors."""
    start = slot_of(v, base, param)
    return [v.splat(start, k) for k in range(4)]


def slot_of(v, base, param):
    return v.builder.gep(base, [v.builder.mul(param, I64(4))])


def reversed_index(v, index):
    return v.builder.sub(v.builder.sub(v.count, I64(1)), index)
