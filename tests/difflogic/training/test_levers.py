"""The levers against plain formulas, and against counts of what they draw."""

import math

import numpy as np
import pytest

from difflogic.circuit import gates
from difflogic.training.levers import Hardening, ramp, rate_share
from difflogic.training.optimizer import SoftGates
from difflogic.training.trainer import Trainer
from tests.difflogic.training.tiny import tiny

PARAMETERS = 400
FULL = ("hardening.from_epoch=0", "hardening.to_epoch=0")
"""At full strength from the first epoch on."""


def hardening(*overrides, parameters=PARAMETERS):
    return Hardening(tiny(*FULL, *overrides), parameters)


def gate_mixtures(parameters=PARAMETERS, seed=0, scale=2.0):
    """Logits and probabilities (16, parameters), ops and the mixtures' coefficients."""
    logits = np.random.default_rng(seed).normal(size=(parameters, gates.OPS), scale=scale)
    probabilities = gates.softmax(logits)
    return logits.T.copy(), probabilities.T.copy(), gates.harden(logits), gates.mix(probabilities)


@pytest.mark.parametrize(
    ("epoch", "first", "last", "expected"),
    [
        (0, 100, 300, 0.0),
        (100, 100, 300, 0.0),
        (150, 100, 300, 0.25),
        (299, 100, 300, 0.995),
        (300, 100, 300, 1.0),
        (10**9, 100, 300, 1.0),
        (0, 0, 0, 1.0),
        (4, 5, 5, 0.0),
        (5, 5, 5, 1.0),
        # The end before the beginning: all at once, at the end.
        (0, 300, 100, 0.0),
        (99, 300, 100, 0.0),
        (100, 300, 100, 1.0),
        (200, 300, 100, 1.0),
    ],
)
def test_a_ramp_rises_once_from_0_to_1(epoch, first, last, expected):
    assert ramp(epoch, first, last) == pytest.approx(expected)


def test_the_rate_falls_along_half_a_cosine():
    config = tiny("schedule.share=0.2", "schedule.from_epoch=100", "schedule.to_epoch=500")
    shares = [rate_share(config, epoch) for epoch in range(700)]
    for epoch in range(100, 500):
        angle = math.pi * (epoch - 100) / 400
        assert shares[epoch] == pytest.approx(0.2 + 0.8 * (1 + math.cos(angle)) / 2)
    assert shares[:101] == [1.0] * 101
    assert shares[300] == pytest.approx(0.6)
    assert shares[500:] == pytest.approx([0.2] * 200)
    assert (np.diff(shares) <= 0).all()


def test_levers_start_over_with_learning():
    config = tiny(
        "training.restart_every=7",
        "finishing.every=5",
        "hardening.share=1.0",
        "hardening.from_epoch=0",
        "hardening.to_epoch=4",
    )
    lever = Hardening(config, 500)
    _, probabilities, ops, soft = gate_mixtures(500)

    def shares():
        found = []
        for epoch in range(lever.since, lever.since + 7):
            coefficients = soft.copy()
            found.append(len(lever.harden(coefficients, probabilities, ops, epoch)))
        return found

    first = shares()
    assert first[0] == 0
    assert first[4:] == [500] * 3
    lever.since = 7
    assert shares()[0] == 0
    assert shares()[4:] == [500] * 3


def test_the_optimizers_rate_starts_over_with_learning():
    """With AdamW's moments and decay off, a step is the rate times the sign of the gradient."""
    overrides = (
        "training.beta1=0",
        "training.beta2=0",
        "training.weight_decay=0",
        "training.precision=float64",
        "training.epsilon=1e-30",
        "training.restart_every=3",
        "finishing.every=100",
        "schedule.share=0.1",
        "schedule.to_epoch=2",
    )
    config = tiny(*overrides)
    with Trainer(config) as trainer:
        rates = []
        for epoch in range(7):
            before = trainer.first.logits if epoch % 3 == 0 else trainer.model.logits
            trainer.step()
            rates.append(np.abs(trainer.model.logits - before).max())
    expected = config.training.learning_rate * np.array([1, 0.55, 0.1, 1, 0.55, 0.1, 1])
    assert rates == pytest.approx(expected)


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


def test_the_rate_is_constant_by_default():
    assert {rate_share(tiny(), epoch) for epoch in range(0, 2000, 7)} == {1.0}


