"""Attempts, and levers that are off."""

import time

import numpy as np

from difflogic.training.sampling import attempt_of
from difflogic.training.trainer import Trainer
from tests.difflogic.training.tiny import tiny


def test_attempts_follow_each_other():
    training = tiny("training.restart_every=7", "finishing.every=5").training
    assert [attempt_of(training, epoch) for epoch in (0, 6, 7, 13, 14)] == [0, 0, 1, 1, 2]
    assert {attempt_of(tiny().training, epoch) for epoch in (0, 1, 10**9 - 1)} == {0}


def test_learning_starts_over_from_the_first_logits_with_another_wiring():
    config = tiny("training.restart_every=3", "finishing.every=100")
    with Trainer(config) as trainer:
        first = trainer.model.logits
        for _ in range(3):
            trainer.step()
        assert (trainer.model.logits != first).any()
        wiring = trainer.model.netlist
        trainer.step()
        moved = np.abs(trainer.model.logits - first)
        assert (trainer.model.netlist.a != wiring.a).any()
    # AdamW's first step moves a logit by at most the learning rate, and the decay.
    training = config.training
    most = training.learning_rate * (1 + training.weight_decay * training.initial_logit)
    assert 0 < moved.max() <= most * 1.001


def test_seconds_include_rewiring():
    shares = []
    with Trainer(tiny("training.restart_every=1", "finishing.every=100")) as trainer:
        trainer.step()
        for _ in range(10):
            before, begun = sum(trainer.phases.seconds.values()), time.perf_counter()
            trainer.step()
            passed = time.perf_counter() - begun
            shares.append((sum(trainer.phases.seconds.values()) - before) / passed)
    # A busy machine may stop this process between two clocks, but not each time.
    assert 0.8 < max(shares) <= 1


NEUTRAL = (
    "training.form=ops",
    "training.initial_spread=0",
    "training.later_steps=0",
    "finishing.every=2",
    "finishing.candidates=60",
)


def test_levers_that_are_off_change_no_bit():
    """Nor do checks and searches."""
    found = []
    for overrides in ((), NEUTRAL):
        with Trainer(tiny("automaton.fire_rate=0.6", *overrides)) as trainer:
            losses = [trainer.step().soft_loss for _ in range(5)]
            found.append((losses, trainer.model.logits, trainer._learned.state()))
    (losses, logits, moments), (same_losses, same_logits, same_moments) = found
    assert losses == same_losses
    np.testing.assert_array_equal(logits, same_logits)
    for name, values in moments.items():
        np.testing.assert_array_equal(values, same_moments[name])
