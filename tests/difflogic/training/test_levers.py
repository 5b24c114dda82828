"""The levers against plain formulas, and against counts of what they draw."""

import math

import numpy as np
import pytest

from difflogic.circuit import gates
from difflogic.training.sampling import attempt_of, draw_hardened, first_epoch, ramp
from difflogic.training.trainer import Trainer
from tests.difflogic.training.tiny import tiny

PARAMETERS = 400
FULL = ("hardening.from_epoch=0", "hardening.to_epoch=0")
"""At full strength from the first epoch on."""


def hardened(epoch, *overrides, parameters=PARAMETERS):
    """Which gates of `gate_mixtures` run as one op in an epoch."""
    ops, soft = gate_mixtures(parameters)
    coefficients = soft.copy()
    chosen = draw_hardened(tiny(*overrides), parameters, epoch)
    coefficients[chosen] = gates.one_hot(ops[chosen])
    changed = (coefficients != soft).any(axis=1)
    np.testing.assert_array_equal(coefficients[changed], gates.one_hot(ops[changed]))
    return changed


def gate_mixtures(parameters):
    """The most probable ops of random gates, and the mixtures' coefficients."""
    logits = np.random.default_rng(0).normal(size=(parameters, gates.OPS), scale=2.0)
    return gates.harden(logits), gates.mix(gates.softmax(logits))


@pytest.mark.parametrize(
    ("epoch", "first", "last", "expected"),
    [
        (100, 100, 300, 0.0),
        (150, 100, 300, 0.25),
        (300, 100, 300, 1.0),
        (4, 5, 5, 0.0),
        (5, 5, 5, 1.0),
        # The end before the beginning: all at once, at the end.
        (99, 300, 100, 0.0),
        (100, 300, 100, 1.0),
    ],
)
def test_a_ramp_rises_once_from_0_to_1(epoch, first, last, expected):
    assert ramp(epoch, first, last) == pytest.approx(expected)


def test_attempts_follow_each_other():
    training = tiny("training.restart_every=7", "finishing.every=5").training
    assert [attempt_of(training, epoch) for epoch in (0, 6, 7, 13, 14)] == [0, 0, 1, 1, 2]
    assert [first_epoch(training, attempt) for attempt in range(3)] == [0, 7, 14]
    assert {attempt_of(tiny().training, epoch) for epoch in (0, 1, 10**9 - 1)} == {0}


def test_hardening_starts_over_with_learning():
    overrides = (
        "training.restart_every=7",
        "finishing.every=5",
        "hardening.share=1.0",
        "hardening.from_epoch=0",
        "hardening.to_epoch=4",
    )
    counts = [hardened(epoch, *overrides).sum() for epoch in range(14)]
    for attempt in (counts[:7], counts[7:]):
        assert attempt[0] == 0
        assert 0 < attempt[2] < PARAMETERS
        assert attempt[4:] == [PARAMETERS] * 3


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


@pytest.mark.parametrize(
    ("epoch", "share"), [(0, 0), (300, 0), (500, 0.25), (700, 0.5), (999, 0.5)]
)
def test_the_share_of_hard_gates_rises(epoch, share):
    overrides = "hardening.share=0.5", "hardening.from_epoch=300", "hardening.to_epoch=700"
    changed = hardened(epoch, *overrides, parameters=20_000)
    # Five standard deviations of a binomial count.
    assert changed.mean() == pytest.approx(share, abs=5 * 0.5 / math.sqrt(20_000))
    assert changed.any() == (share > 0)


def test_the_hard_gates_are_drawn_for_each_epoch_and_reproducibly():
    def chosen(epoch, seed=23):
        return hardened(epoch, *FULL, "hardening.share=0.5", f"training.seed={seed}")

    np.testing.assert_array_equal(chosen(7), chosen(7))
    assert (chosen(7) != chosen(8)).mean() > 0.4
    assert (chosen(7) != chosen(7, seed=24)).mean() > 0.4


NEUTRAL = (
    *FULL,
    "hardening.share=0",
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
