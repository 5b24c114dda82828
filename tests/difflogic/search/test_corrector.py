"""Corrections make any circuit with places show its pictures, by the plain oracle."""

import numpy as np
import pytest

from difflogic.circuit import gates
from difflogic.engine import oracle
from difflogic.model.model import Model
from difflogic.pictures.picture import Picture
from difflogic.search.corrector import Corrector
from difflogic.system.errors import ConfigError
from difflogic.tasks import make_task
from tests.difflogic.pictures.counting import counting
from tests.difflogic.training.tiny import resumed, trained


def noise(height, width, channels=2, seed=0):
    """A picture without any rule."""
    rng = np.random.default_rng(seed)
    return Picture("noise", rng.integers(0, 2, (channels, height, width), np.uint8))


def garbled(model, seed):
    """The model with random ops in the place of learned ones."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=model.logits.shape).astype(model.logits.dtype)
    logits[model.layers.fixed] = model.logits[model.layers.fixed]
    return Model(model.layers, logits, model.config)


@pytest.mark.once
@pytest.mark.parametrize(("height", "width"), [(5, 4), (11, 13), (16, 17)])
def test_a_corrected_circuit_shows_noise_from_any_start(height, width, tmp_path):
    picture = noise(height, width, seed=height)
    made = counting(picture)
    model = garbled(Model.create(made), width)
    found = Corrector(model, make_task(made).stages[0], None).correct(model)
    Model.of(found.circuit, made).save(tmp_path / "model.npz")
    saved = Model.load(tmp_path / "model.npz")
    rng = np.random.default_rng(1)
    steps = max(height, width) + 1
    start = rng.integers(0, 2, (made.automaton.channels, height, width), np.uint8)
    states = oracle.rollout(saved.netlist, gates.one_hot(saved.ops), start, steps, "zero")
    np.testing.assert_array_equal(states[-1][:2], picture.bits)
    # What was learned is still there: gates are only added.
    kept = {logits.tobytes() for logits in saved.logits}
    assert {logits.tobytes() for logits in model.logits} <= kept
    assert found.bits > 0
    with pytest.raises(ConfigError, match="cannot be trained again"):
        Model.create(saved.config)


@pytest.mark.thorough
def test_a_run_ends_with_a_correction_and_resumes_to_the_same_bits():
    made = counting(noise(9, 8), "training.epochs=12", "parallel.workers=1")
    first, second = resumed(made, 7)
    assert first.exact_epoch == second.exact_epoch == 12
    assert first.correction.bits == second.correction.bits > 0
    assert first.result.to_bytes("one") == second.result.to_bytes("two")
    assert (first.result.config.task, first.result.config.automaton) == (made.task, made.automaton)
    trainer, (*_, result) = trained(made)
    assert result.finished.exact
    np.testing.assert_array_equal(result.hard_state[:2], noise(9, 8).bits)
    assert trainer.result.to_bytes("three") == first.result.to_bytes("one")


def test_nothing_is_added_to_a_circuit_that_is_right():
    made = counting(Picture("blank", np.zeros((1, 5, 6), np.uint8)))
    model = Model.create(made)
    corrector = Corrector(model, make_task(made).stages[0], None)
    model = corrector.correct(model).circuit
    assert corrector.correct(model) is corrector.correct(model)
    assert corrector.correct(model).circuit is model
