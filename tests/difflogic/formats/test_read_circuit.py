"""dct's circuit file: reading back what was written, and messages for damaged files."""

import copy
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from difflogic.formats import circuit_file, strict_json
from difflogic.formats.circuit_file import CircuitFile, write_circuit
from difflogic.system.errors import CircuitError
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.formats.made import assert_same, automata, random_circuit
from tests.examples import examples

GOOD = json.loads(write_circuit(automaton(random_circuit(2, 5, np.random.default_rng(3), (4, 1)))))

ENCODING = {"symbols": ["0", "1"], "background": 0, "features": [], "outputs": ["=0", "=1"]}


def decoded(text: str):
    return strict_json.decode(text.encode(), "x.json", circuit_file.shrink)


def problem(data) -> str:
    with pytest.raises(CircuitError) as caught:
        circuit_file.parse(decoded(json.dumps(data)), "x.json")
    message = str(caught.value)
    assert message.startswith("x.json: ")
    assert len(message) < 400
    return message.removeprefix("x.json: ")


@examples(30)
@given(automata())
def test_what_is_written_is_read_back(made):
    text = write_circuit(made)
    assert_same(circuit_file.parse(decoded(text), "x"), made)
    assert_same(circuit_file.parse(json.loads(text), "x"), made)


def test_colours_are_read_back():
    plain = circuit_file.parse(GOOD, "x")
    colors = tuple((16 * place, 255, place) for place in range(2 ** len(plain.visible)))
    text = write_circuit(replace(plain, palette=colors))
    assert circuit_file.parse(json.loads(text), "x").palette == colors
    assert "palette" not in GOOD


@pytest.mark.parametrize("data", [None, 3, "dct-circuit", [], [1], {}, {"format": "other"}])
def test_foreign_json(data):
    assert "is JSON, but not a circuit saved by dct" in problem(data)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"version": 2}, "has format version 2, but this program reads up to 1: install a newer"),
        ({"name": "../x"}, '"name" must be 1 to 64 letters'),
        ({"boundary": "periodc"}, '"boundary" cannot be "periodc": did you mean "periodic"?'),
        ({"start": "y" * 10**5}, "choose from random, center, zeros"),
        ({"steps": 10**4000}, "not a number of more than 20 digits"),
        ({"channels": []}, '"channels" must be a list of 1 to 65536 integers from 0'),
        ({"channels": [4, 4]}, "channel 4 occurs 2 times: each may occur once"),
        (
            {"visible": [9]},
            "visible channel 9 is not one of the circuit's 2 channels, whose numbers",
        ),
        ({"outputs": [20]}, "2 channels need 2 outputs, not 1"),
        ({"outputs": [20, 23]}, "output 1 is row 23, which does not exist: the circuit has rows 0"),
        ({"gates": None}, '"gates" must be a list, not null'),
        ({"palette": ["#ff0000", "red"]}, '"palette"[1] must be a colour such as #d63031'),
        ({"blocks": [-1, 5, 0, 0]}, '"blocks"[0] must be an integer from 0 to 2147483647, not -1'),
        ({"blocks": [5, 6, 5, 0]}, '"blocks"[2] must be an integer from 0 to 1, not 5'),
        ({"blocks": [5, 5, 0, 1]}, '"blocks": the channels 5 and 5 must be two'),
        ({"blocks": [5, 4, 0, 1]}, '"blocks": the channels 5 and 4 must be two'),
        ({"blocks": [5, 6, 0]}, '"blocks"[3] is missing: optional, of a rule by blocks'),
        *(({"before": wrong}, '"before"') for wrong in ([4], [1, 1], [1, 2], 1)),
        ({"blocks": "x"}, '"blocks" must be a list of 4 numbers, not "x"'),
        ({"encoding": {"x": 1}}, '"encoding"[symbols] is missing: optional'),
        ({"encoding": ENCODING}, '"visible" must be the channels of the outputs'),
        ({"encoding": ENCODING | {"background": 2}}, "names a symbol that is not among symbols"),
        ({"encoding": ENCODING | {"x": 1}}, '"encoding"[x] is no key: leave it out'),
        ({"encoding": ENCODING | {"features": ["in"]}}, '"encoding"[features][0] must be = and a'),
        ({"palette": ["#ff0000"] * 8}, "a palette of 8 colours:"),
        ({"heigth": 3}, 'there is no key "heigth" here: did you mean "height"?'),
    ],
)
def test_wrong_values_are_explained(changes, says):
    assert says in problem(GOOD | changes)


@pytest.mark.parametrize("key", sorted(GOOD.keys() - {"format"}))
def test_missing_keys(key):
    data = {name: value for name, value in GOOD.items() if name != key}
    assert problem(data).startswith(f'key "{key}" is missing: ')


@pytest.mark.parametrize(
    ("gate", "says"),
    [
        ({"op": "XNAND", "a": 0, "b": 1}, 'gate 2: "op" cannot be "XNAND": did you mean "NAND"?'),
        ({"op": "AND", "a": 0}, 'gate 2: key "b" is missing: row of the second input'),
        ({"op": "AND", "a": 0, "b": 1, "c": 2}, 'gate 2: there is no key "c" here: choose from op'),
        ({"op": "AND", "a": True, "b": 1}, '"a" must be an integer from 0 to 2147483647, not true'),
        ({"op": "AND", "a": 0, "b": 2**31}, 'gate 2: "b" must be an integer from 0 to 2147483647'),
        ([1, 2, 3], 'gate 2: needs "op", "a" and "b", but is a list of 3'),
        ({"op": "AND", "a": 20, "b": 1}, "gate 2 reads row 20, which is its own"),
        ({"op": "AND", "a": 0, "b": 21}, "gate 2 reads row 21, which is its own, a later"),
    ],
)
def test_wrong_gates_are_explained(gate, says):
    gates = GOOD["gates"]
    message = problem(GOOD | {"gates": [*gates[:2], gate, *gates[3:]]})
    assert says in message
    if "its own" in message:
        assert "it may read rows 0 to 19, the inputs and the gates before" in message


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 30)
    | st.floats(allow_nan=False)
    | st.text(max_size=3)
    | st.sampled_from([2**31, 10**30, "AND", "NAND", "zero", "center"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=4,
)
FITTING = st.sampled_from([18, 20, 22, [1], [4, 4], [18, 40]])
"""Rows and labels, which may be others than the file's."""


@examples(150)
@given(st.data())
def test_the_reader_agrees_with_the_schema_about_mutated_files(data):
    """The schema's model judges every value, but not the meaning of rows and labels."""
    mutated = copy.deepcopy(GOOD)
    for _ in range(data.draw(st.integers(1, 2))):
        at = mutated
        if data.draw(st.booleans()):
            at = data.draw(st.sampled_from(mutated["gates"]))
        key = data.draw(st.sampled_from([*at, "more"]))
        if data.draw(st.integers(0, 3)):
            at[key] = data.draw(FITTING | JSON)
        else:
            at.pop(key, None)
        if at is mutated and not (
            isinstance(mutated.get("gates"), list)
            and mutated["gates"]
            and all(isinstance(gate, dict) for gate in mutated["gates"])
        ):
            break
    try:
        CircuitFile.model_validate(mutated)
    except ValidationError:
        problem(mutated)
        return
    try:
        read = circuit_file.parse(decoded(json.dumps(mutated)), "x")
    except CircuitError as error:
        message = str(error)
    else:
        assert json.loads(write_circuit(read)) == mutated
        return
    assert any(word in message for word in ("reads row", "output", "channel"))
