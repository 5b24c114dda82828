"""Hard gates over words of 64 cells, as vectors."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial, reduce
from typing import NamedTuple

from llvmlite import ir
from numba import types
from numba.core import cgutils

from difflogic.engine.kernels.llvm.rows import I32, I64, Arrays, unpack
from difflogic.engine.kernels.structures import FORCED, SPECIAL, WORDS
from difflogic.system.jit.intrinsics import emitting


class _Words(Arrays):
    """Emits operations on vectors of WORDS words, which begin at a place of an array."""

    def __init__(self, context, builder, arrays, values):
        super().__init__(context, builder, arrays, values)
        self.type = ir.VectorType(I64, WORDS)

    def load(self, array, place):
        return self.load_from(self.at(array, place))

    def load_from(self, element):
        value = self.builder.load(self.builder.bitcast(element, self.type.as_pointer()))
        value.align = 8
        return value

    def store(self, value, array, place):
        element = self.builder.bitcast(self.at(array, place), self.type.as_pointer())
        self.builder.store(value, element).align = 8

    def either(self, own, one, other, place):
        """Return the element at a place of array `one` if `own` is not 0, else of array `other`."""
        here = self.at(one, place)
        there = self.at(other, place)
        return self.builder.select(self.builder.icmp_unsigned("!=", own, I64(0)), here, there)

    def step(self, element, offset):
        """Load the vector `offset` words after an element."""
        return self.load_from(self.builder.gep(element, [offset]))

    @contextmanager
    def vectors(self, words):
        """Loop over the vectors of `words` words, by their offsets."""
        count = self.builder.udiv(words, I64(WORDS))
        with cgutils.for_range(self.builder, count, intp=I64) as loop:
            yield self.row(loop.index)

    def form(self, array, place):
        """Return an op's four coefficients, which begin at a place of an array, in all words."""
        first = self.at(array, place)
        return [self.splat(self.builder.load(self.builder.gep(first, [I64(i)]))) for i in range(4)]

    def gate(self, c, a, b):
        """Return f(a, b) = c0 ⊕ c1·a ⊕ b·(c2 ⊕ c3·a) over bits."""
        builder = self.builder
        return builder.xor(
            builder.xor(c[0], builder.and_(c[1], a)),
            builder.and_(b, builder.xor(c[2], builder.and_(c[3], a))),
        )

    def some(self, found):
        """Return whether any word of a vector is not 0, as a 64-bit number."""
        differing = self.builder.icmp_unsigned("!=", found, ir.Constant(self.type, [0] * WORDS))
        return self.builder.zext(self.builder.bitcast(differing, ir.IntType(WORDS)), I64)

    def call(self, name, returned, *arguments):
        """Call an LLVM intrinsic."""
        kind = ir.FunctionType(returned, [argument.type for argument in arguments])
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, arguments)

    def row(self, number):
        """Return the place of a tile's row."""
        return self.builder.mul(number, I64(WORDS))

    def splat(self, scalar):
        undefined = ir.Constant(self.type, ir.Undefined)
        first = self.builder.insert_element(undefined, scalar, I32(0))
        zeros = ir.Constant(ir.VectorType(I32, WORDS), [0] * WORDS)
        return self.builder.shuffle_vector(first, undefined, zeros)


def words_primitive(emit, returned=types.void):
    """Make an intrinsic of (arrays…), (integers…): `emit` gets an emitter and the integers."""

    def emit_words(context, builder, signature, args):
        values, numbers = unpack(context, builder, *signature.args, args)
        found = emit(_Words(context, builder, signature.args[0], values), *numbers)
        return context.get_dummy_value() if found is None else found

    emit_words.__name__ = emit.__name__
    return emitting(lambda arrays, integers: returned(arrays, integers))(emit_words)


words_query = partial(words_primitive, returned=types.int64)
"""The same for an intrinsic that returns a 64-bit number."""


@words_primitive
def hard_gate(v, x, y, op, place, words):
    """Evaluate one gate over some words, from its inputs' places to its own.

    Arrays: values, forms.
    """
    builder = v.builder
    c = v.form(1, builder.mul(op, I64(4)))
    with v.vectors(words) as offset:
        a, b = (v.load(0, builder.add(start, offset)) for start in (x, y))
        v.store(v.gate(c, a, b), 0, builder.add(place, offset))


