"""Mixtures against the formulas in gates.py; AdamW against the paper, parameter by parameter."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from difflogic.circuit import gates
from difflogic.config import TrainingConfig
from difflogic.training.optimizer import Learned
from tests.examples import examples
from tests.marks import precisions

ROUNDING = {"float32": 1e-6, "float64": 1e-14}


def transposed(logits):
    return np.ascontiguousarray(logits.T)


def training(**changes):
    values = {"epochs": 1, "batch": 1, "learning_rate": 0.05, **changes}
    return TrainingConfig(**values)


# More parameters than the kernel handles at a time, and not a multiple of that.
@precisions
@pytest.mark.parametrize("parameters", [1, 256, 700])
def test_mixing(parameters, dtype):
    logits = np.random.default_rng(0).normal(scale=5, size=(parameters, 16)).astype(dtype)
    before = logits.copy()
    soft = Learned(transposed(logits), training())
    coefficients = soft.mix()
    assert coefficients.shape == (parameters, 4)
    assert coefficients.dtype == dtype
    probabilities = gates.softmax(logits.astype(np.float64))
    assert_allclose(soft.probabilities.T, probabilities, atol=ROUNDING[dtype])
    assert_allclose(coefficients, gates.mix(probabilities), atol=8 * ROUNDING[dtype])
    assert_array_equal(soft.ops, gates.harden(logits))
    sure = gates.softmax(logits.astype(np.float64)).max(axis=1) > gates.DECIDED
    assert soft.decided == sure.mean()
    assert_array_equal(logits, before)


@examples(30)
@given(st.lists(st.integers(-2, 2), min_size=16, max_size=16))
def test_the_lowest_op_wins_a_tie(column):
    logits = np.array([column], np.float32)
    soft = Learned(transposed(logits), training())
    soft.mix()
    assert soft.ops[0] == gates.harden(logits)[0] == column.index(max(column))


@precisions
def test_large_logits_do_not_overflow(dtype):
    logits = np.full((16, 2), -1000.0, dtype)
    logits[7, 0] = 1000.0
    logits[9, 1] = -999.0
    soft = Learned(logits, training())
    coefficients = soft.mix()
    assert soft.ops.tolist() == [7, 9]
    assert_array_equal(coefficients[0], gates.COEFFICIENTS[7])
    assert np.isfinite(coefficients).all()
    assert_allclose(soft.probabilities.sum(axis=0), 1, rtol=1e-6)


def adamw_by_the_paper(logits, gradients, config):
    """Loshchilov and Hutter 2019, algorithm 2, one number at a time."""
    logits = logits.astype(float).copy()
    for place in np.ndindex(*logits.shape):
        theta = logits[place]
        m = 0.0
        v = 0.0
        for t, gradient in enumerate(gradients, start=1):
            g = min(max(gradient[place], -config.gradient_clip), config.gradient_clip)
            m = config.beta1 * m + (1 - config.beta1) * g
            v = config.beta2 * v + (1 - config.beta2) * g * g
            m_hat = m / (1 - config.beta1**t)
            v_hat = v / (1 - config.beta2**t)
            theta -= config.learning_rate * (
                m_hat / (math.sqrt(v_hat) + 1e-8) + config.weight_decay * theta
            )
        logits[place] = theta
    return logits


CONFIGS = {
    "as published": {},
    "no decay": {"weight_decay": 0.0},
    "strong decay": {"weight_decay": 2.0, "learning_rate": 0.3},
    "clipped": {"gradient_clip": 0.01},
    "no momentum": {"beta1": 0.0, "beta2": 0.0},
}


@precisions
@pytest.mark.parametrize("name", CONFIGS)
def test_steps_agree_with_the_paper(name, dtype):
    parameters = 270  # more than the kernel handles at a time
    config = training(**CONFIGS[name])
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(parameters, 16)).astype(dtype)
    mine = transposed(logits)
    learned = Learned(mine, config)
    gradients = []
    for _ in range(3):
        coefficient_gradients = rng.normal(size=(parameters, 4)).astype(dtype)
        learned.mix()
        probabilities = learned.probabilities.T.astype(np.float64)
        gradients.append(
            gates.mix_gradient(probabilities, coefficient_gradients.astype(np.float64))
        )
        learned.step(coefficient_gradients)
    expected = adamw_by_the_paper(logits, gradients, config)
    # A step divides small gradients by their own size: rounding of one shows as a share of a step.
    atol = {"float32": 2e-4, "float64": 1e-9}[dtype] * config.learning_rate
    assert_allclose(learned.logits.T, expected, atol=atol, rtol=ROUNDING[dtype])
    assert learned.logits is mine
    assert learned.steps == len(gradients)
