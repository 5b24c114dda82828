"""The trainer agrees with the reference, which is written in plain NumPy on the oracle."""

import numpy as np
import pytest

from difflogic.config import load_config
from difflogic.experiment.searching import Trainer
from difflogic.model.model import Model
from difflogic.training.reference import ReferenceTrainer
from tests.difflogic.training.tiny import growing, tiny

TWO_CHANNELS = ["task.loss_channels=[1,0]", "training.batch=3"]
RESTARTING = ["training.restart_every=2", "finishing.every=100"]
FOUR_NUMBERS = ["training.form=truth-table", "training.initial_logit=4"]


def agree(config):
    reference = ReferenceTrainer(config.problem, Model.create(config))
    with Trainer(config) as trainer:
        for _ in range(3):
            found = trainer.step()
            expected = reference.step()
            assert found.epoch == expected.epoch
            assert found.soft_loss == pytest.approx(expected.soft_loss, rel=1e-10)
            assert found.hard_loss == expected.hard_loss
            assert found.decided == expected.decided
            assert found.attempt == expected.attempt
            assert found.accuracy == pytest.approx(expected.accuracy)
            np.testing.assert_array_equal(found.hard_state, expected.hard_state)
        # AdamW magnifies rounding of small gradients.
        np.testing.assert_allclose(trainer.model.logits, reference.circuit.logits, atol=1e-7)


@pytest.mark.parametrize(
    "overrides", [["automaton.boundary=periodic"], ["automaton.fire_rate=0.6"]]
)
def test_the_trainer_agrees_with_the_reference(overrides):
    agree(tiny("training.precision=float64", *TWO_CHANNELS, *overrides))


@pytest.mark.once
@pytest.mark.parametrize(
    "overrides",
    [
        [],
        ["automaton.fire_rate=0.6", "automaton.boundary=periodic", "training.batch=3"],
        ["training.gradient_clip=0.05", "training.weight_decay=0.5", "training.beta1=0.5"],
        ["training.later_steps=4", "automaton.fire_rate=0.6"],
        ["pool.batch=2", "pool.later=3"],
        RESTARTING,
        [*FOUR_NUMBERS, "training.weight_decay=0.1", *RESTARTING],
        ["training.later_steps=4", "pool.batch=2", "pool.later=3"],
        ["task.height=9", "task.width=11", "perception.gates=[8,4,2,1]", "update.gates=[6,4,2]"],
    ],
)
def test_levers_agree_with_the_reference(overrides):
    agree(tiny("training.precision=float64", *overrides))


def test_held_channels_and_uncounted_cells_agree_with_the_reference():
    settings = ["training.precision=float64", "automaton.steps=2", "training.batch=3"]
    sizes = ["task.height=4", "perception.kernels=3", "update.gates=[8,4,2]"]
    agree(load_config("flood", [*settings, *sizes]))


@pytest.mark.thorough
def test_damage_that_grows_back_agrees_with_the_reference():
    pool = ("pool.batch=3", "pool.later=7", "pool.damage_tries=5", "task.heal=[2,3]")
    agree(growing("training.precision=float64", "task.hold=true", *pool))
