"""Circuits for digitaljs, checked by the rules of its README, and simulated by itself.

The simulation needs node and the npm package digitaljs, where node finds it: in a folder
node_modules here or above, or in one that NODE_PATH names.
"""

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from difflogic.circuit.circuit import LogicCircuit
from difflogic.circuit.gates import Op
from difflogic.formats.write_digitaljs import write_digitaljs
from tests.difflogic.formats.made import circuits, life, random_circuit
from tests.difflogic.logic.circuits import automaton

HERE = Path(__file__).parent

# What the README says of the devices that we use: input ports, output ports, and the function.
DEVICES = {
    "Button": ((), ("out",), None),
    "Constant": ((), ("out",), None),
    "Lamp": (("in",), (), None),
    "Repeater": (("in",), ("out",), lambda a: a),
    "Not": (("in",), ("out",), lambda a: ~a),
    "And": (("in1", "in2"), ("out",), lambda a, b: a & b),
    "Nand": (("in1", "in2"), ("out",), lambda a, b: ~(a & b)),
    "Or": (("in1", "in2"), ("out",), lambda a, b: a | b),
    "Nor": (("in1", "in2"), ("out",), lambda a, b: ~(a | b)),
    "Xor": (("in1", "in2"), ("out",), lambda a, b: a ^ b),
    "Xnor": (("in1", "in2"), ("out",), lambda a, b: ~(a ^ b)),
}


def simulate(text, inputs):
    """Return the lamps' values from the buttons', by the rules of the README."""
    data = json.loads(text)
    assert data.keys() == {"devices", "connectors", "subcircuits"}
    assert data["subcircuits"] == {}
    devices = data["devices"]
    drivers = {}
    for wire in data["connectors"]:
        assert wire.keys() == {"from", "to"}
        for end, ports in (("from", 1), ("to", 0)):
            assert wire[end].keys() == {"id", "port"}
            assert wire[end]["port"] in DEVICES[devices[wire[end]["id"]]["type"]][ports]
        target = (wire["to"]["id"], wire["to"]["port"])
        assert target not in drivers, "two connectors end in one port"
        drivers[target] = wire["from"]["id"]
    for name, device in devices.items():
        for port in DEVICES[device["type"]][0]:
            assert (name, port) in drivers, "a port is not connected"

    values = {}

    def value(name):
        if name not in values:
            device = devices[name]
            ports, _, function = DEVICES[device["type"]]
            if device["type"] == "Button":
                assert device["net"] == device["label"] == name
                values[name] = inputs[name]
            elif device["type"] == "Constant":
                ones = {"0": False, "1": True}[device["constant"]]
                values[name] = np.full_like(next(iter(inputs.values())), ones)
            else:
                values[name] = None  # a cycle would find this
                arguments = [value(drivers[name, port]) for port in ports]
                values[name] = function(*arguments) if function else arguments[0]
        return values[name]

    lamps = [name for name, device in devices.items() if device["type"] == "Lamp"]
    for kind in ("Button", "Lamp"):
        orders = [device["order"] for device in devices.values() if device["type"] == kind]
        assert orders == list(range(len(orders)))
    return {name: value(name) for name in lamps}


def named(circuit, bits):
    return {circuit.input_name(row): bits[row] for row in range(circuit.inputs)}


@settings(max_examples=80)
@given(circuits())
def test_any_circuit(circuit):
    bits = np.random.default_rng(0).random((circuit.inputs, 200)) < 0.5
    lamps = simulate(write_digitaljs(automaton(circuit)), named(circuit, bits))
    assert list(lamps) == [f"next{label}" for label in circuit.labels]
    np.testing.assert_array_equal(list(lamps.values()), circuit.next_state(bits))


def test_every_op():
    ops = np.arange(16)
    circuit = LogicCircuit(ops, ops * 0 + 3, ops * 0 + 77, 144 + ops, tuple(range(16)))
    bits = np.random.default_rng(0).random((144, 50)) < 0.5
    text = write_digitaljs(automaton(circuit))
    lamps = simulate(text, named(circuit, bits))
    np.testing.assert_array_equal(list(lamps.values()), circuit.next_state(bits))
    devices = json.loads(text)["devices"]
    assert [name for name, device in devices.items() if device["type"] == "Button"] == [
        "NW3",
        "C13",
    ]
    # One device a gate, and one inverter for each of the two inputs, that all share.
    assert len(devices) == 2 + 16 + 2 + 16


def test_devices_of_the_game_of_life():
    circuit = life()
    devices = json.loads(write_digitaljs(automaton(circuit)))["devices"]
    kinds = Counter(device["type"] for device in devices.values())
    counts = circuit.op_counts()
    assert kinds["Or"] == counts[Op.OR]
    assert kinds["And"] == counts[Op.AND] + counts[Op.A_AND_NOT_B]
    assert kinds["Not"] == counts[Op.A_AND_NOT_B]
    assert (kinds["Button"], kinds["Lamp"]) == (9, 1)


def run_node(circuit, vectors):
    """The lamps that digitaljs itself finds; skips the test if it is not installed."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    found = subprocess.run(
        [node, "-e", "require.resolve('digitaljs')"], cwd=HERE, capture_output=True, timeout=60
    )
    if found.returncode:
        pytest.skip("needs the npm package digitaljs where node finds it (NODE_PATH)")
    sent = {"circuit": json.loads(write_digitaljs(automaton(circuit))), "vectors": vectors}
    done = subprocess.run(
        [node, "run_digitaljs.cjs"],
        cwd=HERE,
        input=json.dumps(sent),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    lamps = json.loads(done.stdout)
    return np.array([[int(vector[f"next{c}"]) for vector in lamps] for c in circuit.labels])


def used(circuit):
    devices = json.loads(write_digitaljs(automaton(circuit)))["devices"]
    return {name for name, device in devices.items() if device["type"] == "Button"}


@pytest.mark.parametrize(
    ("circuit", "count"),
    [
        (life(), None),
        (random_circuit(4, 300, np.random.default_rng(3), (7, 1, 0, 20)), 80),
        (
            LogicCircuit(np.arange(16), [1] * 16, [7] * 16, np.arange(144, 160), tuple(range(16))),
            20,
        ),
    ],
    ids=["life", "random", "ops"],
)
def test_digitaljs_computes_the_same(circuit, count):
    """All neighbourhoods of one channel, else random ones."""
    if count is None:
        bits = np.arange(512) >> np.arange(9)[:, None] & 1
    else:
        bits = np.random.default_rng(1).integers(0, 2, (circuit.inputs, count))
    check(circuit, bits)


def check(circuit, bits):
    """Compare digitaljs with the oracle on `bits` (9·C, cases)."""
    keep = used(circuit)
    rows = {circuit.input_name(row): row for row in range(circuit.inputs)}
    vectors = [{key: int(column[rows[key]]) for key in keep} for column in bits.T]
    found = run_node(circuit, vectors)
    np.testing.assert_array_equal(found, circuit.next_state(bits.astype(bool)))


def test_a_wrong_gate_would_be_found():
    circuit = life()
    ops = circuit.op.copy()
    ops[-1] = Op.AND
    broken = LogicCircuit(ops, circuit.a, circuit.b, circuit.outputs, circuit.labels)
    bits = np.arange(512) >> np.arange(9)[:, None] & 1
    vectors = [{key: int(bit) for key, bit in named(circuit, column).items()} for column in bits.T]
    assert (run_node(broken, vectors) != circuit.next_state(bits.astype(bool))).any()
