"""The methods of what `load` returns are the library's functions."""

import inspect

import pytest

import difflogic
from difflogic.library.loaded import VERBS
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
    assert repr(again).startswith("Loaded(")
    assert {"simplify", "trained"} < {*dir(again)}
    with pytest.raises(AttributeError, match="no attribute 'simplfy'"):
        again.simplfy()


def test_wrong_objects_are_refused_with_what_to_give(tmp_path):
    MADE.export(tmp_path / "x.json")
    for given in (tmp_path / "x.json", MADE, MADE.automaton):
        with pytest.raises(difflogic.DctError, match="is a circuit, not a trained model"):
            difflogic.check(given)
    for given, hint in (
        ("checkerbord", 'did you mean "checkerboard"'),
        (7, "give a name or a path"),
    ):
        with pytest.raises(difflogic.DctError, match=hint):
            difflogic.Trainer(given)
    with difflogic.Trainer("checkerboard-small") as trainer:
        assert trainer.config.name == "checkerboard-small"
        assert difflogic.check(trainer.result).step == 20
