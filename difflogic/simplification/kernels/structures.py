"""What the kernels of the search are called with: a circuit, and the buffers of a search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.system.jit import by_reference

ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
NONE = np.uint64(0)

VIRTUAL = 24
"""Gates that do not exist, drawn for each move: with them a move may add two gates."""


@by_reference
class Net(NamedTuple):
    """A circuit; `size[0]` counts its nodes. Before `sweep` and `anneal` there must be room for
    VIRTUAL more.
    """

    op: np.ndarray  # uint8 (nodes,)
    a: np.ndarray  # int32 (nodes,)
    b: np.ndarray  # int32 (nodes,)
    outputs: np.ndarray  # int32 (outputs,), literals
    size: np.ndarray  # int64 (1,)
    inputs: int


@by_reference
class Work(NamedTuple):
    """Buffers of a search."""

    table: np.ndarray  # uint64 (nodes + VIRTUAL, words)
    flipped: np.ndarray  # uint64 (nodes, words): the tables if the target were inverted
    care: np.ndarray  # uint64 (3, words): where the target matters, there 1, there 0
    after: np.ndarray  # bool (nodes,): whether it depends on the target
    divisors: np.ndarray  # int32 (nodes + VIRTUAL,)
    literal: np.ndarray  # int32 (nodes,): what a node has become, or whether it is read
    stack: np.ndarray  # int32 (nodes,)
    level: np.ndarray  # int32 (nodes,)
    slots: np.ndarray  # int32 (power of two,): gates by the hash of what they read
    random: np.ndarray  # uint64 (1,)
