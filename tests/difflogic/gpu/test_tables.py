"""The shader's tables and constants, and a GPU's limits. No GPU is needed."""

import re

import numpy as np
import pytest

from difflogic.circuit.grid import Grid
from difflogic.circuit.netlist import Architecture, flatten, wire
from difflogic.gpu.adapter import Adapter
from difflogic.gpu.tables import TILE_CELLS, shape_of
from difflogic.system.errors import ConfigError


def random_netlist(seed):
    rng = np.random.default_rng(seed)
    return flatten(wire(Architecture(2, 2, (8, 4, 2), (8, 4, 2)), rng))


def shape_with(cells):
    return shape_of(random_netlist(0), Grid(1, cells, "zero"), 1, 1, 1, 16)


def adapter_with(most):
    limits = {"max-storage-buffer-binding-size": most, "max-buffer-size": 2 * most}
    return Adapter("a small GPU", limits, None)


def test_runs_that_do_not_fit_are_refused_and_the_message_says_what_would_fit():
    shape = shape_with(40 * TILE_CELLS)
    largest = max(shape.bytes.values())
    adapter = adapter_with(3 * largest + 64)
    adapter.require(shape, 3)
    assert adapter.most_runs(shape) == 3
    with pytest.raises(ConfigError, match=r"4 runs side by side.*: train at most 3 at a time"):
        adapter.require(shape, 4)
    small = adapter_with(largest // 2)
    with pytest.raises(ConfigError, match="at most") as told:
        small.require(shape, 1)
    found = re.search(r"at most (\d+) cells", str(told.value))
    small.require(shape_with(int(found[1])), 1)
