"""From a schedule to LLVM's intermediate code: the whole simulation of one circuit.

A cell's update becomes straight-line code on vectors of words, without a table of gates, an
index or a branch. LLVM chooses the machine's instructions; with AVX-512 it joins gates in pairs
to ternary logic. The code is built with llvmlite, which numba brings, and never passes through
numba's typing: a circuit of 1000 gates compiles in about two seconds, and a cached one is there
at once.

Exported functions, where arguments are addresses and numbers of 64 bits:

- run(parameters, scratch): takes tickets until all bands of all steps are done, see `Field`.
- fill(out, vectors, key, threshold, digits): random words, as `random_bits.bernoulli`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from difflogic.gates import Op
from difflogic.simulation.builder import I64 as _I64
from difflogic.simulation.builder import Builder
from difflogic.simulation.fields import Field
from difflogic.simulation.random_bits import GOLDEN
from difflogic.simulation.schedule import Schedule

WORD = 64
GUARD = 8
"""Words before each row of a channel: the last holds the cell left of the first."""
LINE_BYTES = 64
SPINS = 200
"""Looks at a neighbouring band before the core is offered to others."""
DIGITS_AT_ONCE = 4
"""Random words that do not wait for each other: a hash has a latency of about 40 cycles."""

_I1, _I32 = ir.IntType(1), ir.IntType(32)
_POINTER = _I64.as_pointer()


def emit(schedule: Schedule, channels: int, words: int) -> ir.Module:
    """Return the module that simulates a circuit, with vectors of `words` words of 64 cells."""
    module = ir.Module("simulation")
    fill = _emit_fill(module, words)
    row = _emit_row(module, schedule, channels, words)
    _emit_run(module, fill, row, channels, words)
    return module


def _emit_fill(module: ir.Module, words: int) -> ir.Function:
    kind = ir.FunctionType(ir.VoidType(), [_POINTER, _I64, _I64, _I64, _I64])
    function = ir.Function(module, kind, "fill")
    b = Builder(function, words)
    out, vectors, key, threshold, digits = function.args
    lanes = ir.Constant(b.vector, [lane * WORD * GOLDEN % 2**64 for lane in range(words)])
    with b.loop(_I64(0), vectors) as vector:
        first = b.ir.mul(vector, _I64(words))
        place = b.ir.mul(first, _I64(WORD * GOLDEN % 2**64))
        counter = b.ir.add(b.splat(b.ir.add(key, place)), lanes)
        b.put_vector(_emit_comparison(b, counter, threshold, digits), out, first)
    b.ir.ret_void()
    return function


def _emit_comparison(b: Builder, counter: Any, threshold: Any, digits: Any) -> Any:
    """Emit the comparison of random numbers with the threshold, several digits at a time."""

    def some_digits(carried: list[Any]) -> tuple[Sequence[Any], Any]:
        digit, counter, result, undecided = carried
        for number in range(DIGITS_AT_ONCE):
            bits = b.mix(counter)
            counter = b.ir.add(counter, b.constant(GOLDEN))
            # Our next digit against theirs: smaller, greater, or equal and still undecided.
            place = b.ir.sub(_I64(WORD - 1 - number), digit)
            theirs = b.splat(b.ir.sub(_I64(0), b.ir.and_(b.ir.lshr(threshold, place), _I64(1))))
            differs = b.ir.and_(undecided, b.ir.xor(bits, theirs))
            result = b.ir.or_(result, b.ir.and_(differs, theirs))
            undecided = b.ir.xor(undecided, differs)
        digit = b.ir.add(digit, _I64(DIGITS_AT_ONCE))
        left = b.intrinsic(f"llvm.vector.reduce.or.v{b.words}i64", _I64, undecided)
        more = b.ir.icmp_unsigned("<", digit, digits)
        more = b.ir.and_(more, b.ir.icmp_unsigned("!=", left, _I64(0)))
        return (digit, counter, result, undecided), more

    starts = (_I64(0), counter, b.constant(0), b.constant(2**64 - 1))
    return b.repeat(starts, some_digits)[2]


def _emit_row(module: ir.Module, schedule: Schedule, channels: int, words: int) -> ir.Function:
    """Emit row(north, center, south, target, channel stride, vectors, fire): one row of cells.

    The addresses are those of each row's first word of channel 0. `fire` is the address of the
    words of cells that fire, or 0.
    """
    kind = ir.FunctionType(ir.VoidType(), [*[_POINTER] * 4, _I64, _I64, _POINTER])
    function = ir.Function(module, kind, "row")
    function.linkage = "internal"
    function.attributes.add("noinline")
    # Without it LLVM finds out too late that values do not fit into registers, and stores them
    # across cache lines.
    function.attributes.alignstack = LINE_BYTES
    *rows, target, stride, vectors, fire = function.args
    target.attributes.add("noalias")
    b = Builder(function, words)
    synchronous, asynchronous = (
        function.append_basic_block(name) for name in ("synchronous", "asynchronous")
    )
    nobody = b.ir.icmp_unsigned("==", b.ir.ptrtoint(fire, _I64), _I64(0))
    b.ir.cbranch(nobody, synchronous, asynchronous)
    for block, fires in ((synchronous, None), (asynchronous, fire)):
        b.ir.position_at_end(block)
        with b.loop(_I64(0), vectors) as vector:
            _emit_cells(b, schedule, channels, (rows, target, fires), stride, vector)
        b.ir.ret_void()
    return function


def _emit_cells(
    b: Builder, schedule: Schedule, channels: int, places: Any, stride: Any, vector: Any
) -> None:
    """Emit the update of one vector of cells in all channels."""
    word = b.ir.mul(vector, _I64(b.words))
    # Moved once per vector, so that a channel's place is the same for all of them.
    rows = [b.at(row, word) for row in places[0]]
    target, fires = b.at(places[1], word), places[2]
    offsets: dict[int, Any] = {}
    values: dict[int, Any] = {}
    seen: dict[tuple[int, int, int], Any] = {}

    def offset(channel: int) -> Any:
        if channel not in offsets:
            offsets[channel] = b.ir.mul(stride, _I64(channel))
        return offsets[channel]

    def words_at(row: int, channel: int, shift: int) -> Any:
        if (row, channel, shift) not in seen:
            place = b.ir.add(offset(channel), _I64(shift)) if shift else offset(channel)
            seen[row, channel, shift] = b.get_vector(rows[row], place)
        return seen[row, channel, shift]

    def value(wire: int) -> Any:
        if wire not in values:
            neighbor, channel = divmod(wire, channels)
            row, column = divmod(neighbor, 3)
            here = words_at(row, channel, 0)
            if column == 0:  # the cell to the left is one bit lower
                here = b.funnel(True, here, words_at(row, channel, -1), 1)
            elif column == 2:
                here = b.funnel(False, words_at(row, channel, 1), here, 1)
            values[wire] = here
        return values[wire]

    def finish(count: int) -> None:
        for channel, ready in enumerate(schedule.ready):
            if ready == count:
                new = value(schedule.outputs[channel])
                if fires is not None:
                    old = words_at(1, channel, 0)
                    fired = b.ir.and_(b.ir.xor(old, new), b.get_vector(fires, word))
                    new = b.ir.xor(old, fired)
                b.put_vector(new, target, offset(channel))

    finish(0)
    for count, step in enumerate(schedule.instructions, 1):
        values[step.out] = _gate(b, step.op, step.a, step.b, value)
        finish(count)


def _gate(b: Builder, op: Op, x: int, y: int, value: Callable[[int], Any]) -> Any:
    """Emit one of the 16 ops; asks only for the values that the op reads."""
    build = b.ir
    match op:
        case Op.FALSE:
            return b.constant(0)
        case Op.AND:
            return build.and_(value(x), value(y))
        case Op.A_AND_NOT_B:
            return build.and_(value(x), build.not_(value(y)))
        case Op.A:
            return value(x)
        case Op.NOT_A_AND_B:
            return build.and_(build.not_(value(x)), value(y))
        case Op.B:
            return value(y)
        case Op.XOR:
            return build.xor(value(x), value(y))
        case Op.OR:
            return build.or_(value(x), value(y))
        case _:
            return build.not_(_gate(b, Op(15 - op), x, y, value))


def _emit_run(
    module: ir.Module, fill: ir.Function, row: ir.Function, channels: int, words: int
) -> None:
    kind = ir.FunctionType(ir.VoidType(), [_POINTER, _POINTER])
    function = ir.Function(module, kind, "run")
    b = Builder(function, words)
    parameters, scratch = function.args
    p = {field: b.get(parameters, _I64(field)) for field in Field}
    tickets, done = (b.ir.inttoptr(p[field], _POINTER) for field in (Field.TICKET, Field.DONE))
    grids = [b.ir.inttoptr(p[field], _POINTER) for field in (Field.SOURCE, Field.TARGET)]
    next_ticket, work, leave = (
        function.append_basic_block(name) for name in ("next_ticket", "work", "leave")
    )
    b.ir.branch(next_ticket)

    b.ir.position_at_end(next_ticket)
    ticket = b.ir.atomic_rmw("add", tickets, _I64(1), "monotonic")
    b.ir.cbranch(b.ir.icmp_unsigned("<", ticket, p[Field.TICKETS]), work, leave)
    b.ir.position_at_end(leave)
    b.ir.ret_void()

    b.ir.position_at_end(work)
    block = b.ir.udiv(ticket, p[Field.BANDS])
    band = b.ir.urem(ticket, p[Field.BANDS])
    for distance in (0, 1, None):
        # The band itself, the next, the one before; around the edge it costs nothing to wait.
        ahead = b.ir.sub(p[Field.BANDS], _I64(1)) if distance is None else _I64(distance)
        other = b.ir.urem(b.ir.add(band, ahead), p[Field.BANDS])
        _emit_wait(b, other, block, done, p[Field.YIELD])
    odd = b.ir.trunc(block, _I1)
    source = b.ir.select(odd, grids[1], grids[0])
    target = b.ir.select(odd, grids[0], grids[1])
    first, end = (
        b.ir.udiv(b.ir.mul(number, p[Field.HEIGHT]), p[Field.BANDS])
        for number in (band, b.ir.add(band, _I64(1)))
    )
    rows = _Rows(b, p, source, target, scratch)
    extra = b.ir.sub(p[Field.DEPTH], _I64(1))
    times = b.ir.add(b.ir.sub(end, first), b.ir.shl(extra, _I64(1)))
    with b.loop(_I64(0), times) as time, b.loop(_I64(0), p[Field.DEPTH]) as stage:
        # Each stage is one row behind the stage before, whose three rows it reads.
        y = b.ir.sub(b.ir.add(b.ir.sub(first, extra), time), stage)
        margin = b.ir.sub(extra, stage)
        wanted = b.ir.and_(
            b.ir.icmp_signed(">=", y, b.ir.sub(first, margin)),
            b.ir.icmp_signed("<", y, b.ir.add(end, margin)),
        )
        with b.ir.if_then(b.ir.and_(wanted, rows.exists(y))):
            step = b.ir.add(b.ir.mul(block, p[Field.DEPTH]), stage)
            _emit_one_row(b, rows, stage, step, y, (fill, row, channels))
    finished = b.at(done, b.ir.mul(band, _I64(8)))
    b.ir.store_atomic(b.ir.add(block, _I64(1)), finished, "release", 8)
    b.ir.branch(next_ticket)


def _emit_wait(b: Builder, band: Any, block: Any, done: Any, yield_: Any) -> None:
    """Wait until `band` has done `block` blocks."""
    entry = b.ir.block
    look, offer, retry, ready = (
        b.function.append_basic_block(name) for name in ("look", "offer", "retry", "ready")
    )
    address = b.at(done, b.ir.mul(band, _I64(8)))
    b.ir.branch(look)
    b.ir.position_at_end(look)
    spins = b.ir.phi(_I64)
    spins.add_incoming(_I64(0), entry)
    blocks = b.ir.load_atomic(address, "acquire", 8)
    b.ir.cbranch(b.ir.icmp_unsigned(">=", blocks, block), ready, retry)
    b.ir.position_at_end(retry)
    spins.add_incoming(b.ir.add(spins, _I64(1)), retry)
    b.ir.cbranch(b.ir.icmp_unsigned("<", spins, _I64(SPINS)), look, offer)
    b.ir.position_at_end(offer)
    b.ir.call(b.ir.inttoptr(yield_, ir.FunctionType(_I32, []).as_pointer()), [])
    spins.add_incoming(_I64(0), offer)
    b.ir.branch(look)
    b.ir.position_at_end(ready)


class _Rows:
    """Where the rows of each stage of a block lie. Rows count from the grid's first, signed."""

    def __init__(self, b: Builder, p: Any, source: Any, target: Any, scratch: Any) -> None:
        self.b, self.p = b, p
        self.source, self.target, self.scratch = source, target, scratch

    def exists(self, y: Any) -> Any:
        """Return whether `y` is a row of the grid, or stands for one."""
        inside = self.b.ir.icmp_unsigned("<", y, self.p[Field.HEIGHT])
        return self.b.ir.or_(inside, self.b.ir.trunc(self.p[Field.PERIODIC], _I1))

    def number(self, y: Any) -> Any:
        """Return the row of the grid that `y` is; the row of zeros beyond a zero boundary."""
        build, p = self.b.ir, self.p
        height = p[Field.HEIGHT]
        high = build.icmp_signed(">=", y, height)
        low = build.icmp_signed("<", y, _I64(0))
        wrapped = build.select(high, build.sub(y, height), y)
        wrapped = build.select(low, build.add(y, height), wrapped)
        return build.select(self.exists(y), wrapped, height)

    def before(self, stage: Any, y: Any) -> Any:
        """Return the first word of row `y` as `stage` reads it."""
        build = self.b.ir
        first = build.icmp_unsigned("==", stage, _I64(0))
        from_grid = build.or_(first, build.not_(self.exists(y)))
        kept = self._kept(build.sub(stage, _I64(1)), y)
        return build.select(from_grid, self._row(self.source, self.number(y)), kept)

    def after(self, stage: Any, y: Any) -> Any:
        """Return the first word of row `y` as `stage` writes it."""
        build = self.b.ir
        last = build.icmp_unsigned("==", build.add(stage, _I64(1)), self.p[Field.DEPTH])
        return build.select(last, self._row(self.target, self.number(y)), self._kept(stage, y))

    def _kept(self, stage: Any, y: Any) -> Any:
        build, three = self.b.ir, _I64(3)
        turn = build.urem(build.add(y, build.mul(three, self.p[Field.DEPTH])), three)
        ring = self.b.at(self.scratch, self.p[Field.RING])
        return self._row(ring, build.add(build.mul(stage, three), turn))

    def _row(self, base: Any, number: Any) -> Any:
        build = self.b.ir
        words = build.mul(number, self.p[Field.ROW_STRIDE])
        return self.b.at(base, build.add(words, _I64(GUARD)))


