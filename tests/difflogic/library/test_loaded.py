"""A path leads to an automaton with the library's functions, or to an error that names the path."""

import inspect

import numpy as np
import pytest

import difflogic
from difflogic.config import load_config
from difflogic.formats.circuit_file import write_circuit
from difflogic.library import loaded
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.system.errors import DctError
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.formats.made import assert_same, random_circuit

MADE = automaton(random_circuit(2, 30, np.random.default_rng(0), (3, 1)))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A saved model, and its file."""
    small = ["automaton.channels=1", "perception.kernels=1", "update.gates=[2, 1]"]
    made = Model.create(load_config("checkerboard", small))
    path = tmp_path_factory.mktemp("run") / "model.npz"
    made.save(path)
    return made, path


def problem(path):
    with pytest.raises(DctError) as caught:
        loaded.load(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def test_models_runs_and_circuits_are_loaded(model, tmp_path):
    made, path = model
    assert_same(loaded.load(path).automaton, from_model(made))
    assert_same(loaded.load(path.parent).automaton, from_model(made))
    assert loaded.load(path).require_model().config == made.config
    (tmp_path / "any.name").write_text(write_circuit(MADE))
    assert_same(loaded.load(tmp_path / "any.name").automaton, MADE)


def test_loaded_objects_are_accepted(model):
    made, path = model
    found = loaded.load(path)
    assert loaded.load(found) is found
    assert loaded.load(made).model is made
    assert loaded.load(MADE).automaton is MADE
    assert [loaded.load(each).trained for each in (found, made, MADE)] == [True, True, False]


def test_a_file_of_another_kind(tmp_path):
    (tmp_path / "x").write_text('{"scripts": {}}')
    assert problem(tmp_path / "x").endswith("is JSON, but not a circuit saved by dct")


def test_missing_files_are_named(tmp_path):
    assert "holds no model.npz: name the directory of a run" in problem(tmp_path)
    (tmp_path / "none.png").touch()
    assert problem(tmp_path / "none.npz").endswith("cannot be read: no such file or directory")
    assert "cannot be read: file name too long" in problem(tmp_path / ("x" * 300 + ".npz"))
    assert "cannot be read: " in problem("a\0b.npz")


@pytest.mark.parametrize("name", loaded.VERBS)
def test_a_method_is_a_function_of_what_is_loaded(name):
    found = loaded.load(MADE)
    function = getattr(difflogic, name)
    assert next(iter(inspect.signature(function).parameters)) in ("source", "sources")
    assert (getattr(found, name).func, getattr(found, name).args) == (function, (found,))
    assert {name, "trained"} < {*dir(found)}
    with pytest.raises(AttributeError, match="no attribute 'simplfy'"):
        found.simplfy()


def test_wrong_objects_are_refused_with_what_to_give():
    with pytest.raises(DctError, match="is a circuit, not a trained model"):
        difflogic.check(MADE)
    with pytest.raises(DctError, match="source: is of type int: give "):
        difflogic.Trainer(7)
    with pytest.raises(DctError, match="source: is an array of shape"):
        difflogic.load(np.zeros(2))
    with difflogic.Trainer("checkerboard-small") as trainer:
        assert trainer.config.name == "checkerboard-small"
        assert difflogic.check(trainer.result).step == 20
