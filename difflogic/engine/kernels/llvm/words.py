"""Hard gates over words of 64 cells, as vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from difflogic.engine.kernels.hard_structures import HARD_FIELDS, WORDS
from difflogic.engine.kernels.llvm.rows import I32, I64


class _Words:
    """Emits operations on WORDS words at a time, which are the arrays' elements at a place."""

    def __init__(self, context: Any, builder: Any, arrays: Any, values: Any) -> None:
        self.builder = builder
        self.type = ir.VectorType(I64, WORDS)
        self.arrays = [
            context.make_array(array)(context, builder, value)
            for array, value in zip(arrays, values, strict=True)
        ]

    def rows(self, array: int) -> Any:
        return self.builder.extract_value(self.arrays[array].shape, 0)

    def field(self, array: int, place: Any) -> Any:
        """Return an element of an array of int32 as a 64-bit number."""
        value = self.builder.load(self.builder.gep(self.arrays[array].data, [place]))
        return self.builder.zext(value, I64)

    def pointer(self, array: int, place: Any) -> Any:
        element = self.builder.gep(self.arrays[array].data, [place])
        return self.builder.bitcast(element, self.type.as_pointer())

    def load(self, array: int, place: Any) -> Any:
        return self.load_from(self.builder.gep(self.arrays[array].data, [place]))

    def load_from(self, element: Any) -> Any:
        value = self.builder.load(self.builder.bitcast(element, self.type.as_pointer()))
        value.align = 8
        return value

    def store(self, value: Any, array: int, place: Any) -> None:
        self.builder.store(value, self.pointer(array, place)).align = 8

    def row(self, number: Any) -> Any:
        """Return the place of a tile's row."""
        return self.builder.mul(number, I64(WORDS))

    def splat(self, scalar: Any) -> Any:
        undefined = ir.Constant(self.type, ir.Undefined)
        first = self.builder.insert_element(undefined, scalar, I32(0))
        zeros = ir.Constant(ir.VectorType(I32, WORDS), [0] * WORDS)
        return self.builder.shuffle_vector(first, undefined, zeros)


