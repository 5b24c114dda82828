import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from difflogic.circuit.gates import TRUTH_TABLES
from difflogic.circuit.hard_netlist import hard_circuit
from difflogic.circuit.netlist import Architecture, WiredLayers, flatten, rewire, wire
from difflogic.circuit.wiring import Wiring
from difflogic.config import load_config
from difflogic.model.model import Model
from difflogic.system.errors import ConfigError
from tests.examples import any_seed, examples

CHECKERBOARD = load_config("checkerboard", recipe="reference").architecture


@st.composite
def architectures(draw):
    channels = draw(st.integers(1, 4))
    kernels = draw(st.integers(1, 3))
    perception = [8, *draw(st.sampled_from([[], [4], [5, 3], [4, 2], [4, 2, 1], [12, 6]]))]
    inputs = channels * (1 + kernels * perception[-1])
    update = []
    while not update or draw(st.booleans()) or inputs > 2 * channels:
        inputs = draw(st.integers((inputs + 1) // 2, max(inputs, 2)))
        update.append(inputs)
    architecture = Architecture(
        channels,
        kernels,
        tuple(perception),
        (*update, channels),
        draw(st.sampled_from(["moore", "von-neumann", "unique"])),
        draw(st.booleans()),
    )
    try:
        wire(architecture, np.random.default_rng(0))
    except ConfigError:  # too few pairs in a layer
        assume(False)
    return architecture


def op_value(op, a, b):
    return int(TRUTH_TABLES[op, 2 * a + b])


def evaluate_layers(layers, ops, first, signal, values):
    """Pass bits through layers; append each gate's value to its parameter's list."""
    for layer in layers:
        signal = [
            op_value(ops[first + gate], signal[layer.a[gate]], signal[layer.b[gate]])
            for gate in range(layer.gates)
        ]
        for gate, bit in enumerate(signal):
            values.setdefault(first + gate, []).append(bit)
        first += layer.gates
    return signal


def evaluate(circuit, ops, patch):
    """Update one cell from `patch[neighbour][channel]`, layer by layer, as in the article.

    Returns the next state, and for each parameter the values of its gates, by channel.
    """
    architecture = circuit.architecture
    values = {}
    perceived = {}
    for kernel in range(architecture.kernels):
        for channel in range(architecture.channels):
            signal = [patch[neighbor][channel] for neighbor in range(9)]
            first = kernel * architecture.kernel_gates
            layers = circuit.perception[kernel if architecture.distinct_wiring else 0]
            bits = evaluate_layers(layers, ops, first, signal, values)
            for bit, value in enumerate(bits):
                perceived[channel, bit, kernel] = value
    signal = [patch[4][channel] for channel in range(architecture.channels)]
    signal += [perceived[place] for place in sorted(perceived)]
    first = architecture.kernels * architecture.kernel_gates
    return evaluate_layers(circuit.update, ops, first, signal, values), values


@pytest.mark.once
@examples(50)
@given(architectures(), any_seed)
def test_every_gate_has_the_value_of_the_layer_by_layer_circuit(architecture, seed):
    rng = np.random.default_rng(seed)
    circuit = wire(architecture, rng)
    netlist = flatten(circuit)
    assert netlist.parameters == architecture.parameters
    ops = rng.integers(0, 16, netlist.parameters)
    patch = rng.integers(0, 2, (9, architecture.channels))
    state, values = evaluate(circuit, ops, patch)

    rows = patch.ravel().tolist()
    found = {}
    for a, b, param in zip(netlist.a, netlist.b, netlist.param, strict=True):
        rows.append(op_value(ops[param], rows[a], rows[b]))  # fails unless in topological order
        found.setdefault(int(param), []).append(rows[-1])
    assert found == values
    assert [rows[row] for row in netlist.outputs] == state


DISTINCT = replace(CHECKERBOARD, distinct_wiring=True)


def test_a_held_channel_never_changes_and_the_others_do_as_before():
    held = flatten(wire(replace(CHECKERBOARD, held=(1, 6)), np.random.default_rng(1)))
    free = flatten(wire(CHECKERBOARD, np.random.default_rng(1)))
    ops = np.random.default_rng(2).integers(0, 16, held.parameters).astype(np.uint8)
    patch = np.random.default_rng(3).integers(0, 2**63, (9 * 8,), dtype=np.uint64)
    before, after = (hard_circuit(netlist, ops).next_state(patch) for netlist in (free, held))
    for channel in range(8):
        expected = patch[4 * 8 + channel] if channel in (1, 6) else before[channel]
        assert after[channel] == expected


def test_the_wiring_of_a_seed_never_changes():
    """A checksum from before kernels could differ: old runs stay repeatable to the bit."""
    config = load_config("checkerboard", ["training.seed=23"], recipe="reference")
    netlist = Model.create(config).netlist
    content = netlist.a.tobytes() + netlist.b.tobytes() + netlist.param.tobytes()
    assert zlib.crc32(content) == 2000573554


@pytest.mark.parametrize(("architecture", "wirings"), [(CHECKERBOARD, 16), (DISTINCT, 1)])
def test_a_wrong_number_of_kernels_is_refused(architecture, wirings):
    circuit = wire(architecture, np.random.default_rng(1))
    with pytest.raises(ConfigError, match=f"wirings of a kernel expected, {wirings} given"):
        WiredLayers(architecture, circuit.perception[:1] * wirings, circuit.update)


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        ((1, 1, (7,), (4, 1)), r"\[perception\] gates, layer 0: wiring moore"),
        ((1, 1, (8, 3), (2, 1)), r"\[perception\] gates, layer 1: .* at least 4"),
        ((1, 1, (8,), (5, 2, 1)), r"\[update\] gates, layer 1: .* at least 3"),
    ],
)
def test_impossible_layers_are_named(sizes, says):
    with pytest.raises(ConfigError, match=says):
        wire(Architecture(*sizes), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("wires", "says"),
    [
        ([], "1 layers expected, 0 wired"),
        ([[0, 1]], r"update layer 0: wires of shape \(2,\) and type int64: give whole numbers"),
        ([[[0.0, 1.0]]], r"type float64: give whole numbers of shape \(gates, 2\)"),
        ([[[0, 1], [2, 3]]], "2 and 2 wires on 9 inputs given"),
        ([[[0, 9]]], "a wire leads outside the 9 inputs"),
        ([np.array([[2**64 - 1, 0]], np.uint64)], "a wire leads outside the 9 inputs"),
    ],
)
def test_given_wires_that_do_not_fit_are_refused(wires, says):
    perception = wire(Architecture(1, 1, (8,), (5, 3, 2, 1)), np.random.default_rng(0)).perception
    drawn = WiredLayers(Architecture(1, 1, (8,), (1,)), perception, (wiring(9, [0], [1]),))
    with pytest.raises(ConfigError, match=says):
        rewire(drawn, update=wires)


def wiring(inputs, a, b):
    return Wiring(inputs, np.array(a, np.int32), np.array(b, np.int32))
