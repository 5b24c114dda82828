"""Runs a circuit with NumPy, gate by gate over bands of rows. Nothing is compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import BitLogic, evaluate
from difflogic.circuit.grid import OFFSETS
from difflogic.simulation.bit_grid import WORD, BitGrid, Geometry
from difflogic.simulation.random_bits import Chance
from difflogic.simulation.schedule import schedule
from difflogic.system.array_types import Words
from difflogic.system.work import may_cancel

BAND_WORDS = 2048
"""Words per value: at 16 KB a NumPy call costs less than its work, and caches hold ten values."""


class Interpreter:
    """Takes steps of a circuit in the memory of one band."""

    def __init__(self, circuit: Circuit, chance: Chance) -> None:
        self._order = schedule(circuit)
        self._chance = chance
        self._spent = _last_reads(self._order)

    def __enter__(self) -> Interpreter:
        return self

    def __exit__(self, *raised: Any) -> None:
        """Nothing to release."""

    def take(self, source: BitGrid, target: BitGrid, step: int, most: int) -> tuple[int, int]:
        """Take one step from `source`, the state after `step` steps, and write it to `target`.

        If it is stopped between bands, `source` is unchanged. Returns the number of steps taken and
        of grid swaps, 1 and 1, as `Compiled.take` does.
        """
        geometry = source.geometry
        (fire, noise) = self._chance
        rows = band_rows(geometry)
        for first in range(0, geometry.height, rows):
            band = slice(first, min(first + rows, geometry.height))
            new = self._next(source, band, step)
            if fire is not None:
                fires = fire.masks(step, range(band.start, band.stop), geometry.words)
                old = source.words[band, :, source.columns()]
                new = old ^ ((old ^ new) & fires[:, None])
            if noise is not None:
                new ^= noise.flips(step, range(band.start, band.stop), geometry.words)
            target.load(band, new)
            if band.stop < geometry.height:
                may_cancel()
        return 1, 1

    def _next(self, source: BitGrid, band: slice, step: int) -> Words:
        """Return the next state of a band of rows, shape (rows, channels, words)."""
        order = self._order
        shape = (band.stop - band.start, source.geometry.words)
        bits = BitLogic(np.full(shape, 2**WORD - 1, np.uint64))
        inputs = [bits.constant(0)] * order.inputs
        for row in order.read_inputs.tolist():
            inputs[row] = _input(source, band, *divmod(row, order.channels))
        values = evaluate(order, inputs, bits, spent=self._spent)
        return np.stack([values[row] for row in order.outputs.tolist()], axis=1)


def band_rows(geometry: Geometry) -> int:
    """Return how many rows the interpreter computes at a time."""
    return max(1, BAND_WORDS // geometry.words)


def _last_reads(order: Circuit) -> dict[int, list[int]]:
    """Map each gate's row to the rows that are read for the last time there."""
    last = {row: row for row in range(order.inputs, order.rows)}
    for gate in range(order.gates):
        for row in order.reads(gate):
            last[row] = order.inputs + gate
    found: dict[int, list[int]] = {}
    for row in last.keys() - set(order.outputs.tolist()):
        found.setdefault(last[row], []).append(row)
    return found


def _input(source: BitGrid, band: slice, neighbor: int, channel: int) -> Words:
    """Return a channel of a neighbour for a band of cells, shape (rows, words)."""
    geometry = source.geometry
    dy, dx = OFFSETS[neighbor]
    rows = np.arange(band.start + dy, band.stop + dy)
    if geometry.boundary == "periodic":
        rows %= geometry.height
    words = source.words[rows, channel]
    here: Words = words[:, source.columns()]
    if dx:
        beside: Words = words[:, source.columns(dx)]
        one = np.uint64(1)
        rest = np.uint64(WORD - 1)
        # The cell to the left is one bit lower.
        here = here << one | beside >> rest if dx < 0 else here >> one | beside << rest
    return here
