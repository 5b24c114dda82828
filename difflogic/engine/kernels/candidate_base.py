"""The base, the circuit that a search's candidates differ from: its gates and all its values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.engine.kernels.hard import find_sources, spread
from difflogic.engine.kernels.structures import HardCells, HardScript
from difflogic.system.jit import borrowing_kernel, by_reference, part

ABSENT = -1
"""Stands for a missing row, parameter or place."""

NOWHERE = 0
"""The slot of rows whose values are not kept. It exists, because ignored inputs are read too."""


@by_reference
class ReaderNetlist(NamedTuple):
    """A netlist by rows, the inputs first, with the readers of each row. It never changes."""

    a: np.ndarray  # int32 (rows,): rows that a gate is wired to; inputs: 0
    b: np.ndarray  # int32 (rows,)
    param: np.ndarray  # int32 (rows,): the parameter that gives a gate's op; inputs: ABSENT
    outputs: np.ndarray  # int32 (channels,): rows of the next state
    inputs: int
    rows: np.ndarray  # int32 (rows,): each row itself
    wire_start: np.ndarray  # int32 (rows + 1,): where each row's readers begin in `wires`
    wires: np.ndarray  # int32: twice the reader's row, plus one for its second input
    use_start: np.ndarray  # int32 (parameters + 1,): where each parameter's gates begin
    uses: np.ndarray  # int32: rows of gates


@by_reference
class Base(NamedTuple):
    """The circuit that candidates differ from. It takes over the changes that are kept.

    The *source* of a pass-through gate is the row whose value it passes on, through any chain of
    pass-throughs. Other rows are their own source. Only sources keep values.
    """

    op: np.ndarray  # uint8 (rows,): inputs: 0
    source: np.ndarray  # int32 (rows,)
    live: np.ndarray  # bool (rows,): all rows that counted channels depend on, perhaps more
    channels: np.ndarray  # bool (channels,): likewise
    slot: np.ndarray  # int32 (rows,): where a live source's values are kept, or NOWHERE
    free: np.ndarray  # int32 (slots,): unused slots, the first room[0] of them
    room: np.ndarray  # int64 (1,)


@by_reference
class RolloutValues(NamedTuple):
    """All values of the base over a rollout, as packed words."""

    values: np.ndarray  # uint64 (steps * slots, words)
    states: np.ndarray  # uint64 ((steps + 1) * channels, pad + words + pad): of live channels


@by_reference
class Rolled(NamedTuple):
    """A base with its rollout, and what that follows from."""

    wiring: ReaderNetlist
    base: Base
    cells: HardCells
    script: HardScript
    history: RolloutValues


@part
def passes(op, second):
    """Return whether an op passes on its second input, or else its first."""
    return op == (5 if second else 3)


@borrowing_kernel
def set_ops(wiring, base, ops, counted, marks):
    """Make `base` the circuit with `ops` (parameters,); return how many rows have values to keep.

    No row has a slot yet.
    """
    for row in range(len(base.op)):
        base.op[row] = ops[wiring.param[row]] if row >= wiring.inputs else 0
        base.slot[row] = NOWHERE
    find_sources(wiring, base.op, base.source)
    return tidy(wiring, base, counted, marks)


@borrowing_kernel
def find_slots(base):
    """Give a slot to each row whose values are kept; there must be enough slots."""
    base.room[0] = 0
    for slot in range(len(base.free) - 1, NOWHERE, -1):
        base.free[base.room[0]] = slot
        base.room[0] += 1
    for row in range(len(base.op)):
        if base.live[row] and base.source[row] == row:
            base.room[0] -= 1
            base.slot[row] = base.free[base.room[0]]


@borrowing_kernel
def tidy(wiring, base, counted, marks):
    """Drop rows and channels that the counted channels no longer depend on.

    Returns how many rows have values to keep. `marks` are scratch.
    """
    spread(wiring, wiring.rows, base.op, counted, counted[:0], marks)
    kept = 0
    for row in range(len(base.op)):
        base.live[row] = marks.live[row]
        if not base.live[row]:
            release(base, row)
        kept += base.live[row] and base.source[row] == row
    for c in range(len(base.channels)):
        base.channels[c] = marks.channels[c]
    return kept


@part
def release(base, row):
    """Free a row's slot."""
    if base.slot[row] != NOWHERE:
        base.free[base.room[0]] = base.slot[row]
        base.room[0] += 1
        base.slot[row] = NOWHERE


@part
def list_sources(base, order):
    """Write the rows whose values the base keeps to `order`, ascending; return their number."""
    size = 0
    for row in range(len(base.op)):
        if base.live[row] and base.source[row] == row:
            order[size] = row
            size += 1
    return size