def test_the_optimizer_takes_the_falling_rate():
    """With AdamW's moments and decay off, a step is the rate times the sign of the gradient."""
    overrides = (
        "training.beta1=0",
        "training.beta2=0",
        "training.weight_decay=0",
        "training.precision=float64",
        "training.epsilon=1e-30",
        "schedule.share=0.1",
        "schedule.from_epoch=1",
        "schedule.to_epoch=3",
    )
    config = tiny(*overrides)
    with Trainer(config) as trainer:
        for epoch in range(5):
            before = trainer.model.logits
            trainer.step()
            moved = np.abs(trainer.model.logits - before)
            expected = config.training.learning_rate * [1, 1, 0.55, 0.1, 0.1][epoch]
            assert moved.max() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("epoch", "share"), [(0, 0), (300, 0), (500, 0.25), (700, 0.5), (999, 0.5)]
)
def test_the_share_of_hard_gates_rises(epoch, share):
    lever = Hardening(
        tiny("hardening.share=0.5", "hardening.from_epoch=300", "hardening.to_epoch=700"), 20_000
    )
    _, probabilities, ops, soft = gate_mixtures(20_000)
    coefficients = soft.copy()
    lever.harden(coefficients, probabilities, ops, epoch)
    changed = (coefficients != soft).any(axis=1)
    # Five standard deviations of a binomial count.
    assert changed.mean() == pytest.approx(share, abs=5 * 0.5 / math.sqrt(20_000))
    assert changed.any() == (share > 0)
    np.testing.assert_array_equal(coefficients[changed], gates.one_hot(ops[changed]))


def test_a_share_of_1_hardens_all():
    _, probabilities, ops, coefficients = gate_mixtures()
    hardening("hardening.share=1").harden(coefficients, probabilities, ops, 5)
    np.testing.assert_array_equal(coefficients, gates.one_hot(ops))


def test_the_hard_gates_are_drawn_anew_at_each_epoch_and_reproducibly():
    _, probabilities, ops, soft = gate_mixtures()

    def chosen(epoch, seed=23):
        coefficients = soft.copy()
        lever = hardening("hardening.share=0.5", f"training.seed={seed}")
        lever.harden(coefficients, probabilities, ops, epoch)
        return (coefficients != soft).any(axis=1)

    np.testing.assert_array_equal(chosen(7), chosen(7))
    assert (chosen(7) != chosen(8)).mean() > 0.4
    assert (chosen(7) != chosen(7, seed=24)).mean() > 0.4


def test_ops_are_sampled_as_often_as_they_are_probable():
    """A chi-squared test of each of three mixtures, 3000 epochs of it."""
    logits = np.zeros((gates.OPS, 3))
    logits[:, 1] = np.linspace(-2, 2, gates.OPS)
    logits[3, 2] = 4.0
    probabilities = gates.softmax(logits.T).T
    lever, epochs = hardening("hardening.share=1", "hardening.op=sample", parameters=3), 3000
    counts = np.zeros((3, gates.OPS))
    for epoch in range(epochs):
        coefficients = np.zeros((3, 4))
        lever.harden(coefficients, probabilities, np.zeros(3, np.uint8), epoch)
        same = (gates.COEFFICIENTS[None] == coefficients[:, None]).all(axis=2)
        assert (same.sum(axis=1) == 1).all()
        counts += same
    expected = epochs * probabilities.T
    statistic = ((counts - expected) ** 2 / expected).sum(axis=1)
    assert (statistic < 44.3).all()  # 15 degrees of freedom: exceeded once in 10 000


def test_sampling_never_leaves_the_sixteen_ops():
    """Even where rounding leaves the probabilities' sum far below 1."""
    probabilities = np.full((gates.OPS, PARAMETERS), 1e-3, np.float32)
    coefficients = np.full((PARAMETERS, 4), 9.0, np.float32)
    lever = hardening("hardening.share=1", "hardening.op=sample")
    lever.harden(coefficients, probabilities, np.zeros(PARAMETERS, np.uint8), 0)
    found = (gates.COEFFICIENTS[None] == coefficients[:, None]).all(axis=2)
    assert (found.sum(axis=1) == 1).all()
    assert found[:, gates.OPS - 1].mean() > 0.9


