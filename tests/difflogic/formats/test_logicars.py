"""logicars' files mean for us what they mean for it."""

import copy
import dataclasses
import json

import numpy as np
import pytest

from difflogic.config import load_config
from difflogic.formats import logicars, strict_json
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.system.errors import CircuitError
from tests.difflogic.formats import naive_logicars
from tests.difflogic.formats.made import words

ONE = ["automaton.channels=1", "perception.kernels=3", "update.gates=[6, 3, 2, 1]"]
SOME = ["automaton.channels=3", "perception.kernels=2", "update.gates=[9, 6, 3]"]
DISTINCT = [*SOME, "perception.directions=random"]
DEEP = [
    *SOME,
    "perception.gates=[8, 5, 3, 2]",
    "perception.wiring='random'",
    "perception.directions=same",
]


def model(overrides, seed=1):
    made = Model.create(load_config("checkerboard-small", [*overrides, "task.loss_channels=[0]"]))
    logits = np.random.default_rng(seed).normal(size=made.logits.shape).astype(np.float32)
    return dataclasses.replace(made, logits=logits)


def decoded(data):
    return strict_json.decode(json.dumps(data).encode(), "x.json", logicars.shrink)


def parse(data):
    return logicars.parse(decoded(data), "x.json")


GOOD = naive_logicars.from_model(model(SOME))


@pytest.mark.parametrize("overrides", [ONE, SOME, DISTINCT, DEEP])
def test_a_model_as_a_file_of_logicars_is_read_back(overrides):
    made = model(overrides)
    data = naive_logicars.from_model(made)
    circuit = parse(data)
    inputs = words(circuit.inputs, np.random.default_rng(2))
    np.testing.assert_array_equal(
        circuit.next_state(inputs), from_model(made).circuit.next_state(inputs)
    )
    # The same gates in another order.
    assert circuit.op_counts() == from_model(made).circuit.op_counts()
    assert circuit.labels == tuple(range(circuit.channels))
    bits = np.random.default_rng(3).integers(0, 2, (circuit.inputs, 40))
    for column in bits.T:
        expected = naive_logicars.execute(data, column.tolist())
        assert circuit.next_state(column.astype(bool)).tolist() == expected


def damage(path, value):
    """A good file with another value at a path, or none."""
    data = copy.deepcopy(GOOD)
    *way, key = path
    at = data
    for step in way:
        at = at[step]
    if value is None:
        del at[key]
    else:
        at[key] = value
    return data


KERNEL = ("perception", "kernels", 1)
GATE = (*KERNEL, "layers", 2, "gates", 1)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("channels",), 4, "perception, channels: must be 4, as the circuit says, not 3"),
        (("perception",), [], "perception: must be a dictionary, not an empty list"),
        ((*KERNEL, "input_size"), 27, "input_size: must be 9, the cells that it sees, not 27"),
        ((*KERNEL, "layers", 0), {}, "kernels, 1, layers, 0, gates: is missing"),
        ((*KERNEL, "layers", 2), None, "kernels, 1: has 4 outputs, and kernel 0 has 2: all"),
        ((*GATE, "op"), 16, "gates, 1, op: must be less than 16, not 16"),
        ((*GATE, "wire_a"), 4, "layers, 2, gates, 1, wire_a: is 4, and the layer has inputs 0 to"),
        (("update", "input_size"), 14, "input_size: must be 15, 3 of the centre, and 2 from 2"),
        (("update", "output_size"), 4, "output_size: must be 3, one for each channel, not 4"),
        (("update", "layers", 2), None, "the last layer has 6 gates: it needs 3, one for each"),
    ],
)
def test_damaged_files_are_refused(path, value, says):
    with pytest.raises(CircuitError) as caught:
        parse(damage(path, value))
    assert str(caught.value).startswith("x.json: ")
    assert says in str(caught.value)


def test_unknown_keys_are_ignored_as_by_serde():
    data = damage(("perception", "more"), 1)
    data["perception"]["kernels"][0]["layers"][0]["gates"][0]["more"] = "x"
    assert parse(data).gates == parse(GOOD).gates


def test_too_many_gates_to_read_are_refused(monkeypatch):
    gates = parse(GOOD).gates
    monkeypatch.setattr(logicars, "MAX_GATES", gates - 1)
    with pytest.raises(CircuitError, match=f"{gates} gates per cell are more than the"):
        parse(GOOD)
