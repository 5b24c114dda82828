"""The methods of what `load` returns are the library's functions."""

import inspect

import pytest

import difflogic
from difflogic.library.loaded_circuit import VERBS
from tests.difflogic.circuit.circuits import automaton, circuit_of

MADE = difflogic.load(automaton(circuit_of([], [0])))


@pytest.mark.parametrize("name", VERBS)
def test_a_method_is_a_function_of_what_is_loaded(name):
    function = getattr(difflogic, name)
    assert next(iter(inspect.signature(function).parameters)) in ("source", "sources")
    assert (getattr(MADE, name).func, getattr(MADE, name).args) == (function, (MADE,))


def test_a_loaded_circuit_is_one(tmp_path):
    small = MADE.simplify()
    assert small.proof.equal
    small.save(tmp_path / "small.json")
    again = difflogic.load(tmp_path / "small.json")
    assert MADE.prove(again).equal
    assert difflogic.load(again).automaton is again.automaton
    assert repr(again).startswith("LoadedCircuit(")
    assert {"simplify", "trained"} < {*dir(again)}
    with pytest.raises(AttributeError, match="no attribute 'simplfy'"):
        again.simplfy()