def words_primitive(emit: Callable) -> Any:
    """Make an intrinsic of (arrays…, integers): `emit` gets an emitter and the integers.

    What it returns, if anything, is a 64-bit number.
    """
    returned = types.int64 if emit.__annotations__["return"] == "Any" else types.void

    def typer(typing_context: Any, arrays: Any, integers: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            values = [builder.extract_value(args[0], i) for i in range(len(arrays))]
            numbers = [
                context.cast(builder, builder.extract_value(args[1], i), integer, types.int64)
                for i, integer in enumerate(integers)
            ]
            found = emit(_Words(context, builder, arrays, values), *numbers)
            return context.get_dummy_value() if found is None else found

        return returned(arrays, integers), codegen

    typer.__name__ = emit.__name__
    return intrinsic(typer)


@words_primitive
def hard_gates(v: Any) -> None:
    """Evaluate the second array's gates over a tile, the first; the third holds the forms."""
    builder = v.builder
    # Inputs come first in a tile: as many rows as it has more than there are gates.
    first = builder.sub(v.rows(0), v.rows(1))
    with cgutils.for_range(builder, v.rows(1), intp=I64) as loop:
        gate = builder.mul(loop.index, I64(HARD_FIELDS))
        a, b, op = (v.field(1, builder.add(gate, I64(i))) for i in range(HARD_FIELDS))
        x, y = v.load(0, v.row(a)), v.load(0, v.row(b))
        form = builder.gep(v.arrays[2].data, [builder.mul(op, I64(4))])
        c = [v.splat(builder.load(builder.gep(form, [I64(i)]))) for i in range(4)]
        # f(a, b) = c0 ⊕ c1·a ⊕ b·(c2 ⊕ c3·a) over bits
        value = builder.xor(
            builder.xor(c[0], builder.and_(c[1], x)),
            builder.and_(y, builder.xor(c[2], builder.and_(c[3], x))),
        )
        v.store(value, 0, v.row(builder.add(first, loop.index)))


@words_primitive
def hard_see(
    v: Any, row: Any, place: Any, right: Any, left: Any, high: Any, mask: Any, join: Any
) -> None:
    """Write to a tile's row what lies at `place` of the state, shifted, under a mask.

    Arrays: tile, state, masks. `high` is 0 if nothing comes from the next word, and `join`
    keeps what the row held already; else they are all ones.
    """
    builder = v.builder
    low = builder.lshr(v.load(1, place), v.splat(right))
    next_word = v.load(1, builder.add(place, I64(1)))
    moved = builder.and_(builder.shl(next_word, v.splat(left)), v.splat(high))
    seen = builder.and_(builder.or_(low, moved), v.load(2, mask))
    held = builder.and_(v.load(0, v.row(row)), v.splat(join))
    v.store(builder.or_(seen, held), 0, v.row(row))


@words_primitive
def hard_write(v: Any, row: Any, old_place: Any, place: Any, fire: Any, keep: Any) -> None:
    """Write a tile's row to `place` of the new state where cells fire, then zero the damaged.

    Where they do not, they hold what lies at `old_place` of the state. Arrays: tile, state, new
    state, fires, keeps.
    """
    builder = v.builder
    old, fires = v.load(1, old_place), v.load(3, fire)
    # new where it fires, else old
    changed = builder.and_(builder.xor(old, v.load(0, v.row(row))), fires)
    v.store(builder.and_(builder.xor(old, changed), v.load(4, keep)), 2, place)


@words_primitive
def hard_gate(
    v: Any, x: Any, x_own: Any, y: Any, y_own: Any, op: Any, place: Any, words: Any
) -> None:
    """Evaluate one gate over some words; its inputs begin at the places x and y.

    Arrays: values, known, forms. Where `x_own` or `y_own` is not 0 an input is among the values,
    else among the known ones; the result goes to the values, at `place`.
    """
    builder = v.builder
    form = builder.gep(v.arrays[2].data, [builder.mul(op, I64(4))])
    c = [v.splat(builder.load(builder.gep(form, [I64(i)]))) for i in range(4)]
    rows = []
    for start, own in ((x, x_own), (y, y_own)):
        here, there = (builder.gep(v.arrays[array].data, [start]) for array in (0, 1))
        is_own = builder.icmp_unsigned("!=", own, I64(0))
        rows.append(builder.select(is_own, here, there))
    with cgutils.for_range(builder, builder.udiv(words, I64(WORDS)), intp=I64) as loop:
        offset = v.row(loop.index)
        a, b = (v.load_from(builder.gep(row, [offset])) for row in rows)
        value = builder.xor(
            builder.xor(c[0], builder.and_(c[1], a)),
            builder.and_(b, builder.xor(c[2], builder.and_(c[3], a))),
        )
        v.store(value, 0, builder.add(place, offset))


@words_primitive
def hard_differ(v: Any, x: Any, y: Any, words: Any) -> Any:
    """Return whether the words at two places differ, 0 or not; the arrays hold one each."""
    builder = v.builder
    found = cgutils.alloca_once_value(builder, ir.Constant(v.type, [0] * WORDS))
    with cgutils.for_range(builder, builder.udiv(words, I64(WORDS)), intp=I64) as loop:
        offset = v.row(loop.index)
        one, other = v.load(0, builder.add(x, offset)), v.load(1, builder.add(y, offset))
        builder.store(builder.or_(builder.load(found), builder.xor(one, other)), found)
    name = f"llvm.vector.reduce.or.v{WORDS}i64"
    reduce = cgutils.get_or_insert_function(builder.module, ir.FunctionType(I64, [v.type]), name)
    return builder.call(reduce, [builder.load(found)])


@intrinsic
def lowest_one(typing_context: Any, word: Any) -> Any:
    """Return the place of a word's lowest one; the word is not 0."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen
