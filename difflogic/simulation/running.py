"""The function `run`: bands of rows and blocks of steps as tickets, and what lies around a row."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from difflogic.simulation.bit_grid import LINE, WORD
from difflogic.simulation.builder import I64 as _I64
from difflogic.simulation.builder import Builder
from difflogic.simulation.fields import Field
from difflogic.simulation.random_bits import GOLDEN

SPINS = 200
"""Looks at a neighbouring band before the core is offered to others."""

_I1, _I32 = ir.IntType(1), ir.IntType(32)
_POINTER = _I64.as_pointer()


def emit_run(
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
        return self.b.at(base, build.add(words, _I64(LINE)))


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
