"""The shader's tables and constants, and a GPU's limits. No GPU is needed."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.circuit.netlist import Architecture, flatten, wire
from difflogic.engine import oracle
from difflogic.engine.layout import Grid
from difflogic.gpu.adapter import Adapter
from difflogic.gpu.tables import LANES, constants, shape_of, source, tables
from difflogic.system.errors import ConfigError


def random_netlist(seed):
    rng = np.random.default_rng(seed)
    return flatten(wire(Architecture(2, 2, (8, 4, 2), (8, 4, 2)), rng))


@given(st.integers(0, 99), st.integers(1, 6), st.integers(1, 6), st.integers(1, 3))
@settings(max_examples=15, deadline=None)
def test_tables_walked_in_numpy_agree_with_the_oracle(seed, height, width, batch):
    """One step of the automaton: values level by level, then gradients pulled from readers."""
    netlist, grid = random_netlist(seed), Grid(height, width, "zero")
    shape = shape_of(netlist, grid, 1, batch, 1, 16)
    table, at = tables(netlist, shape), constants(shape, 1)
    rng = np.random.default_rng(seed)
    soft = rng.random((netlist.parameters, 4))
    starts = rng.integers(0, 2, (batch, 2, height, width))
    slope = rng.random((batch, 2, height, width))

    def lanes(samples):
        flat = np.zeros((2, shape.lanes))
        flat[:, : batch * grid.cells] = samples.transpose(1, 0, 2, 3).reshape(2, -1)
        return flat

    seen = table[at["NEIGHBOR"] :].reshape(9, -1)
    outside = seen == np.uint32(0xFFFFFFFF)
    cells = lanes(starts)[:, np.where(outside, 0, seen)] * ~outside
    values, back = np.zeros((2, netlist.rows, shape.lanes))
    values[: netlist.inputs] = cells.transpose(1, 0, 2).reshape(netlist.inputs, -1)
    deepest = table[at["LEVEL"], 0]
    spans = table[at["LEVEL"] + 1 :][:deepest, :2]
    for first, end in spans:
        for row, a, b, param in table[at["GATE"] + first : at["GATE"] + end]:
            inputs = np.stack([np.ones(shape.lanes), values[a], values[b], values[a] * values[b]])
            values[row] = soft[param] @ inputs
    outputs = table[at["OUTPUT"] :][:2, 0]

    def pull(place):
        row, first, end, _ = table[at["PULL"] + place]
        for reader, other, param, kind in table[at["READER"] + first : at["READER"] + end]:
            if kind == 2:
                back[row] += lanes(slope)[reader]
            else:
                back[row] += back[reader] * (soft[param, 1 + kind] + soft[param, 3] * values[other])

    for first, end in spans[::-1]:
        for place in range(first, end):
            pull(place)
    total = np.zeros((netlist.parameters, 4))
    for param, (first, end) in enumerate(table[at["COPIES"] :][: netlist.parameters, :2]):
        for place in table[at["COPY"] + first : at["COPY"] + end, 0]:
            row, a, b, _ = table[at["GATE"] + place]
            g = back[row]
            total[param] += [
                x.sum() for x in (g, g * values[a], g * values[b], g * values[a] * values[b])
            ]
    expected = np.zeros_like(total)
    for sample in range(batch):
        states = oracle.rollout(netlist, soft, starts[sample], 1, "zero")
        own = values[outputs, sample * grid.cells : (sample + 1) * grid.cells]
        np.testing.assert_allclose(own.reshape(2, height, width), states[1], rtol=1e-12)
        expected += oracle.coefficient_gradients(netlist, soft, states, slope[sample], "zero")
    np.testing.assert_allclose(total, expected, rtol=1e-9, atol=1e-12)


def shape_with(cells):
    return shape_of(random_netlist(0), Grid(1, cells, "zero"), 1, 1, 1, 16)


def adapter_with(most):
    limits = {"max-storage-buffer-binding-size": most, "max-buffer-size": 2 * most}
    return Adapter("a small GPU", "DiscreteGPU", limits, None)


def test_runs_that_do_not_fit_are_refused_and_the_message_says_what_would_fit():
    shape = shape_with(40 * LANES)
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
    assert found is not None
    small.require(shape_with(int(found[1])), 1)


def test_every_constant_of_the_shader_is_given_and_every_device_has_its_bindings():
    """Every device has eight storage bindings and 16 KiB of workgroup memory."""
    names = constants(shape_with(4), 1)
    text = source()
    words = {word.strip("(),;:{}[]<>") for word in text.split()}
    unknown = {
        word
        for word in words
        if word.isupper() and word.isidentifier() and f"const {word}" not in text
    }
    assert {word for word in unknown if len(word) > 2} <= {*names, "DECIDED"}
    assert text.count("var<storage") == 8
    assert 4 * names["THREADS"] <= 16384
