"""What these kernels are called with: a graph of planes, and the buffers of a search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

VIRTUAL = 16
"""Gates that do not exist, drawn anew for each move: with them a move may add two gates."""
SIDE = 3
"""Cells of a neighbourhood in each direction: no next state depends on more."""


class Graph(NamedTuple):
    """Planes, and which of them are next states; `size[0]` counts its nodes."""

    op: np.ndarray  # uint8 (nodes,)
    reads: np.ndarray  # int32 (nodes, 6): a node, rows down, columns right; and another
    box: np.ndarray  # int32 (nodes, 2): rows and columns that a node reads of the channels
    outputs: np.ndarray  # int32 (outputs, 3): literal, rows down, columns right of the cell
    size: np.ndarray  # int64 (1,)
    inputs: int


class Work(NamedTuple):
    """Buffers of a search."""

    values: np.ndarray  # uint64 (nodes + VIRTUAL, rows)
    wanted: np.ndarray  # uint64 (outputs, rows): what the outputs are to be
    literal: np.ndarray  # int32 (nodes, 3): what a node has become, and where
    stack: np.ndarray  # int32 (nodes,)
    slots: np.ndarray  # int32 (power of two,): gates by the hash of what they read
    after: np.ndarray  # bool (nodes,): whether a node depends on the target
    instance: np.ndarray  # bool (nodes, 9): at which places of a neighbourhood a node is read
    flagged: np.ndarray  # bool (nodes, 9): whether an instance depends on the target's
    flipped: np.ndarray  # uint64 (nodes, 9, rows): its values if that were inverted
    divisors: np.ndarray  # int32 (most, 3): nodes and offsets that a target may read
    seen: np.ndarray  # uint64 (most, rows): their values there
    care: np.ndarray  # uint64 (3, rows): where the target matters, there 1, there 0
    random: np.ndarray  # uint64 (1,)
