"""What the kernels of hard circuits are called with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.system.jit import by_reference

WORDS = 8
"""Words of 64 cells that a hard tile holds: one vector per row."""

HARD_FIELDS = 3
"""Columns of a hard gate: rows of its two inputs, and its op. It writes the row of its number."""


FORCED, SPECIAL = 16, 32
"""Added to the op of a gate that `hard_follow` always evaluates, or compares with nothing."""


@by_reference
class Wires(NamedTuple):
    """A netlist, as far as the kernels need it."""

    a: np.ndarray  # int32 (gates,): rows that they read
    b: np.ndarray  # int32 (gates,)
    param: np.ndarray  # int32 (gates,): whose op they have
    outputs: np.ndarray  # int32 (channels,): rows of the next state
    inputs: int


@by_reference
class Space(NamedTuple):
    """Room to work in, by rows of a netlist. Kernels allocate nothing: that takes seconds to
    compile, for the messages of errors that cannot happen.
    """

    source: np.ndarray  # int64 (rows,)
    number: np.ndarray  # int64 (rows,)
    needed: np.ndarray  # bool (rows,)


@by_reference
class HardCode(NamedTuple):
    """A hardened circuit without what does not matter. Rows: all inputs, then `gates`."""

    gates: np.ndarray  # int32 (gates, HARD_FIELDS)
    inputs: np.ndarray  # int32 (inputs, 3): rows that are read, their neighbours and channels
    channels: np.ndarray  # int32: channels that are computed
    outputs: np.ndarray  # int32: their next state's rows


@by_reference
class HardCells(NamedTuple):
    """How bit-packed cells find their neighbours.

    Bit i of word `pad` + w is cell 64·w + i of the batch. Neighbour n is the state from word
    `skip` on, shifted right by `shift` bits, under `masks`, joined over start[n : n + 2] (several
    where a boundary wraps).
    """

    pad: int
    cells: int  # of one sample
    start: np.ndarray  # int64 (10,)
    skip: np.ndarray  # int64 (shifts,)
    shift: np.ndarray  # uint64 (shifts,): below 64
    masks: np.ndarray  # uint64 (shifts, words)


@by_reference
class HardScript(NamedTuple):
    """What happens to a batch of bit-packed samples during a rollout, and what is counted.

    Each of the first two is empty, or has one row of words for all steps, or one per step.
    """

    fires: np.ndarray  # uint64 (… , words): bits of cells that take their new state
    keeps: np.ndarray  # uint64 (… , words): bits of cells that are not zeroed after the step
    at: np.ndarray  # int64 (counts,): steps after which wrong bits are counted, ascending, from 1
    channels: np.ndarray  # int32 (loss channels,)
    targets: np.ndarray  # uint64 (1 or counts, loss channels, words)
    counted: np.ndarray  # uint64 (1 or counts, words): bits of cells that count
    every: np.ndarray  # uint64 (WORDS,): all ones, where nothing else is given
