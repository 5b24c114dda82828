"""A task's own loss, against the plain trainer, finite differences and the usual loss."""

import numpy as np
import pytest

from difflogic.circuit import gates
from difflogic.config import load_config
from difflogic.engine import oracle
from difflogic.experiment.searching import Trainer
from difflogic.model.model import Model
from difflogic.system.errors import ConfigError
from difflogic.tasks import make_task
from difflogic.training.reference import ReferenceTrainer
from difflogic.training.sampling import draw_samples
from tests.difflogic.tasks.custom_task import SOURCE, write
from tests.difflogic.training.test_reference import agree
from tests.difflogic.training.tiny import tiny

LOSS = """
    @property
    def steps_seen(self):
        return 2, 4

    def loss(self, states, target):
        shown = np.clip(states[:, 0].astype(float), 1e-6, 1 - 1e-6)
        gradient = np.zeros_like(states)
        gradient[:, 0] = -target[0] / shown + (1 - target[0]) / (1 - shown)
        gradient[0, -1] += 3 * states[0, -1] ** 2
        entropy = -target[0] * np.log(shown) - (1 - target[0]) * np.log(1 - shown)
        return entropy.sum() + (states[0, -1] ** 3).sum(), gradient
"""
"""A cross-entropy at two steps, and a cubic that only the first of them has."""


SIZES = ("automaton.steps=4", "perception.gates=[8,4,2]", "training.precision=float64")
SIZES += ("automaton.channels=2", "update.gates=[6,4,2]", "training.batch=3")


def own(tmp_path, source=LOSS, *overrides):
    return load_config(write(tmp_path, SOURCE + source), [*SIZES, *overrides], allow_code=True)


@pytest.mark.parametrize("fire_rate", [1, 0.6])
def test_the_trainer_agrees_with_the_reference(tmp_path, fire_rate):
    agree(own(tmp_path, LOSS, f"automaton.fire_rate={fire_rate}"))


def test_the_gradient_is_a_finite_difference(tmp_path):
    config = own(tmp_path)
    model = Model.create(config)
    task = make_task(config)
    rng = np.random.default_rng(1)
    model.logits[:] += rng.normal(size=model.logits.shape)
    starts, targets, *_ = draw_samples(config.problem, 0)
    reference = ReferenceTrainer(config.problem, model)
    logits = reference.circuit.logits

    def loss(logits):
        coefficients = gates.mix(gates.softmax(logits))
        total = 0.0
        for start, target in zip(starts, targets, strict=True):
            states = oracle.rollout(model.netlist, coefficients, start, 4, "periodic")
            total += task.loss(np.array([states[2], states[4]]), target)[0]
        return total

    assert reference.step().soft_loss == pytest.approx(loss(logits), rel=1e-12)
    for _ in range(3):
        way = rng.normal(size=logits.shape)
        slope = (loss(logits + 1e-6 * way) - loss(logits - 1e-6 * way)) / 2e-6
        assert (way * reference.gradients).sum() == pytest.approx(slope, rel=1e-5)


def test_workers_and_waves_change_no_bit(tmp_path):
    found = []
    for workers in (1, 2, 3):
        config = own(tmp_path, LOSS, f"parallel.workers={workers}", "training.precision=float32")
        with Trainer(config) as trainer:
            losses = [trainer.step().soft_loss for _ in range(3)]
            found.append((losses, trainer.model.logits.tobytes()))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("change", "says"),
    {
        ("return 2, 4", "return 4, 2"): "Shift.steps_seen must be whole numbers from 1 to 4",
        ("return 2, 4", "return 4"): "it is 4",
        ("return 2, 4", "return 2, 5"): "from 1 to 4 ([automaton] steps)",
        ("return 2, 4", "return 1 / 0"): "Shift.steps_seen failed in line 24",
        (".sum(), gradient", ".sum()"): "Shift.loss must be a number and its gradient",
        ("return entropy.sum()", "return entropy"): "type float64: one real number is",
        ("gradient[0, -1] +=", "gradient[:] = np.nan *"): "a gradient with NaN or infinity: keep",
        ("states, target", "states"): "Shift.loss failed: TypeError",
    }.items(),
)
def test_unusable_losses(tmp_path, change, says):
    assert change[0] in LOSS
    with pytest.raises(ConfigError) as caught:
        own(tmp_path, LOSS.replace(*change))
    assert says in str(caught.value)


@pytest.mark.parametrize("key", ["training.later_steps", "pool.batch"])
def test_settings_for_loss_steps_are_refused(tmp_path, key):
    with pytest.raises(ConfigError, match="chooses the steps that it reads: leave it at 0"):
        own(tmp_path, LOSS, f"{key}=1")


def test_the_usual_loss_is_the_oracles():
    rng = np.random.default_rng(0)
    states = rng.random((3, 2, 6, 7))
    target = np.where(rng.random((2, 6, 7)) < 0.2, np.nan, rng.random((2, 6, 7)))
    value, gradient = make_task(tiny("task.loss_channels=[1,0]")).find_loss(states, target)
    assert value == pytest.approx(sum(oracle.loss(state, target, (1, 0)) for state in states))
    expected = [oracle.loss_gradient(state, target, (1, 0)) for state in states]
    np.testing.assert_allclose(gradient, expected)