@words_query
def hard_follow(v, first, end, base, words, changed):
    """Evaluate the gates of the records that have a flagged input or are FORCED.

    Arrays: values, known, records (slots of both inputs and of the result, and the op), forms,
    flags, changed. A flagged slot's words are among the values, any other's among the known ones,
    from `base` on. A result that differs from the known one, or is SPECIAL, is flagged, and its
    slot is appended to the `changed` slots so far. Returns their new number.
    """
    builder = v.builder
    size = cgutils.alloca_once_value(builder, changed)
    with cgutils.for_range_slice(builder, first, end, I64(1), intp=I64) as (number, _):
        record = builder.mul(number, I64(4))
        x, y, target, form = (v.number(2, builder.add(record, I64(i))) for i in range(4))
        own = [builder.load(v.at(4, slot)) for slot in (x, y)]
        marks = builder.zext(builder.or_(*own), I64)
        marks = builder.or_(marks, builder.and_(form, I64(FORCED)))
        with builder.if_then(builder.icmp_unsigned("!=", marks, I64(0))):
            c = v.form(3, builder.mul(builder.and_(form, I64(15)), I64(4)))
            rows = []
            for slot, flag in zip((x, y), own, strict=True):
                place = builder.mul(slot, words)
                here = v.at(0, place)
                there = v.at(1, builder.add(base, place))
                is_own = builder.icmp_unsigned("!=", flag, flag.type(0))
                rows.append(builder.select(is_own, here, there))
            to = builder.mul(target, words)
            known = builder.add(base, to)
            found = cgutils.alloca_once_value(builder, ir.Constant(v.type, [0] * WORDS))
            with v.vectors(words) as offset:
                value = v.gate(c, *(v.step(row, offset) for row in rows))
                v.store(value, 0, builder.add(to, offset))
                differing = builder.xor(value, v.load(1, builder.add(known, offset)))
                builder.store(builder.or_(builder.load(found), differing), found)
            special = builder.and_(form, I64(SPECIAL))
            counts = builder.or_(v.some(builder.load(found)), special)
            counts = builder.icmp_unsigned("!=", counts, I64(0))
            flag = builder.zext(counts, own[0].type)
            builder.store(flag, v.at(4, target))
            place = v.at(5, builder.load(size))
            builder.store(builder.trunc(target, I32), place)
            builder.store(builder.add(builder.load(size), builder.zext(counts, I64)), size)
    return builder.load(size)


class GateOnSets(NamedTuple):
    """A gate for `sets_gate`: the places of its inputs, of its known result and of the new one."""

    a: int
    b: int
    known: int
    to: int
    op: int
    low: int
    words: int


@words_query
def sets_gate(v, gate):
    """Evaluate one gate on sets over some words, from its inputs' places to its own.

    Array: planes. The words where a row may be 1 begin at its place, those where it may be 0 `low`
    words later. Returns a number that is not 0 if the result differs from the `known` row.
    """
    builder = v.builder
    bits = (builder.and_(builder.lshr(gate.op, I64(place)), I64(1)) for place in (3, 2, 1, 0))
    ones = [v.splat(builder.neg(bit)) for bit in bits]
    zeros = [builder.not_(mask) for mask in ones]
    found = cgutils.alloca_once_value(builder, ir.Constant(v.type, [0] * WORDS))
    with v.vectors(gate.words) as offset:
        starts = (offset, builder.add(offset, gate.low))
        high_a, low_a = (v.load(0, builder.add(gate.a, start)) for start in starts)
        high_b, low_b = (v.load(0, builder.add(gate.b, start)) for start in starts)
        pairs = ((low_a, low_b), (low_a, high_b), (high_a, low_b), (high_a, high_b))
        cases = [builder.and_(*pair) for pair in pairs]
        for start, masks in zip(starts, (ones, zeros), strict=True):
            value = reduce(builder.or_, map(builder.and_, cases, masks))
            differing = builder.xor(value, v.load(0, builder.add(gate.known, start)))
            builder.store(builder.or_(builder.load(found), differing), found)
            v.store(value, 0, builder.add(gate.to, start))
    return v.some(builder.load(found))


@words_query
def hard_differ(v, x, y, words):
    """Return a number that is not 0 if words at `x` of one array and `y` of the other differ."""
    builder = v.builder
    found = cgutils.alloca_once_value(builder, ir.Constant(v.type, [0] * WORDS))
    with v.vectors(words) as offset:
        one = v.load(0, builder.add(x, offset))
        other = v.load(1, builder.add(y, offset))
        builder.store(builder.or_(builder.load(found), builder.xor(one, other)), found)
    return v.some(builder.load(found))


