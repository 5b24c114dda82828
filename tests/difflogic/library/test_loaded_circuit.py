"""The methods of what `load` returns are the library's functions."""

import inspect
from importlib import import_module

import pytest

import difflogic
from difflogic.library.loaded_circuit import LoadedCircuit
from tests.difflogic.circuit.circuits import automaton, circuit_of

MADE = difflogic.load(automaton(circuit_of([], [0])))
VERBS = [name for name, each in vars(LoadedCircuit).items() if inspect.isfunction(each)]


@pytest.mark.parametrize("name", VERBS)
def test_a_method_passes_on_what_it_is_given(name, monkeypatch):
    signature = inspect.signature(getattr(difflogic, name))
    first, *others = signature.parameters.values()
    assert first.name in ("source", "sources")

    def received(*given, **named):
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        return bound.arguments

    monkeypatch.setattr(import_module(difflogic._HOMES[name]), name, received)
    options = {"progress": print} if name != "apply" else {}
    given = [each.name for each in others if each.kind is each.POSITIONAL_OR_KEYWORD][:1]
    assert getattr(MADE, name)(*given, **options) == received(MADE, *given, **options)


def test_a_loaded_circuit_is_one(tmp_path):
    small = MADE.simplify()
    assert small.proof.equal
    small.save(tmp_path / "small.json")
    again = difflogic.load(tmp_path / "small.json")
    assert MADE.prove(again).equal
    assert difflogic.load(again).automaton is again.automaton
    assert repr(again).startswith("LoadedCircuit(")
