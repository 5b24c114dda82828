"""Rollouts with gradients of any loss, compared with the oracle and finite differences."""

import importlib
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from difflogic import SoftRollout, identify_chance
from difflogic.circuit import gates
from difflogic.engine import oracle
from difflogic.model.model import Model
from difflogic.system.errors import ConfigError
from tests.difflogic.training.tiny import tiny
from tests.marks import precisions


def drawn(*overrides, dtype="float64", size=(5, 7), batch=3, seed=1):
    """Return a model, logits and real-valued starts."""
    model = Model.create(tiny(f"training.precision={dtype}", *overrides))
    rng = np.random.default_rng(seed)
    logits = (model.logits + rng.normal(size=model.logits.shape)).astype(dtype)
    return model, logits, rng.random((batch, model.netlist.channels, *size)).astype(dtype)


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize(("boundary", "size"), [("zero", (5, 7)), ("periodic", (2, 1))])
def test_gradients_at_all_steps_and_starts_are_finite_differences(boundary, size, hard):
    overrides = f"automaton.boundary={boundary}", "automaton.fire_rate=0.5"
    model, logits, starts = drawn(*overrides, size=size)
    rollout = SoftRollout(model, hard=hard)
    rng = np.random.default_rng(2)
    masks = rng.integers(0, 2, (3, 4, *size), dtype=np.uint8)
    states, pull_back = rollout(logits, starts, steps=4, keep="all", masks=masks)
    assert_array_equal(states[:, 0], starts)
    weights = rng.normal(size=states.shape)
    to_logits, to_starts = pull_back(weights)

    def loss(coefficients, starts):
        rolled = [
            oracle.rollout(model.netlist, coefficients, start, 4, boundary, mask)
            for start, mask in zip(starts, masks, strict=True)
        ]
        return (np.array(rolled) * weights).sum()

    probabilities = gates.softmax(logits)
    step = 1e-6
    used = gates.mix(np.eye(16)[logits.argmax(1)] if hard else probabilities)
    for _ in range(3):
        way = rng.normal(size=starts.shape)
        slope = loss(used, starts + step * way) - loss(used, starts - step * way)
        assert slope / (2 * step) == pytest.approx((way * to_starts).sum(), rel=1e-6, abs=1e-8)
        # Straight through: the logits move the mixture, at the coefficients that were used.
        way = rng.normal(size=logits.shape)
        ways = [gates.mix(gates.softmax(logits + sign * step * way)) for sign in (1, -1)]
        moved = ways[0] - ways[1]
        slope = loss(used + moved / 2, starts) - loss(used - moved / 2, starts)
        assert slope / (2 * step) == pytest.approx((way * to_logits).sum(), rel=1e-5, abs=1e-8)


@precisions
def test_workers_and_earlier_rollouts_change_no_bit(dtype):
    model, logits, starts = drawn(dtype=dtype, size=(11, 13))
    found = []
    for workers in (1, 2, 3):
        rollout = SoftRollout(model, workers=workers)
        if workers > 1:  # an engine for more steps serves fewer
            rollout(logits, starts, steps=7)
        states, pull_back = rollout(logits, starts, steps=5, keep=[2, 5])
        weights = np.arange(states.size, dtype=dtype).reshape(states.shape) % 7
        first = pull_back(weights)
        for other in (starts[:2], starts[:, :, :4], 1 - starts):
            rollout(logits, other)
        again = pull_back(weights)
        found.append([states, *first, *again])
        assert states.dtype == first[0].dtype == first[1].dtype == dtype
    for states, *pulled in found:
        for array, expected in zip([states, *pulled], found[0], strict=True):
            assert_array_equal(array, expected)
        for first, again in zip(pulled[:2], pulled[2:], strict=True):
            assert_array_equal(first, again)


