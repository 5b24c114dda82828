"""Gates in layers. Each layer reads only the one before, so values are passed on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.circuit.gates import PASS_THROUGH
from difflogic.system.array_types import Ints


class Layer(NamedTuple):
    """One layer: ops, and the places in the layer before, or the inputs, that they read."""

    op: Ints
    a: Ints
    b: Ints


def levels_of(inputs: int, a: Ints, b: Ints) -> Ints:
    """Return the layer of each row: 0 for inputs, then of gates in topological order."""
    levels = [0] * inputs
    for pair in zip(a.tolist(), b.tolist(), strict=True):
        levels.append(1 + max(levels[row] for row in pair))
    return np.array(levels)


def staged(inputs: int, gates: Layer, outputs: Ints, depth: int) -> tuple[list[Layer], Ints]:
    """Return gates in `depth` layers, and the places of `outputs` in the last one.

    Rows are the inputs, then gates in topological order. `depth` is at least the highest level.
    """
    level = levels_of(inputs, gates.a, gates.b)
    rows = np.stack([np.concatenate([np.arange(inputs), wires]) for wires in gates])
    last = np.full(len(level), -1)
    for source in (gates.a, gates.b):
        np.maximum.at(last, source, level[inputs:] - 1)
    last[outputs] = depth
    place = np.arange(len(level))
    found = []
    for number in range(1, depth + 1):
        # Gates of this level, and values that later levels read.
        here = np.flatnonzero((level <= number) & (last >= number))
        is_new = level[here] == number
        wires = (place[np.where(is_new, rows[side, here], here)] for side in (1, 2))
        found.append(Layer(np.where(is_new, rows[0, here], PASS_THROUGH), *wires))
        place[here] = np.arange(len(here))
    return found, place[outputs]