@words_primitive
def hard_list(v, first, end, words):
    """Evaluate the gates of some records, one after the other, over `words` words each.

    Arrays: values, records (slots of both inputs and of the result, and the op), forms.
    """
    builder = v.builder
    with cgutils.for_range_slice(builder, first, end, I64(1), intp=I64) as (number, _):
        record = builder.mul(number, I64(4))
        *slots, form = (v.number(1, builder.add(record, I64(i))) for i in range(4))
        a, b, target = (builder.mul(slot, words) for slot in slots)
        c = v.form(2, builder.mul(builder.and_(form, I64(15)), I64(4)))
        with v.vectors(words) as offset:
            value = v.gate(c, v.load(0, builder.add(a, offset)), v.load(0, builder.add(b, offset)))
            v.store(value, 0, builder.add(target, offset))


@words_primitive
def hard_copy(v, to, place, words):
    """Copy some words from a place of the second array to a place of the first."""
    with v.vectors(words) as offset:
        v.store(v.load(1, v.builder.add(place, offset)), 0, v.builder.add(to, offset))


class NeighborView(NamedTuple):
    """What `hard_view` copies: `place` of the own or the known states, to a place of the values.

    It joins the shifts from `first` to before `end`. Masks have `stride` words; the first to use is
    `mask`.
    """

    to: int
    is_own: int
    place: int
    first: int
    end: int
    mask: int
    stride: int
    words: int


@words_primitive
def hard_view(v, view):
    """Write one neighbour's state of each cell to some words of the values.

    Arrays: values, own states, known states, skip, shift and masks of HardCells.
    """
    builder = v.builder
    states = v.either(view.is_own, 1, 2, view.place)
    with v.vectors(view.words) as offset:
        seen = cgutils.alloca_once_value(builder, ir.Constant(v.type, [0] * WORDS))
        with cgutils.for_range_slice(builder, view.first, view.end, I64(1), intp=I64) as (
            number,
            _,
        ):
            skip, shift = (builder.load(v.at(array, number)) for array in (3, 4))
            word = builder.add(skip, offset)
            low = v.step(states, word)
            high = v.step(states, builder.add(word, I64(1)))
            moved = v.call(f"llvm.fshr.v{WORDS}i64", v.type, high, low, v.splat(shift))
            masks = builder.add(builder.mul(number, view.stride), view.mask)
            shown = builder.and_(moved, v.load(5, builder.add(masks, offset)))
            builder.store(builder.or_(builder.load(seen), shown), seen)
        v.store(builder.load(seen), 0, builder.add(view.to, offset))


class Advance(NamedTuple):
    """A channel's step for `hard_advance`, by places.

    The new state is at `row`; cells that do not fire keep the state at `before`. `row_is_own` and
    `before_is_own` say whether these are in the own arrays.
    """

    row: int
    row_is_own: int
    before: int
    before_is_own: int
    after: int
    known: int
    fire: int
    keep: int
    words: int


@words_query
def hard_advance(v, step):
    """Write a state after a step to `after` of the own states; damaged cells become zero.

    Arrays: values, known values, own states, known states, fires, keeps. Returns a number that is
    not 0 if the state differs from the `known` one.
    """
    builder = v.builder
    new = v.either(step.row_is_own, 0, 1, step.row)
    old = v.either(step.before_is_own, 2, 3, step.before)
    found = cgutils.alloca_once_value(builder, ir.Constant(v.type, [0] * WORDS))
    with v.vectors(step.words) as offset:
        held = v.step(old, offset)
        value = v.step(new, offset)
        changed = builder.and_(builder.xor(held, value), v.load(4, builder.add(step.fire, offset)))
        state = builder.and_(builder.xor(held, changed), v.load(5, builder.add(step.keep, offset)))
        v.store(state, 2, builder.add(step.after, offset))
        differing = builder.xor(state, v.load(3, builder.add(step.known, offset)))
        builder.store(builder.or_(builder.load(found), differing), found)
    return v.some(builder.load(found))


@words_query
def hard_count(v, own, place, target, counted, words):
    """Return how many counted bits differ from a target.

    Arrays: own states, known states, targets, counted bits.
    """
    builder = v.builder
    states = v.either(own, 0, 1, place)
    total = cgutils.alloca_once_value(builder, I64(0))
    with v.vectors(words) as offset:
        differing = builder.xor(v.step(states, offset), v.load(2, builder.add(target, offset)))
        differing = builder.and_(differing, v.load(3, builder.add(counted, offset)))
        ones = v.call(f"llvm.ctpop.v{WORDS}i64", v.type, differing)
        found = v.call(f"llvm.vector.reduce.add.v{WORDS}i64", I64, ones)
        builder.store(builder.add(builder.load(total), found), total)
    return builder.load(total)


@emitting(lambda word: types.int64(types.uint64))
def ones(context, builder, signature, args):
    """Return the number of ones in a word of 64 bits."""
    return builder.ctpop(args[0])
