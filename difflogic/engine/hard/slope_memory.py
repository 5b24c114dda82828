"""Sizes of what searches compute with, which the plan of a run's memory follows from."""

from __future__ import annotations

import numpy as np

from difflogic.circuit.netlist import Netlist
from difflogic.engine.kernels.structures import WORDS

CELLS = 64 * WORDS
"""Cells whose slopes a row holds: those of a tile."""

MOST_SLOPES = 2**27
"""Bytes for the slopes of all examined gates. Of more gates, a random selection is examined."""


def most_slopes(netlist: Netlist) -> int:
    """Return the most rows that have slopes at the same time, in any circuit of the netlist.

    In the backward pass, a row has a slope from its last reader until itself.
    """
    rows = netlist.rows
    gates = np.arange(netlist.inputs, rows)
    last = np.arange(rows)
    for wired in (netlist.a, netlist.b):
        np.maximum.at(last, wired, gates)
    last[netlist.outputs] = rows
    ended = np.bincount(last, minlength=rows + 1)[:rows]
    return int((1 + np.arange(rows) - np.cumsum(ended) + ended).max())