def test_the_gradient_is_straight_through(monkeypatch):
    """All gates run hard, and dL/dlogits is that of the mixtures at dL/d(hard coefficients)."""
    config = tiny(*FULL, "hardening.share=1", "training.precision=float64")
    seen = {}
    with Trainer(config) as trainer:
        right = trainer._optimizer.step

        def step(probabilities, gradients, rate):
            seen.update(probabilities=probabilities.copy(), gradients=gradients.copy())
            right(probabilities, gradients, rate)

        monkeypatch.setattr(trainer._optimizer, "step", step)
        logits = trainer.model.logits
        result = trainer.step()
        assert result.soft_loss == result.hard_loss
        first = trainer._optimizer.first.T / (1 - config.training.beta1)
    np.testing.assert_allclose(seen["probabilities"].T, gates.softmax(logits), rtol=1e-12)
    expected = gates.mix_gradient(gates.softmax(logits), seen["gradients"])
    assert np.abs(expected).max() > 0
    np.testing.assert_allclose(first, expected, atol=1e-12 * np.abs(expected).max())


def test_hard_gates_leave_probabilities_alone():
    _, probabilities, ops, coefficients = gate_mixtures()
    before = probabilities.copy()
    hardening("hardening.share=1").harden(coefficients, probabilities, ops, 0)
    np.testing.assert_array_equal(probabilities, before)


def test_noise_is_off_by_default():
    assert Hardening(tiny(), 5).noise(10**6) is None
    assert Hardening(tiny("hardening.gumbel=1"), 5).noise(300) is None


def test_noise_is_gumbels_and_reproducible():
    lever = hardening("hardening.gumbel=0.5", parameters=20_000)
    noise = lever.noise(4)
    assert noise.shape == (gates.OPS, 20_000)
    np.testing.assert_array_equal(
        noise, hardening("hardening.gumbel=0.5", parameters=20_000).noise(4)
    )
    assert (noise != lever.noise(5)).any()
    # Mean γ and variance π²/6 of the standard distribution, scaled.
    assert noise.mean() == pytest.approx(0.5 * np.euler_gamma, abs=0.01)
    assert noise.std() == pytest.approx(0.5 * math.pi / math.sqrt(6), abs=0.01)


def test_noise_grows_with_the_epochs():
    lever = Hardening(
        tiny("hardening.gumbel=2", "hardening.from_epoch=0", "hardening.to_epoch=100"), 5000
    )
    assert lever.noise(25).std() == pytest.approx(0.25 * lever.noise(100).std(), rel=0.05)


