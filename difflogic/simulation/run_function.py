"""Emits the function `run`, which takes steps: bands of rows, blocks of steps, and boundaries."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from llvmlite import ir

from difflogic.simulation.bit_grid import LINE, WORD
from difflogic.simulation.builder import I64 as _I64
from difflogic.simulation.builder import Builder
from difflogic.simulation.random_bits import GOLDEN


class Field(IntEnum):
    """Positions in the parameters of `run`, 64 bits each.

    A block is DEPTH steps. For each step of a block but the last, a worker keeps a few rows in its
    scratch memory, small enough for its caches. So a block reads one grid once and writes the
    other once. Adjacent bands both compute the DEPTH - 1 rows around their border.

    Ticket t stands for band t mod BANDS of block t // BANDS. Threads draw tickets in order. A band
    waits until it and its two neighbours have finished the block before. So there is no barrier,
    and a thread that starts late, or never, delays nobody.
    """

    SOURCE = 0  # address of the grid before block 0; odd blocks read the other one
    TARGET = 1
    TICKET = 2  # address of the next ticket
    DONE = 3  # address of each band's count of finished blocks, one per cache line
    TICKETS = 4  # blocks · bands
    BANDS = 5
    DEPTH = 6  # at most the height
    HEIGHT = 7
    ROW_STRIDE = 8  # words from a row to the next
    CHANNEL_STRIDE = 9  # words from a channel to the next
    VECTORS = 10  # vectors per row of a channel
    RING = 11  # offset of the kept rows in the scratch memory, in words; the fire mask comes first
    LAST_WORD = 12
    LAST_MASK = 13  # the bits of the last word that are cells
    LAST_BIT = 14  # position of the last cell in the last word
    GHOST_WORD = 15  # position of the cell right of the last one
    GHOST_BIT = 16
    PERIODIC = 17  # 1 or 0
    ENDS = 18  # 1 if the words beyond a row's ends need an update
    ASYNCHRONOUS = 19  # 1 or 0
    SEED = 20  # key of the fire masks' stream
    FIRST_STEP = 21  # number of steps before block 0
    THRESHOLD = 22  # the fire rate's binary digits
    DIGITS = 23  # how many of these digits matter
    YIELD = 24  # address of the system function that yields the core
    LABELS = 25  # address of the channels' labels, or 0 without noise
    NOISE_SEED = 26  # key of the noise's stream
    NOISE_THRESHOLD = 27  # the binary digits of the probability that a bit flips
    NOISE_DIGITS = 28


BAND_SPINS = 200
"""Polls of a neighbouring band before a thread yields its core."""


ROWS_KEPT = 3
"""Rows to keep of each step in a block: the next stage reads a row and the two beside it."""

_I1 = ir.IntType(1)
_I32 = ir.IntType(32)
_POINTER = _I64.as_pointer()


def emit_run(
    module: ir.Module, fill: ir.Function, cells: ir.Function, channels: int, words: int
) -> None:
    """Emit `run`, which calls the functions `fill` and `cells`."""
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
        # The band itself, the next, the one before. Waiting across the edge costs nothing.
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
        # Each stage is one row behind the previous stage, whose rows it reads.
        y = b.ir.sub(b.ir.add(b.ir.sub(first, extra), time), stage)
        margin = b.ir.sub(extra, stage)
        wanted = rows.is_wanted(y, b.ir.sub(first, margin), b.ir.add(end, margin))
        with b.ir.if_then(wanted):
            step = b.ir.add(b.ir.mul(block, p[Field.DEPTH]), stage)
            _emit_row(b, rows, stage, step, y, (fill, cells, channels))
    finished = b.at(done, b.ir.mul(band, _I64(8)))
    b.ir.store_atomic(b.ir.add(block, _I64(1)), finished, "release", 8)
    b.ir.branch(next_ticket)


def _emit_wait(b: Builder, band: Any, block: Any, done: Any, yield_: Any) -> None:
    """Emit a wait until `band` has finished `block` blocks."""
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
    b.ir.cbranch(b.ir.icmp_unsigned("<", spins, _I64(BAND_SPINS)), look, offer)
    b.ir.position_at_end(offer)
    b.ir.call(b.ir.inttoptr(yield_, ir.FunctionType(_I32, []).as_pointer()), [])
    spins.add_incoming(_I64(0), offer)
    b.ir.branch(look)
    b.ir.position_at_end(ready)


class _Rows:
    """Emits the address of each row at each stage of a block. Row numbers may be negative."""

    def __init__(self, b: Builder, p: Any, source: Any, target: Any, scratch: Any) -> None:
        self.b = b
        self.p = p
        self.source = source
        self.target = target
        self.scratch = scratch

    def is_wanted(self, y: Any, first: Any, end: Any) -> Any:
        """Return whether row `y` exists and lies in [first, end)."""
        build = self.b.ir
        inside = build.and_(build.icmp_signed(">=", y, first), build.icmp_signed("<", y, end))
        return build.and_(inside, self.exists(y))

    def exists(self, y: Any) -> Any:
        """Return whether `y` is a row of the grid, perhaps after wrapping around."""
        inside = self.b.ir.icmp_unsigned("<", y, self.p[Field.HEIGHT])
        return self.b.ir.or_(inside, self.b.ir.trunc(self.p[Field.PERIODIC], _I1))

    def number(self, y: Any) -> Any:
        """Return the grid row for `y`: wrapped around, or the row of zeros beyond a zero boundary.

        Rows further away than any wanted one also become the row of zeros.
        """
        build = self.b.ir
        p = self.p
        height = p[Field.HEIGHT]
        near = build.icmp_unsigned("<", build.add(y, height), build.mul(height, _I64(3)))
        high = build.icmp_signed(">=", y, height)
        low = build.icmp_signed("<", y, _I64(0))
        wrapped = build.select(high, build.sub(y, height), y)
        wrapped = build.select(low, build.add(y, height), wrapped)
        return build.select(build.and_(near, self.exists(y)), wrapped, height)

    def before(self, stage: Any, y: Any) -> Any:
        """Return the address of row `y` as `stage` reads it."""
        build = self.b.ir
        first = build.icmp_unsigned("==", stage, _I64(0))
        from_grid = build.or_(first, build.not_(self.exists(y)))
        kept = self._kept(build.sub(stage, _I64(1)), y)
        return build.select(from_grid, self._row(self.source, self.number(y)), kept)

    def after(self, stage: Any, y: Any) -> Any:
        """Return the address of row `y` as `stage` writes it."""
        build = self.b.ir
        last = build.icmp_unsigned("==", build.add(stage, _I64(1)), self.p[Field.DEPTH])
        return build.select(last, self._row(self.target, self.number(y)), self._kept(stage, y))

    def _kept(self, stage: Any, y: Any) -> Any:
        build = self.b.ir
        kept = _I64(ROWS_KEPT)
        turn = build.urem(build.add(y, build.mul(kept, self.p[Field.DEPTH])), kept)
        return self._row(self._ring(), build.add(build.mul(stage, kept), turn))

    def _ring(self) -> Any:
        return self.b.at(self.scratch, self.p[Field.RING])

    def _row(self, base: Any, number: Any) -> Any:
        build = self.b.ir
        words = build.mul(number, self.p[Field.ROW_STRIDE])
        return self.b.at(base, build.add(words, _I64(LINE)))


def _emit_row(
    b: Builder, rows: _Rows, stage: Any, step: Any, y: Any, parts: tuple[Any, Any, int]
) -> None:
    """Emit row `y`: its fire mask, cells, noise, and ghost bits."""
    p = rows.p
    (fill, cells, channels) = parts
    asynchronous = b.ir.icmp_unsigned("!=", p[Field.ASYNCHRONOUS], _I64(0))
    now = b.ir.add(p[Field.FIRST_STEP], step)
    with b.ir.if_then(asynchronous):
        key = _emit_child_key(b, _emit_child_key(b, p[Field.SEED], now), rows.number(y))
        b.ir.call(fill, [rows.scratch, p[Field.VECTORS], key, p[Field.THRESHOLD], p[Field.DIGITS]])
    fire = b.ir.select(asynchronous, rows.scratch, ir.Constant(_POINTER, None))
    seen = [rows.before(stage, b.ir.add(y, _I64(distance))) for distance in (-1, 0, 1)]
    target = rows.after(stage, y)
    b.ir.call(cells, [*seen, target, p[Field.CHANNEL_STRIDE], p[Field.VECTORS], fire])
    with b.ir.if_then(b.ir.icmp_unsigned("!=", p[Field.LABELS], _I64(0))):
        key = _emit_child_key(b, _emit_child_key(b, p[Field.NOISE_SEED], now), rows.number(y))
        # The cells are done with their fire mask.
        _emit_noise(b, rows, target, key, parts)
    with (
        b.ir.if_then(b.ir.icmp_unsigned("!=", p[Field.ENDS], _I64(0))),
        b.loop(_I64(0), _I64(channels)) as channel,
    ):
        _emit_ends(b, p, b.at(target, b.ir.mul(channel, p[Field.CHANNEL_STRIDE])))


def _emit_child_key(b: Builder, key: Any, number: Any) -> Any:
    """Emit one number's key of `random_bits.child_keys`."""
    counted = b.ir.add(number, _I64(1))
    return b.mix(b.ir.add(key, b.ir.mul(_I64(GOLDEN), counted)))


