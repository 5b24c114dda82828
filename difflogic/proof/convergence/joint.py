"""Sets of whole cells: which values all channels of a cell can have together.

Where gates on sets lose what two signals have in common, as in x ⊕ x, this does not within one
cell: its next sets are found by trying every combination of its neighbours' members. It proves
what sets of values prove, and more; like these it holds under every fair schedule, since a cell
fires with all its channels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from difflogic.circuit.circuit import LogicCircuit
from difflogic.circuit.grid import OFFSETS, OUTSIDE, neighbors
from difflogic.proof.convergence.findings import Question
from difflogic.proof.convergence.planes import unpack
from difflogic.proof.convergence.sets import Sets
from difflogic.system.deadline import NEVER, Deadline

MOST_CHANNELS = 10
"""A set has a bit for each of 2^channels values."""
MOST_COMBINATIONS = 2**18
"""Of the neighbours' members, for one cell."""

CellSets = tuple[int, ...]
"""The set of each cell: bit v tells whether v is a member, whose bit c is channel c's."""


class TooLargeError(Exception):
    """There are too many channels or combinations to try."""


class JointNetwork:
    """A circuit as a function of nine cells' sets, each of whose results is kept."""

    def __init__(self, circuit: LogicCircuit) -> None:
        if circuit.channels > MOST_CHANNELS:
            raise TooLargeError
        self._circuit = circuit
        read: list[list[int]] = [[] for _ in OFFSETS]
        for row in circuit.read_inputs.tolist():
            neighbor, channel = divmod(row, circuit.channels)
            read[neighbor].append(channel)
        self._read = [(n, channels) for n, channels in enumerate(read) if channels]
        self._parts: dict[tuple[int, int], tuple[int, ...]] = {}
        self._images: dict[tuple[tuple[int, ...], ...], int] = {}
        self._tables: dict[tuple[int, int, str], list[list[int]]] = {}

    def step(self, question: Question, state: CellSets) -> CellSets:
        """Return the sets after a step. Raises TooLargeError."""
        table = self._table(question)
        found = []
        for cell in range(len(state)):
            key = tuple(
                self._part(place, 1 if row[cell] == OUTSIDE else state[row[cell]])
                for place, row in enumerate(table)
            )
            image = self._images.get(key)
            if image is None:
                image = self._images[key] = self._image(key)
            found.append(image)
        return tuple(found)

    def _table(self, question: Question) -> list[list[int]]:
        key = question.height, question.width, question.boundary
        if key not in self._tables:
            table = neighbors(*key)
            self._tables[key] = [table[n].tolist() for n, _ in self._read]
        return self._tables[key]

    def _part(self, place: int, members: int) -> tuple[int, ...]:
        """Return what members of a neighbour's set are in the channels that are read of it."""
        known = self._parts.get((place, members))
        if known is None:
            mask = sum(1 << channel for channel in self._read[place][1])
            values = (v for v in range(members.bit_length()) if members >> v & 1)
            known = self._parts[place, members] = tuple(sorted({v & mask for v in values}))
        return known

    def _image(self, parts: tuple[tuple[int, ...], ...]) -> int:
        if math.prod(map(len, parts)) > MOST_COMBINATIONS:
            raise TooLargeError
        circuit = self._circuit
        grids = np.meshgrid(*map(np.array, parts), indexing="ij") if parts else []
        count = math.prod(map(len, parts))
        inputs = np.zeros((circuit.inputs, count), np.bool_)
        for (neighbor, channels), grid in zip(self._read, grids, strict=True):
            for channel in channels:
                inputs[neighbor * circuit.channels + channel] = grid.ravel() >> channel & 1
        after = circuit.next_state(inputs).astype(np.int64)
        numbers = (after << np.arange(circuit.channels)[:, None]).sum(axis=0)
        return sum(1 << value for value in np.unique(numbers).tolist())


def from_sets(question: Question, state: Sets) -> CellSets:
    """Return the sets of all values that each channel's own set allows. Raises TooLargeError."""
    channels = question.circuit.channels
    if channels > MOST_CHANNELS:
        raise TooLargeError
    least, most = (unpack(question.board, planes) for planes in state)
    bits = 1 << np.arange(channels)[:, None]
    low, high = ((planes.reshape(channels, -1) * bits).sum(axis=0) for planes in (least, most))
    known: dict[tuple[int, int], int] = {}
    found = []
    for pair in zip(low.tolist(), high.tolist(), strict=True):
        if pair not in known:
            known[pair] = sum(
                1 << v for v in range(2**channels) if v & pair[0] == pair[0] and not v & ~pair[1]
            )
        found.append(known[pair])
    return tuple(found)


def to_sets(question: Question, state: CellSets) -> Sets:
    """Return the sets of each channel, alone, that cells' sets allow."""
    channels = question.circuit.channels
    least, most = [0] * channels, [0] * channels
    for cell, members in enumerate(state):
        values = [v for v in range(members.bit_length()) if members >> v & 1]
        for channel in range(channels):
            bits = {v >> channel & 1 for v in values}
            least[channel] |= (bits == {1}) << cell
            most[channel] |= (1 in bits) << cell
    return Sets(tuple(least), tuple(most))


def descend(question: Question, first: Sets, deadline: Deadline = NEVER) -> Iterator[CellSets]:
    """Yield the cells' sets from `first` on, step by step, until they stay as they are.

    `first` has to be sets that a step leads into themselves. Raises TooLargeError, and
    TimeoutError if the deadline passes.
    """
    network = JointNetwork(question.circuit)
    state = from_sets(question, first)
    while True:
        yield state
        if deadline.passed:
            raise TimeoutError
        after = network.step(question, state)
        if after == state:
            return
        state = after
