"""Wirings: the pairs that they read, what is refused, and where untrained circuits send signals."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.circuit.gates import Op
from difflogic.circuit.grid import NEIGHBORHOOD, NEIGHBORS
from difflogic.circuit.netlist import Architecture, flatten, wire
from difflogic.circuit.wiring import FIRST_TOPOLOGIES, compare, unique
from difflogic.config import load_config
from difflogic.system.errors import ConfigError
from tests.examples import any_seed


@st.composite
def unique_sizes(draw):
    inputs = draw(st.integers(2, 40))
    return inputs, draw(st.integers((inputs + 1) // 2, inputs * (inputs - 1) // 2))


def pairs(wiring):
    return list(zip(wiring.a.tolist(), wiring.b.tolist(), strict=True))


def in_order_of_distance(inputs, gates):
    """The pairs that the experiments describe, not permuted."""
    found = [(i, i + 1) for i in range(0, inputs - 1, 2)]
    found += [(i, i + 1) for i in range(1, inputs - 1, 2)]
    for distance in range(2, inputs):
        found += [(i, i + distance) for i in range(inputs - distance)]
    return found[:gates]


SEEN = {
    "moore": "012345678",
    "von-neumann": "13457",
    "hexagonal": "0134578",
    "line": "345",
    "corner": "0134",
}
"""Cells of a 3×3 square, row by row. Hexagonal without NE and SW, as in Golly."""


@given(st.sampled_from(sorted(SEEN)), st.integers(1, 3), any_seed)
def test_neighbours_are_compared_with_the_centre(name, times, seed):
    around = [int(cell) for cell in SEEN[name] if cell != "4"]
    gates = times * len(around)
    wiring = compare(name, 9, gates, np.random.default_rng(seed))
    assert sorted(wiring.a) == sorted(around * times)
    assert wiring.b.tolist() == [4] * gates
    assert wiring.a.dtype == wiring.b.dtype == np.int32


@given(unique_sizes(), any_seed)
def test_unique_takes_the_nearest_pairs(sizes, seed):
    inputs, gates = sizes
    expected = in_order_of_distance(inputs, gates)
    if inputs - 1 not in {b for _, b in expected}:
        expected[-1] = (inputs - 2, inputs - 1)
    wiring = unique(inputs, gates, np.random.default_rng(seed))
    assert sorted(pairs(wiring)) == sorted(expected)


@pytest.mark.parametrize(
    ("topology", "inputs", "gates", "says"),
    [
        ("moore", 9, 7, "multiple of 8 gates, not 9 inputs and 7 gates"),
        ("hexagonal", 9, 8, "compares 6 neighbours with the centre"),
        ("moore", 8, 8, "not 8 inputs and 8 gates"),
        ("unique", 9, 4, "use at least 5 gates"),
        ("unique", 4, 7, "6 pairs of 4 inputs, too few for 7 gates"),
        ("unique", 1, 1, "0 pairs"),
        ("unique", 3, -1, "at least one gate"),
    ],
)
def test_impossible_wirings_are_refused(topology, inputs, gates, says):
    with pytest.raises(ConfigError, match=says):
        FIRST_TOPOLOGIES[topology](inputs, gates, np.random.default_rng(0))


# Untrained circuits

PLAIN = ["perception.directions=same", "update.carry=0"]
"""Settings without any arrangement of signals."""

LIZARD = load_config("lizard", PLAIN).architecture

ALL_NEIGHBORHOODS = (np.arange(2**NEIGHBORHOOD) >> np.arange(NEIGHBORHOOD)[:, None]) & 1


def seen_by(circuit, kernel, output=0):
    """The neighbours on which an untrained kernel's output depends."""
    found = {output}
    end = circuit.architecture.kernel_gates
    ops = circuit.first_ops[kernel * end :][:end]
    for layer in reversed(circuit.kernel(kernel)):
        end -= layer.gates
        reads = [(layer.a[gate], ops[end + gate], layer.b[gate]) for gate in found]
        found = {a for a, _, _ in reads} | {b for _, op, b in reads if op != Op.A}
    return {NEIGHBORS[cell] for cell in found}


@pytest.mark.parametrize(
    ("kernels", "gates", "seen"),
    [
        (3, (8, 4, 2), [["NW", "NE"], ["SE", "SW"], ["S", "N"]]),
        (9, (8, 4, 2, 1), [["NW"], ["NE"], ["SE"], ["SW"], ["S"], ["N"], ["W"], ["E"], ["NW"]]),
        (1, (8, 4, 2, 1), [["NW S"]]),
        (4, (8, 4, 2, 1), [["NW"], ["NE"], ["SE"], ["SW S"]]),
        # Its gates compare a neighbour with the centre: none can see two neighbours.
        (1, (8,), [["NW", "NE", "SE", "SW", "S", "N", "W", "E"]]),
    ],
)
def test_kernels_see_the_first_directions(kernels, gates, seen):
    changes = {"distinct_wiring": True, "all_directions": True}
    architecture = Architecture(5, kernels, gates, (32, 16, 8, 5), **changes)
    circuit = wire(architecture, np.random.default_rng(3))
    for kernel, expected in enumerate(seen):
        found = [seen_by(circuit, kernel, output) for output in range(len(expected))]
        assert found == [set(each.split()) for each in expected]


def follow(netlist, ops, row):
    """The input row that a row passes on if all gates are A."""
    while row >= netlist.inputs:
        gate = row - netlist.inputs
        assert ops[netlist.param[gate]] == Op.A
        row = netlist.a[gate]
    return row


def test_signals_pass_all_channels_and_keep_their_direction():
    for run, least, most in ((1.0, 0.1, 0.35), (4.0, 0.7, 0.9), (1e6, 1.0, 1.0)):
        architecture = replace(LIZARD, distinct_wiring=True, carry=run)
        circuit = wire(architecture, np.random.default_rng(7))
        netlist = flatten(circuit)
        ops = circuit.first_ops
        read = np.array([follow(netlist, ops, row) for row in netlist.outputs])
        neighbor, channel = np.divmod(read, 128)
        order = []
        present = 0
        while len(order) < 128:
            order.append(present)
            present = int(channel[present])
        assert sorted(order) == list(range(128))
        ways = neighbor[order]
        same = np.mean(ways[1:] == ways[:-1])
        assert least <= same <= most
        assert NEIGHBORHOOD >= len(set(ways.tolist())) >= 1


def test_no_kernel_begins_as_a_constant():
    """If gates share inputs, both inputs of the last gate may come from the same neighbour."""
    changes = {"distinct_wiring": True, "all_directions": True}
    deep = Architecture(1, 4, (8, 8, 4, 2, 1), (4, 2, 1), **changes)
    ones = alone = 0
    for seed in range(60):
        circuit = wire(deep, np.random.default_rng(seed))
        ops = circuit.first_ops
        for kernel in range(4):
            rows = ALL_NEIGHBORHOODS
            parameter = kernel * deep.kernel_gates
            for layer in circuit.kernel(kernel):
                own = ops[parameter : parameter + layer.gates]
                assert set(own) <= {Op.A, Op.XOR}
                b = np.where(own == Op.XOR, rows[layer.b].T, 0).T
                rows = rows[layer.a] ^ b
                parameter += layer.gates
            assert not rows.all(axis=1).any()
            assert rows.any(axis=1).all()
        seen = seen_by(circuit, 3)
        ones += len(seen) == 1
        alone += ops[parameter - 1] == Op.A
    assert ones == alone > 0