def _emit_noise(b: Builder, rows: _Rows, cells: Any, key: Any, parts: tuple[Any, Any, int]) -> None:
    """Emit the flips of a row's bits, all channels, by way of the scratch memory."""
    p = rows.p
    flips = rows.scratch
    (fill, _, channels) = parts
    labels = b.ir.inttoptr(p[Field.LABELS], _POINTER)
    with b.loop(_I64(0), _I64(channels)) as channel:
        of_channel = _emit_child_key(b, key, b.get(labels, channel))
        words = [p[Field.VECTORS], of_channel, p[Field.NOISE_THRESHOLD], p[Field.NOISE_DIGITS]]
        b.ir.call(fill, [flips, *words])
        own = b.at(cells, b.ir.mul(channel, p[Field.CHANNEL_STRIDE]))
        with b.loop(_I64(0), p[Field.VECTORS]) as vector:
            word = b.ir.mul(vector, _I64(b.words))
            noisy = b.ir.xor(b.get_vector(own, word), b.get_vector(flips, word))
            b.put_vector(noisy, own, word)


def _emit_ends(b: Builder, p: Any, cells: Any) -> None:
    """Emit `BitGrid.refresh_ends` for one channel's row."""
    last = b.at(cells, p[Field.LAST_WORD])
    value = b.ir.and_(b.ir.load(last), p[Field.LAST_MASK])
    b.ir.store(value, last)
    b.ir.store(_I64(0), b.at(last, _I64(1)))
    left = b.ir.and_(b.ir.lshr(value, p[Field.LAST_BIT]), p[Field.PERIODIC])
    b.ir.store(b.ir.shl(left, _I64(WORD - 1)), b.at(cells, _I64(-1)))
    right = b.ir.and_(b.ir.load(cells), p[Field.PERIODIC])
    ghost = b.at(cells, p[Field.GHOST_WORD])
    b.ir.store(b.ir.or_(b.ir.load(ghost), b.ir.shl(right, p[Field.GHOST_BIT])), ghost)
