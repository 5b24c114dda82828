"""What untrained automata carry where: their circuits are run, and followed by hand."""

from dataclasses import replace

import numpy as np
import pytest

from difflogic.circuit.forms import first_logits
from difflogic.circuit.gates import Op, harden
from difflogic.circuit.grid import NEIGHBORHOOD, NEIGHBORS
from difflogic.circuit.netlist import Architecture, flatten, wire
from difflogic.config import load_config
from difflogic.system.errors import ConfigError

PLAIN = ["perception.directions=same", "update.carry=0"]
"""Settings by which nothing is done about where signals go."""

LIZARD = load_config("lizard", PLAIN).architecture
SMALL = Architecture(12, 4, (8, 4, 2, 1), (48, 24, 12), distinct_wiring=True)

ALL_NEIGHBORHOODS = (np.arange(2**NEIGHBORHOOD) >> np.arange(NEIGHBORHOOD)[:, None]) & 1


def seen_by(circuit, kernel, output=0):
    """The neighbours that an untrained kernel's output depends on."""
    found = {output}
    end = circuit.architecture.kernel_gates
    ops = circuit.first_ops[kernel * end :][:end]
    for layer in reversed(circuit.kernel(kernel)):
        end -= layer.gates
        reads = [(layer.a[gate], ops[end + gate], layer.b[gate]) for gate in found]
        found = {a for a, _, _ in reads} | {b for _, op, b in reads if op != Op.A}
    return {NEIGHBORS[cell] for cell in found}


def test_four_kernels_see_all_around():
    circuit = wire(replace(SMALL, all_directions=True), np.random.default_rng(1))
    seen = [seen_by(circuit, kernel) for kernel in range(4)]
    assert seen == [{"NW"}, {"NE"}, {"SE"}, {"SW", "S"}]


@pytest.mark.parametrize(
    ("kernels", "gates", "seen"),
    [
        (2, (8, 4, 2), [["NW", "NE"], ["SE", "S SW"]]),
        (3, (8, 4, 2), [["NW", "NE"], ["SE", "SW"], ["S", "N"]]),
        (9, (8, 4, 2, 1), [["NW"], ["NE"], ["SE"], ["SW"], ["S"], ["N"], ["W"], ["E"], ["NW"]]),
        (1, (8, 4, 2, 1), [["NW S"]]),
        # Its gates compare a neighbour with the centre: none can see two neighbours.
        (1, (8,), [["NW", "NE", "SE", "SW", "S", "N", "W", "E"]]),
    ],
)
def test_other_kernels_see_the_first_of_these(kernels, gates, seen):
    architecture = Architecture(
        2,
        kernels,
        gates,
        (32, 16, 8, 4, 2),
        update_wiring="random",
        distinct_wiring=True,
        all_directions=True,
    )
    circuit = wire(architecture, np.random.default_rng(3))
    for kernel, expected in enumerate(seen):
        found = [seen_by(circuit, kernel, output) for output in range(len(expected))]
        assert found == [set(each.split()) for each in expected]


def follow(netlist, ops, row):
    """The input row that a row passes on, all gates being A."""
    while row >= netlist.inputs:
        gate = row - netlist.inputs
        assert ops[netlist.param[gate]] == Op.A
        row = netlist.a[gate]
    return row


def test_signals_go_through_all_channels_in_turn_and_keep_their_way():
    for run, least, most in ((1.0, 0.1, 0.35), (4.0, 0.7, 0.9), (1e6, 1.0, 1.0)):
        architecture = replace(LIZARD, distinct_wiring=True, carry=run)
        circuit = wire(architecture, np.random.default_rng(7))
        netlist, ops = flatten(circuit), circuit.first_ops
        read = np.array([follow(netlist, ops, row) for row in netlist.outputs])
        neighbor, channel = np.divmod(read, 128)
        order, present = [], 0
        while len(order) < 128:
            order.append(present)
            present = int(channel[present])
        assert sorted(order) == list(range(128))
        ways = neighbor[order]
        same = np.mean(ways[1:] == ways[:-1])
        assert least <= same <= most
        assert NEIGHBORHOOD >= len(set(ways.tolist())) >= 1


def test_an_output_that_sees_two_begins_as_their_xor():
    circuit = wire(replace(SMALL, all_directions=True), np.random.default_rng(0))
    ops = circuit.first_ops
    last = 4 * circuit.architecture.kernel_gates - 1
    assert ops[last] == Op.XOR
    assert set(np.delete(ops, last)) == {Op.A}
    logits = first_logits("ops", 10.0, 0.0, ops, np.random.default_rng(0))
    np.testing.assert_array_equal(harden(logits), ops)


@pytest.mark.parametrize("wiring", ["unique", "random"])
def test_no_kernel_begins_as_a_constant(wiring):
    """Where gates share inputs, both of the last one's may come from the same neighbour."""
    deep = Architecture(
        1,
        4,
        (8, 8, 4, 2, 1),
        (4, 2, 1),
        perception_wiring=wiring,
        update_wiring="random",
        distinct_wiring=True,
        all_directions=True,
    )
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


def test_a_signal_that_goes_less_than_a_step_is_refused():
    with pytest.raises(ConfigError, match=r"\[update\] carry: must be 0, or at least 1"):
        load_config("lizard", ["update.carry=0.5"])