def test_noise_changes_the_mixtures_but_not_the_ops():
    logits, *_ = gate_mixtures()
    noise = hardening("hardening.gumbel=3").noise(0)
    soft = SoftGates(PARAMETERS, np.float64)
    np.testing.assert_allclose(
        soft.mix(logits, noise), gates.mix(gates.softmax((logits + noise).T)), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_array_equal(soft.ops, logits.argmax(axis=0))
    assert ((logits + noise).argmax(axis=0) != soft.ops).any()
    np.testing.assert_allclose(soft.probabilities.T, gates.softmax((logits + noise).T), rtol=1e-9)


def entropies(logits):
    probabilities = gates.softmax(logits.T)
    return -(probabilities * np.log(probabilities)).sum(axis=1)


def test_pressure_goes_down_the_entropy_as_finite_differences_say():
    logits, probabilities, *_ = gate_mixtures(6)
    step = hardening("hardening.entropy=3", parameters=6).pressure(probabilities, 0.01, 0)
    expected = np.empty_like(logits)
    for place in np.ndindex(*logits.shape):
        above, below = logits.copy(), logits.copy()
        above[place] += 1e-5
        below[place] -= 1e-5
        expected[place] = (entropies(above).sum() - entropies(below).sum()) / 2e-5
    np.testing.assert_allclose(step, -0.03 * expected, atol=1e-10)


@pytest.mark.parametrize("scale", [0.5, 3.0, 300.0])
def test_pressure_lowers_entropy(scale):
    logits, probabilities, *_ = gate_mixtures(scale=scale)
    logits, probabilities = logits.astype(np.float32), probabilities.astype(np.float32)
    pressed = logits + hardening("hardening.entropy=1").pressure(probabilities, 0.05, 0)
    assert np.isfinite(pressed).all()
    if scale < 100:  # else there is none left
        assert (entropies(pressed.astype(float)) < entropies(logits.astype(float))).all()


def test_pressure_is_off_by_default():
    _, probabilities, *_ = gate_mixtures()
    assert Hardening(tiny(), PARAMETERS).pressure(probabilities, 0.05, 10**6) is None
    assert hardening("hardening.entropy=0").pressure(probabilities, 0.05, 0) is None


def temperatures(unsure, sure):
    return hardening(f"hardening.temperature_unsure={unsure}", f"hardening.temperature_sure={sure}")


def test_straight_through_goes_by_a_mixture_of_another_temperature():
    """As finite differences say, of softmax(logits / T) with each gate's own T held still."""
    logits, probabilities, *_ = gate_mixtures(6)
    slope = np.random.default_rng(1).normal(size=(6, 4))
    mixtures, scaled = temperatures(0.5, 4).mixtures(probabilities, slope, np.array([0, 2, 5]))
    found = gates.mix_gradient(mixtures.T, scaled).T
    sure = probabilities.max(axis=0)
    temperature = np.where(np.isin(np.arange(6), [0, 2, 5]), 0.5 + 3.5 * (16 * sure - 1) / 15, 1.0)

    def value(at):
        return (gates.mix(gates.softmax((at / temperature).T)) * slope).sum()

    for place in np.ndindex(*logits.shape):
        above, below = logits.copy(), logits.copy()
        above[place] += 1e-5
        below[place] -= 1e-5
        assert found[place] == pytest.approx((value(above) - value(below)) / 2e-5, abs=1e-8)


def test_a_temperature_goes_from_that_of_the_unsure_to_that_of_the_sure():
    logits = np.zeros((gates.OPS, 2))
    logits[3, 1] = 60.0
    probabilities = gates.softmax(logits.T).T
    slope = np.ones((2, 4))
    _, scaled = temperatures(0.5, 4).mixtures(probabilities, slope, np.arange(2))
    np.testing.assert_allclose(scaled, [[2.0] * 4, [0.25] * 4])
    np.testing.assert_array_equal(slope, 1.0)


def test_a_certain_gate_learns_again_at_a_high_temperature():
    """Its own mixture's gradient is next to nothing."""
    logits = np.zeros((gates.OPS, 1))
    logits[3] = 10.0
    probabilities = gates.softmax(logits.T).T
    slope = np.array([[0.0, 1.0, 0.0, 0.0]])
    norms = [
        np.abs(gates.mix_gradient(mixtures.T, scaled)).max()
        for mixtures, scaled in (
            temperatures(1, sure).mixtures(probabilities, slope, np.arange(1)) for sure in (1, 3)
        )
    ]
    assert norms[1] > 20 * norms[0]


def test_temperatures_of_1_leave_all_as_it_is():
    _, probabilities, _, slope = gate_mixtures()
    chosen = np.arange(PARAMETERS)
    same = Hardening(tiny(), PARAMETERS).mixtures(probabilities, slope, chosen)
    assert same[0] is probabilities
    assert same[1] is slope
    same = temperatures(0.5, 4).mixtures(probabilities, slope, chosen[:0])
    assert same[0] is probabilities


NEUTRAL = (
    "schedule.share=1",
    "schedule.from_epoch=1",
    "schedule.to_epoch=3",
    *FULL,
    "hardening.share=0",
    "hardening.op=sample",
    "hardening.gumbel=0",
    "hardening.entropy=0",
    "hardening.temperature_sure=1",
    "training.form=ops",
    "training.initial_spread=0",
    "training.later_steps=0",
    "finishing.every=2",
    "finishing.candidates=60",
    "finishing.verified_starts=16",
)


@pytest.mark.parametrize("fire_rate", [1, 0.6])
def test_levers_that_are_off_change_no_bit(fire_rate):
    """Nor do checks and searches, unless what they find is adopted."""
    found = []
    for overrides in ((), NEUTRAL):
        with Trainer(tiny(f"automaton.fire_rate={fire_rate}", *overrides)) as trainer:
            losses = [trainer.step().soft_loss for _ in range(5)]
            found.append((losses, trainer.model.logits, trainer._optimizer.state()))
    (losses, logits, moments), (same_losses, same_logits, same_moments) = found
    assert losses == same_losses
    np.testing.assert_array_equal(logits, same_logits)
    for name, values in moments.items():
        np.testing.assert_array_equal(values, same_moments[name])


@pytest.mark.parametrize(
    "lever",
    [
        ["schedule.share=0.1", "schedule.to_epoch=1"],
        ["hardening.share=0.5"],
        ["hardening.gumbel=0.5"],
        ["hardening.entropy=1"],
        ["training.later_steps=2"],
        ["training.form=truth-table"],
        ["training.form=polynomial"],
        ["training.initial_spread=1"],
    ],
)
def test_every_lever_changes_training(lever):
    logits = []
    for overrides in ((), (*FULL, *lever)):
        with Trainer(tiny(*overrides)) as trainer:
            for _ in range(3):
                trainer.step()
            logits.append(trainer.model.logits)
    assert (logits[0] != logits[1]).any()
