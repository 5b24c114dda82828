"""The way back through hard gates: vectors of 16 cells' slopes; values are bits."""

from __future__ import annotations

import functools
from typing import NamedTuple

from llvmlite import ir
from numba.core import cgutils

from difflogic.engine.kernels.llvm.rows import I32, I64
from difflogic.engine.kernels.llvm.words import words_primitive, words_query

_CELLS = 16
_F32 = ir.FloatType()
_I16 = ir.IntType(16)
_SLOPES = ir.VectorType(_F32, _CELLS)
_SUMS = ir.VectorType(ir.DoubleType(), _CELLS)
_FLAGS = ir.VectorType(ir.IntType(1), _CELLS)
_ZERO = ir.Constant(_SLOPES, [0.0] * _CELLS)
_NO_SUMS = ir.Constant(_SUMS, [0.0] * _CELLS)


def _pointer(v, array, place, kind):
    return v.builder.bitcast(v.at(array, place), kind.as_pointer())


def _load(v, array, place, kind=_SLOPES):
    value = v.builder.load(_pointer(v, array, place, kind))
    value.align = 4
    return value


def _each_vector(v, word):
    """Return the first bit of each vector of a word's cells, and the vector's place."""
    start = v.builder.mul(word, I64(64))
    return [(bit, v.builder.add(start, I64(bit))) for bit in range(0, 64, _CELLS)]


def _flags(v, bits, first):
    """Return 16 bits of a word as one flag per cell."""
    some = v.builder.trunc(v.builder.lshr(bits, I64(first)), _I16)
    return v.builder.bitcast(some, _FLAGS)


@words_query
def slope_any(v, place, words):
    """Return a number that is not 0 if any slope of some words' cells is not 0."""
    builder = v.builder
    kind = ir.VectorType(I32, _CELLS)
    found = cgutils.alloca_once_value(builder, ir.Constant(kind, [0] * _CELLS))
    with cgutils.for_range(builder, words, intp=I64) as loop:
        for _, offset in _each_vector(v, loop.index):
            some = _load(v, 0, builder.add(place, offset), kind)
            builder.store(builder.or_(builder.load(found), some), found)
    some = v.call(f"llvm.vector.reduce.or.v{_CELLS}i32", I32, builder.load(found))
    return builder.zext(some, I64)


class SlopeMove(NamedTuple):
    """Places for `slope_move`. With `flip` slopes are passed where the mask is 0.

    If `use` is 1 they are stored, with 0 elsewhere; otherwise they are added.
    """

    source: int
    target: int
    mask: int
    flip: int
    use: int
    words: int


@words_primitive
def slope_move(v, move):
    """Pass the slopes of some words' cells from one place to another, under a mask.

    Arrays: source, target, and words of masks.
    """
    builder = v.builder
    stores = builder.icmp_unsigned("==", move.use, I64(1))
    against = builder.select(builder.icmp_unsigned("!=", move.flip, I64(0)), I64(-1), I64(0))
    with cgutils.for_range(builder, move.words, intp=I64) as loop:
        word = loop.index
        bits = builder.load(v.at(2, builder.add(move.mask, word)))
        bits = builder.xor(bits, against)
        some = builder.or_(stores, builder.icmp_unsigned("!=", bits, I64(0)))
        with builder.if_then(some):
            for first, offset in _each_vector(v, word):
                g = builder.select(
                    _flags(v, bits, first), _load(v, 0, builder.add(move.source, offset)), _ZERO
                )
                place = builder.add(move.target, offset)
                total = builder.select(stores, _ZERO, _load(v, 1, place))
                value = builder.fadd(total, g)
                builder.store(value, _pointer(v, 1, place, _SLOPES)).align = 4


class GateBack(NamedTuple):
    """A gate for `slope_back`: its inputs' rows, its op, and the places of slopes.

    If `use_a` or `use_b` is 0, that input gets nothing; if 1, its slopes are stored, otherwise
    added.
    """

    row_a: int
    row_b: int
    op: int
    own: int
    a: int
    use_a: int
    b: int
    use_b: int
    words: int


@words_primitive
def slope_back(v, gate):
    """Take the slopes of a gate, at `own`, back to those of its inputs, at `a` and `b`.

    Arrays: the tile with the inputs' bits in its rows, slopes, forms, and the resulting sums of g,
    g·a, g·b and g·a·b.
    """
    builder = v.builder
    form = v.at(2, builder.mul(gate.op, I64(4)))
    c = [builder.load(builder.gep(form, [I64(k)])) for k in range(4)]
    sums = [cgutils.alloca_once_value(builder, _NO_SUMS) for _ in range(4)]
    with cgutils.for_range(builder, gate.words, intp=I64) as loop:
        word = loop.index
        x = builder.load(v.at(0, builder.add(v.row(gate.row_a), word)))
        y = builder.load(v.at(0, builder.add(v.row(gate.row_b), word)))
        vectors = _each_vector(v, word)
        slopes = [_load(v, 1, builder.add(gate.own, offset)) for _, offset in vectors]
        for total, bits in zip(sums, (None, x, y, builder.and_(x, y)), strict=True):
            some = slopes
            if bits is not None:
                some = [
                    builder.select(_flags(v, bits, first), g, _ZERO)
                    for (first, _), g in zip(vectors, slopes, strict=True)
                ]
            # Sum a word's slopes first, then add that in double precision, which loses nothing.
            of_word = functools.reduce(builder.fadd, some)
            before = builder.load(total)
            builder.store(builder.fadd(before, builder.fpext(of_word, _SUMS)), total)
        # df/da = f(1, b) - f(0, b) is 1, 0 or -1, with f = c0 ⊕ c1·a ⊕ b·(c2 ⊕ c3·a)
        inputs = ((y, 1, 2, gate.a, gate.use_a), (x, 2, 1, gate.b, gate.use_b))
        for other, one, two, place, use in inputs:
            with builder.if_then(builder.icmp_unsigned("!=", use, I64(0))):
                differs = builder.xor(c[one], builder.and_(c[3], other))
                at_one = builder.xor(
                    builder.xor(c[0], c[one]), builder.and_(other, builder.xor(c[two], c[3]))
                )
                rises = builder.and_(differs, at_one)
                falls = builder.and_(differs, builder.not_(at_one))
                adds = builder.icmp_unsigned("!=", use, I64(1))
                for (first, offset), g in zip(vectors, slopes, strict=True):
                    target = builder.add(place, offset)
                    total = builder.select(adds, _load(v, 1, target), _ZERO)
                    total = builder.select(_flags(v, rises, first), builder.fadd(total, g), total)
                    total = builder.select(_flags(v, falls, first), builder.fsub(total, g), total)
                    builder.store(total, _pointer(v, 1, target, _SLOPES)).align = 4
    for k, total in enumerate(sums):
        value = builder.load(total)
        width = _CELLS
        while width > 1:
            width //= 2
            halves = [
                ir.Constant(ir.VectorType(I32, width), list(range(half, half + width)))
                for half in (0, width)
            ]
            low, high = (builder.shuffle_vector(value, value, half) for half in halves)
            value = builder.fadd(low, high)
        scalar = builder.extract_element(value, I32(0))
        builder.store(scalar, v.at(3, I64(k)))
