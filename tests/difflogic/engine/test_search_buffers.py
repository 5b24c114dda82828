"""What a plan counts for a search is what is allocated for it."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.engine.hard_gradients import HardGradients
from difflogic.engine.layout import Grid
from difflogic.engine.search_buffers import SearchBuffers
from difflogic.netlist import Architecture, flatten, wire

NETLIST = flatten(
    wire(
        Architecture(channels=3, kernels=2, perception=(8, 4, 2), update=(16, 16, 8, 6, 3)),
        np.random.default_rng(0),
    )
)


def bytes_of(thing, seen=None):
    """Every array that an object holds, once."""
    seen = set() if seen is None else seen
    if isinstance(thing, np.ndarray):
        while isinstance(thing.base, np.ndarray):
            thing = thing.base
        if id(thing) in seen:
            return 0
        seen.add(id(thing))
        return thing.nbytes
    if isinstance(thing, (tuple, list)):
        return sum(bytes_of(each, seen) for each in thing)
    if type(thing).__module__.startswith("difflogic."):
        return bytes_of(list(vars(thing).values()), seen)
    return 0


def netlist_bytes():
    return bytes_of(NETLIST)


@given(
    st.integers(1, 40), st.integers(1, 40), st.sampled_from(["zero", "periodic"]),
    st.integers(1, 9), st.integers(1, 5),
)  # fmt: skip
@settings(max_examples=40)
def test_gradients(height, width, boundary, steps, samples):
    grid = Grid(height, width, boundary)
    hard = HardGradients(NETLIST, grid, steps, samples)
    allocated = bytes_of(hard) - netlist_bytes()
    planned = SearchBuffers(NETLIST, grid, steps, samples).bytes
    # Small grids have fewer ways to their neighbours than most.
    slack = 2000 + 25 * 8 * (2 + -(-grid.cells * samples // 512) * 8)
    assert 0 <= planned - allocated < slack