def test_rollouts_may_be_called_from_threads_and_pickled():
    model, logits, starts = drawn()
    rollout = pickle.loads(pickle.dumps(SoftRollout(model, workers=2)))

    def one(number):
        states, pull_back = rollout(logits, starts, steps=number % 4 + 1)
        return [states, *pull_back(states)]

    alone = [one(number) for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for number, found in enumerate(pool.map(one, range(16))):
            for array, expected in zip(found, alone[number % 4], strict=True):
                assert_array_equal(array, expected)


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        ("logits have shape", {"logits": lambda logits: logits[1:]}),
        ("type int64: give", {"logits": lambda logits: logits.astype(int)}),
        (r"logits of shape .*: inf at \(0, 0\): give", {"logits": lambda logits: logits * np.inf}),
        (r"starts have shape \(2, 5, 7\)", {"starts": lambda starts: starts[0]}),
        (r"starts of shape .*: nan at \(0, .*give finite", {"starts": lambda x: x * np.nan}),
        ("steps: -1", {"steps": -1}),
        (r"keep: \[2, 1\]", {"keep": [2, 1]}),
        (r"keep: \[9\]: give whole numbers from 0 to 4", {"steps": 4, "keep": [9]}),
        ('keep: "al"', {"keep": "al"}),
        (r"keep: \[1.5\]: give whole", {"keep": [1.5]}),
        ("keep: 3: give whole numbers", {"keep": 3}),
        ("starts: are from .* to 2: give bits, or real", {"starts": lambda x: np.fmax(x, 2)}),
        ("masks: every cell of this automaton fires: leave", {"masks": np.ones((3, 9, 5, 7))}),
        (r"masks are missing: .* give \(3, \d, 5, 7\)", {"rate": "0.5"}),
        (r"masks have shape \(1, 1\)", {"masks": np.ones((1, 1)), "rate": "0.5"}),
        (r"masks .*: 0.5 at .*: give 0 and 1", {"masks": np.full((3, 9, 5, 7), 0.5)}),
    ],
)
def test_wrong_arguments_are_refused(message, wrong):
    wrong = dict(wrong)
    model, *arrays = drawn(f"automaton.fire_rate={wrong.pop('rate', 1)}")
    arrays = [
        wrong.get(name, lambda array: array)(array)
        for name, array in zip(("logits", "starts"), arrays, strict=True)
    ]
    with pytest.raises(ConfigError, match=message):
        SoftRollout(model)(*arrays, **{k: v for k, v in wrong.items() if not callable(v)})


def test_wrong_gradients_and_workers_are_refused():
    model, logits, starts = drawn()
    _, pull_back = SoftRollout(model)(logits, starts)
    for call, given, message in (
        (pull_back, np.full(starts.shape, np.nan), r"gradients of shape .*: nan at"),
        (pull_back, np.ones(3), r"gradients have shape \(3,\)"),
        (SoftRollout(model).with_logits, logits * np.nan, r"logits of shape .*: nan at"),
        (lambda workers: SoftRollout(model, workers=workers), 0, "workers 0: "),
    ):
        with pytest.raises(ConfigError, match=message):
            call(given)


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_a_missing_framework_is_named_with_its_extra(framework, monkeypatch):
    monkeypatch.setitem(sys.modules, framework, None)
    monkeypatch.delitem(sys.modules, f"difflogic.{framework}", raising=False)
    with pytest.raises(ImportError, match=rf"pip install .*\[{framework}\]"):
        importlib.import_module(f"difflogic.{framework}")


def test_numpy_may_be_told_to_raise():
    """Sharp mixtures have weights that underflow, and so have families that are out of question."""
    rng = np.random.default_rng(1)
    layer = SoftRollout(Model.create(tiny()))
    starts = rng.integers(0, 2, (2, layer.model.netlist.channels, 4, 5))
    film = rng.integers(0, 2, (12, 24, 24)) & rng.integers(0, 2, (12, 1, 24))
    with np.errstate(all="raise"):
        states, pull_back = layer(layer.model.logits * 60, starts)
        pull_back(states)
        identify_chance(film)
