"""Translates a circuit into LLVM's intermediate code: the whole simulation of one circuit.

A cell's update becomes straight-line code on vectors of words: no table of gates, no index, no
branch. LLVM chooses the machine's instructions; with AVX-512 it joins pairs of gates into ternary
logic. The code is built with llvmlite, which numba brings, but without numba's slow typing: a
circuit of 1000 gates compiles in about two seconds.

Exported functions; all arguments are addresses or numbers of 64 bits:

- run(parameters, scratch): takes tickets until all bands of all steps are done, see `run_function`.
- fill(out, vectors, key, threshold, digits): writes the words of `random_bits.bernoulli`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import Logic
from difflogic.simulation.bit_grid import LINE, WORD
from difflogic.simulation.builder import I64 as _I64
from difflogic.simulation.builder import Builder
from difflogic.simulation.random_bits import GOLDEN
from difflogic.simulation.run_function import emit_run

DIGITS_AT_ONCE = 4
"""Random words computed in parallel: a hash has a latency of about 40 cycles."""
FEW_DIGITS = (1, 2)
"""Loops of their own for probabilities with this many digits, such as 1/2 and 1/4, so that they
need no further random words. Hashing takes most of the time of a small asynchronous circuit."""

_POINTER = _I64.as_pointer()


def emit(circuit: Circuit, words: int) -> ir.Module:
    """Return the module that simulates a circuit, with vectors of `words` words of 64 cells.

    Gates run in the circuit's order; `schedule` makes it a good one.
    """
    module = ir.Module("simulation")
    fill = _emit_fill(module, words)
    cells = _emit_cells_of_a_row(module, circuit, words)
    emit_run(module, fill, cells, circuit.channels, words)
    return module


def _emit_fill(module: ir.Module, words: int) -> ir.Function:
    kind = ir.FunctionType(ir.VoidType(), [_POINTER, _I64, _I64, _I64, _I64])
    function = ir.Function(module, kind, "fill")
    b = Builder(function, words)
    out, vectors, key, threshold, digits = function.args
    lanes = ir.Constant(b.vector, [lane * WORD * GOLDEN % 2**64 for lane in range(words)])

    def fill(at_once: int) -> None:
        with b.loop(_I64(0), vectors) as vector:
            first = b.ir.mul(vector, _I64(words))
            place = b.ir.mul(first, _I64(WORD * GOLDEN % 2**64))
            counter = b.ir.add(b.splat(b.ir.add(key, place)), lanes)
            b.put_vector(_emit_comparison(b, counter, threshold, digits, at_once), out, first)
        b.ir.ret_void()

    for few in FEW_DIGITS:
        with b.ir.if_then(b.ir.icmp_unsigned("<=", digits, _I64(few))):
            fill(few)
    fill(DIGITS_AT_ONCE)
    return function


def _emit_comparison(b: Builder, counter: Any, threshold: Any, digits: Any, at_once: int) -> Any:
    """Emit the comparison of random numbers with the threshold, `at_once` digits per round."""

    def some_digits(carried: list[Any]) -> tuple[Sequence[Any], Any]:
        digit, counter, result, undecided = carried
        for number in range(at_once):
            bits = b.mix(counter)
            counter = b.ir.add(counter, b.constant(GOLDEN))
            # Compare the next digit with the threshold's: smaller, greater, or still undecided.
            place = b.ir.sub(_I64(WORD - 1 - number), digit)
            theirs = b.splat(b.ir.sub(_I64(0), b.ir.and_(b.ir.lshr(threshold, place), _I64(1))))
            differs = b.ir.and_(undecided, b.ir.xor(bits, theirs))
            result = b.ir.or_(result, b.ir.and_(differs, theirs))
            undecided = b.ir.xor(undecided, differs)
        digit = b.ir.add(digit, _I64(at_once))
        left = b.intrinsic(f"llvm.vector.reduce.or.v{b.words}i64", _I64, undecided)
        more = b.ir.icmp_unsigned("<", digit, digits)
        more = b.ir.and_(more, b.ir.icmp_unsigned("!=", left, _I64(0)))
        return (digit, counter, result, undecided), more

    starts = (_I64(0), counter, b.constant(0), b.constant(2**64 - 1))
    return b.repeat(starts, some_digits)[2]


def _emit_cells_of_a_row(module: ir.Module, circuit: Circuit, words: int) -> ir.Function:
    """Emit cells(above, here, below, target, channel stride, vectors, fire), which updates a row.

    Each address is of a row's first word in channel 0: the rows read, the row written, and its fire
    mask, or 0.
    """
    kind = ir.FunctionType(ir.VoidType(), [*[_POINTER] * 4, _I64, _I64, _POINTER])
    function = ir.Function(module, kind, "cells")
    function.linkage = "internal"
    function.attributes.add("noinline")
    # Otherwise LLVM notices too late that values do not fit into registers, and spills them across
    # cache lines.
    function.attributes.alignstack = 8 * LINE
    *seen, target, stride, vectors, fire = function.args
    target.attributes.add("noalias")
    b = Builder(function, words)
    synchronous, asynchronous = (
        function.append_basic_block(name) for name in ("synchronous", "asynchronous")
    )
    nobody = b.ir.icmp_unsigned("==", b.ir.ptrtoint(fire, _I64), _I64(0))
    b.ir.cbranch(nobody, synchronous, asynchronous)
    for block, mask in ((synchronous, None), (asynchronous, fire)):
        b.ir.position_at_end(block)
        with b.loop(_I64(0), vectors) as vector:
            _Cells(b, circuit, stride, vector, seen).emit(target, mask)
        b.ir.ret_void()
    return function


class _Cells:
    """Emits the update of one vector of a row's cells in all channels."""

    def __init__(
        self, b: Builder, circuit: Circuit, stride: Any, vector: Any, seen: Sequence[Any]
    ) -> None:
        self._b = b
        self._circuit = circuit
        self._stride = stride
        self._word = b.ir.mul(vector, _I64(b.words))
        # If one instruction can shift words by a place, that is cheaper than a second, unaligned
        # load.
        self._moves = b.words == LINE
        # Advanced once per vector, so that a channel's offset is the same for all vectors.
        self._rows = [b.at(row, self._word) for row in seen]
        self._offsets: dict[int, Any] = {}
        self._loaded: dict[tuple[int, int, int], Any] = {}
        self._seen: dict[tuple[int, int, int], Any] = {}

    def emit(self, target: Any, fire: Any) -> None:
        """Emit the row `target`, the second one of `seen`; `fire` is its mask or None."""
        b = self._b
        circuit = self._circuit
        written = b.at(target, self._word)
        values: dict[int, Any] = {}
        # Channels are written in order, each after this many gates.
        ready = np.maximum.accumulate(circuit.outputs - circuit.inputs + 1).clip(0)
        known_after = ready.tolist()
        vectors = _Vectors(b)

        def value(wire: int) -> Any:
            if wire not in values:
                neighbor, channel = divmod(wire, circuit.channels)
                row, column = divmod(neighbor, 3)
                values[wire] = self._input(row, column, channel)
            return values[wire]

        def finish(count: int) -> None:
            for channel, gates in enumerate(known_after):
                if gates == count:
                    new = value(int(circuit.outputs[channel]))
                    if fire is not None:
                        old = self._words_at(1, channel, 0)
                        fired = b.ir.and_(b.ir.xor(old, new), b.get_vector(fire, self._word))
                        new = b.ir.xor(old, fired)
                    b.put_vector(new, written, self._offset(channel))

        finish(0)
        ops, *wires = circuit.lists
        for count, (op, *reads) in enumerate(zip(ops, *wires, strict=True), 1):
            # Do not load what an op ignores.
            x, y = (value(wire) if wire < circuit.rows else None for wire in reads)
            values[circuit.inputs + count - 1] = vectors.gate(op, x, y)
            finish(count)

    def _offset(self, channel: int) -> Any:
        if channel not in self._offsets:
            self._offsets[channel] = self._b.ir.mul(self._stride, _I64(channel))
        return self._offsets[channel]

    def _words_at(self, row: int, channel: int, shift: int) -> Any:
        if (row, channel, shift) not in self._loaded:
            place = self._offset(channel)
            place = self._b.ir.add(place, _I64(shift)) if shift else place
            self._loaded[row, channel, shift] = self._b.get_vector(self._rows[row], place)
        return self._loaded[row, channel, shift]

    def _input(self, row: int, column: int, channel: int) -> Any:
        """Return a channel of a row as seen to the west (0), straight (1), or to the east (2)."""
        if (row, column, channel) not in self._seen:
            here = self._words_at(row, channel, 0)
            if column == 0:  # the cell to the left is one bit lower
                here = self._b.funnel(True, here, self._beside(row, channel, -1), 1)
            elif column == 2:
                here = self._b.funnel(False, self._beside(row, channel, 1), here, 1)
            self._seen[row, column, channel] = here
        return self._seen[row, column, channel]

    def _beside(self, row: int, channel: int, shift: int) -> Any:
        """Return a vector's words shifted by one word: to the left (-1) or to the right (1)."""
        if not self._moves:
            return self._words_at(row, channel, shift)
        b = self._b
        place = _I64(-1 if shift < 0 else b.words)
        word = b.get(self._rows[row], b.ir.add(self._offset(channel), place))
        return b.move_in(self._words_at(row, channel, 0), word, shift)


class _Vectors(Logic[Any]):
    """The algebra of vectors: each op emits instructions."""

    def __init__(self, b: Builder) -> None:
        self._b = b

    def constant(self, bit: int) -> Any:
        return self._b.constant(2**64 - 1 if bit else 0)

    def not_(self, x: Any) -> Any:
        return self._b.ir.not_(x)

    def and_(self, x: Any, y: Any) -> Any:
        return self._b.ir.and_(x, y)

    def xor_(self, x: Any, y: Any) -> Any:
        return self._b.ir.xor(x, y)

    def or_(self, x: Any, y: Any) -> Any:
        return self._b.ir.or_(x, y)