def _emit_one_row(
    b: Builder, rows: _Rows, stage: Any, step: Any, y: Any, parts: tuple[Any, Any, int]
) -> None:
    """Emit what computes row `y`: fire mask, cells, and what lies beyond the row's two ends."""
    p, (fill, row, channels) = rows.p, parts
    asynchronous = b.ir.icmp_unsigned("!=", p[Field.ASYNCHRONOUS], _I64(0))
    with b.ir.if_then(asynchronous):
        golden = _I64(GOLDEN)
        counted = b.ir.add(b.ir.add(p[Field.FIRST_STEP], step), _I64(1))
        key = b.mix(b.ir.add(p[Field.SEED], b.ir.mul(golden, counted)))
        place = b.ir.add(rows.number(y), _I64(1))
        key = b.mix(b.ir.add(key, b.ir.mul(golden, place)))
        words = [p[Field.VECTORS], key, p[Field.THRESHOLD], p[Field.DIGITS]]
        b.ir.call(fill, [rows.scratch, *words])
    fires = b.ir.select(asynchronous, rows.scratch, ir.Constant(_POINTER, None))
    seen = [rows.before(stage, b.ir.add(y, _I64(distance))) for distance in (-1, 0, 1)]
    target = rows.after(stage, y)
    b.ir.call(row, [*seen, target, p[Field.CHANNEL_STRIDE], p[Field.VECTORS], fires])
    with (
        b.ir.if_then(b.ir.icmp_unsigned("!=", p[Field.ENDS], _I64(0))),
        b.loop(_I64(0), _I64(channels)) as channel,
    ):
        _emit_ends(b, p, b.at(target, b.ir.mul(channel, p[Field.CHANNEL_STRIDE])))


def _emit_ends(b: Builder, p: Any, cells: Any) -> None:
    """Emit what `BitGrid.refresh_ends` does, for one channel's row."""
    last = b.at(cells, p[Field.LAST_WORD])
    value = b.ir.and_(b.ir.load(last), p[Field.LAST_MASK])
    b.ir.store(value, last)
    b.ir.store(_I64(0), b.at(last, _I64(1)))
    left = b.ir.and_(b.ir.lshr(value, p[Field.LAST_BIT]), p[Field.PERIODIC])
    b.ir.store(b.ir.shl(left, _I64(WORD - 1)), b.at(cells, _I64(-1)))
    right = b.ir.and_(b.ir.load(cells), p[Field.PERIODIC])
    ghost = b.at(cells, p[Field.GHOST_WORD])
    b.ir.store(b.ir.or_(b.ir.load(ghost), b.ir.shl(right, p[Field.GHOST_BIT])), ghost)
