"""A circuit run by NumPy, gate by gate over bands of rows: nothing is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import Bits, evaluate
from difflogic.circuit.grid import OFFSETS
from difflogic.simulation.bit_grid import WORD, BitGrid, Geometry
from difflogic.simulation.random_bits import Fire
from difflogic.simulation.schedule import schedule

Words = npt.NDArray[np.uint64]

BAND_WORDS = 2048
"""Words of a value: 16 KB, where a call of NumPy costs less than its work and caches hold ten."""


class Interpreter:
    """Takes steps of a circuit, with the memory of one band."""

    def __init__(self, circuit: Circuit) -> None:
        self._channels = circuit.channels
        self._order = schedule(circuit)
        self._spent = _spent(self._order)

    def __enter__(self) -> Interpreter:
        return self

    def __exit__(self, *raised: Any) -> None:
        """Nothing is held."""

    def take(
        self,
        source: BitGrid,
        target: BitGrid,
        step: int,
        most: int,
        fire: Fire | None,
        pause: Callable[[], None],
    ) -> tuple[int, int]:
        """Write the state after the step that follows `step` steps from `source` to `target`.

        Calls `pause` between bands; where it raises, `source` is as it was. Returns the steps
        taken, and how often the grids have changed places: 1 and 1.
        """
        geometry = source.geometry
        rows = band_rows(geometry)
        for first in range(0, geometry.height, rows):
            band = slice(first, min(first + rows, geometry.height))
            new = self._next(source, band)
            if fire is not None:
                fires = fire.masks(step, range(band.start, band.stop), geometry.words)
                old = source.words[band, :, source.columns()]
                new = old ^ ((old ^ new) & fires[:, None])
            target.load(band, new)
            if band.stop < geometry.height:
                pause()
        return 1, 1

    def _next(self, source: BitGrid, band: slice) -> Words:
        """Return the next state of a band of rows, shape (rows, channels, words)."""
        shape = (band.stop - band.start, source.geometry.words)
        bits = Bits(np.full(shape, 2**WORD - 1, np.uint64))
        inputs = [bits.constant(0)] * self._order.inputs
        for row in self._order.read_inputs.tolist():
            inputs[row] = _input(source, band, row, self._channels)
        values = evaluate(self._order, inputs, bits, spent=self._spent)
        new = np.empty((shape[0], self._channels, shape[1]), np.uint64)
        for channel, row in enumerate(self._order.outputs.tolist()):
            new[:, channel] = values[row]
        return new


def band_rows(geometry: Geometry) -> int:
    """Return how many rows the interpreter takes at a time."""
    return max(1, BAND_WORDS // geometry.words)


def _spent(order: Circuit) -> dict[int, list[int]]:
    """Return the rows that are needed no more once a gate is known, by that gate's row."""
    last = {row: row for row in range(order.inputs, order.rows)}
    for gate in range(order.gates):
        for row in order.reads(gate):
            last[row] = order.inputs + gate
    found: dict[int, list[int]] = {}
    for row in last.keys() - set(order.outputs.tolist()):
        found.setdefault(last[row], []).append(row)
    return found


def _input(source: BitGrid, band: slice, row: int, channels: int) -> Words:
    """Return a neighbour's channel for a band of cells, shape (rows, words)."""
    geometry = source.geometry
    neighbor, channel = divmod(row, channels)
    dy, dx = OFFSETS[neighbor]
    places = np.arange(band.start + dy, band.stop + dy)
    places[places == -1] = geometry.above
    places[places == geometry.height] = geometry.below
    words = source.words[places, channel]
    here = words[:, source.columns()]
    if dx == 0:
        return here
    beside = words[:, source.columns(dx)]
    one, rest = np.uint64(1), np.uint64(WORD - 1)
    if dx < 0:  # the cell to the left is one bit lower
        return (here << one) | (beside >> rest)
    return (here >> one) | (beside << rest)
