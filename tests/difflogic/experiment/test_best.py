"""The best circuit of a run: when a search looks for it, and what the run keeps."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.testing import assert_allclose, assert_array_equal

from difflogic.circuit import gates
from difflogic.evaluation.exactness import check
from difflogic.experiment.best import BestCircuit, make_most_probable
from difflogic.experiment.session import execute
from difflogic.model.model import Model
from difflogic.run.summary import Gain
from difflogic.search.finisher import Finished
from difflogic.search.polish import CircuitCost, Polished
from difflogic.tasks import make_task
from tests.difflogic.training.tiny import (
    growing,
    resumed,
    stop_after,
    tiny,
    trained,
    wrong_in_the_picture,
)
from tests.marks import compiled


@pytest.mark.thorough
@given(
    arrays.arrays(np.float32, (16, 5), elements=st.floats(-20, 20, width=32)),
    st.lists(st.integers(0, 15), min_size=5, max_size=5),
)
def test_preferred_ops_become_the_most_probable(logits, ops):
    """Also where logits tie, as for ops that never made a difference."""
    before = logits.copy()
    make_most_probable(logits, np.array(ops, np.uint8))
    assert_array_equal(logits.argmax(axis=0), ops)
    for found, expected, op in zip(logits.T, before.T, ops, strict=True):
        present = expected.argmax()
        if op == present:
            assert_array_equal(found, expected)
        expected[[present, op]] = expected[[op, present]]
        assert_allclose(found, expected, rtol=1e-6, atol=1e-37)


class GivenSearches:
    """A search that finds given (op, wrong on fresh starts, exact).

    Its circuits, once polished, are proved from given steps.
    """

    def __init__(self, found, steps=()):
        self.found = iter(found)
        self.steps = iter(steps)
        self.hastened = []

    def finish(self, logits, rng, on_progress):
        op, fresh, exact = next(self.found)
        return Finished(np.full(42, op, np.uint8), exact, 100, 100, fresh, 0)

    def polish(self, found, rng, hasten):
        step = next(self.steps)
        self.hastened.append(hasten)
        made = Polished(CircuitCost(9, 25), CircuitCost(7, step), 11)
        late = step > 20
        return replace(found, polished=made, late=late, exact=not late)


def best_circuit(*overrides):
    config = tiny("finishing.every=5", "finishing.candidates=1", *overrides)
    logits = np.zeros((gates.OPS, 42), np.float32)
    logits[3] = 1.0
    return BestCircuit(config, logits), logits


@pytest.mark.parametrize(
    ("overrides", "due"),
    [
        ([], []),
        (["finishing.every=4"], [4, 8, 12, 16]),
        (["finishing.every=5", "finishing.from_epoch=7"], [10, 15]),
        (["finishing.every=5", "finishing.from_epoch=10"], [10, 15]),
        (["finishing.every=5", "finishing.from_epoch=16"], []),
    ],
)
def test_epochs_with_a_search(overrides, due):
    best, _ = best_circuit("finishing.every=0", *overrides)
    assert [epoch for epoch in range(1, 17) if best.is_due(epoch)] == due


def test_the_best_circuit_is_kept():
    best, logits = best_circuit()
    before = logits.copy()
    assert best.logits is None
    assert best.exact_epoch is None
    # What searches find, as (op, wrong on fresh starts, exact): the first from the circuit in
    # training, a second from the best circuit if the first is worse. Then the op kept and the
    # number reported.
    looks = [
        ([(1, 40, False)], 1, 40),
        ([(2, 50, False), (1, 45, False)], 1, 50),
        ([(2, 50, False), (4, 40, False)], 4, 40),  # as good counts: it may lead on
        ([(5, 0, False)], 5, 0),
        ([(6, 9, False), (7, 0, True)], 7, 0),
        ([(8, 0, True)], 7, 0),  # the first exact one stays
        ([(9, 3, False)], 7, 3),
    ]
    searches = GivenSearches(each for found, *_ in looks for each in found)
    for epoch, (_, kept, reported) in enumerate(looks, 1):
        found = best.update(searches, logits, epoch)
        assert found.wrong_fresh == reported
        assert (best.logits.argmax(axis=0) == kept).all()
        assert best.exact_epoch == (None if epoch < 5 else 5)
        assert_array_equal(logits, before)
    assert not list(searches.found)


def test_a_late_proof_keeps_the_circuit_and_the_run_continues():
    best, logits = best_circuit("finishing.polish=10")
    # What searches find, as (op, wrong on fresh starts), exact where none is; the step from which
    # polished circuits are proved; what is kept, from which epoch on it is exact, and its step.
    looks = [
        ((1, 4), None, 1, None, None),
        ((2, 0), 28, 2, None, 28),
        ((3, 4), None, 2, None, 28),  # one search: nothing is wrong of the best
        ((4, 0), 24, 4, None, 24),
        ((5, 0), 20, 5, 5, 20),
        ((6, 0), None, 5, 5, 20),
    ]
    searches = GivenSearches(((op, fresh, not fresh) for (op, fresh), *_ in looks), [28, 24, 20])
    for epoch, ((_, fresh), step, kept, since, proved) in enumerate(looks, 1):
        found = best.update(searches, logits, epoch)
        assert found.late == (step is not None and step > 20)
        assert found.exact == (fresh == 0 and not found.late)
        assert (best.logits.argmax(axis=0) == kept).all()
        assert best.exact_epoch == since
        assert best.gain == (
            None if proved is None else Polished(CircuitCost(9, 25), CircuitCost(7, proved), 11)
        )
        state = best.state()
        best, _ = best_circuit("finishing.polish=10")
        best.restore(state)
    assert searches.hastened == [True, False, False]


def wrong_in(model):
    return wrong_in_the_picture(model.config, model.netlist, model.ops)


@pytest.mark.once
@compiled
def test_a_run_ends_with_a_verified_circuit():
    """The search finds it; the trained circuit itself is not exact."""
    trainer, found = trained(growing("training.seed=5"))
    checks = {step.epoch: step.finished for step in found if step.finished is not None}
    assert trainer.epoch == trainer.exact_epoch == list(checks)[-1] < 60
    assert list(checks) == list(range(10, trainer.epoch + 1, 10))
    assert [found.exact for found in checks.values()] == [False] * (len(checks) - 1) + [True]
    assert wrong_in(trainer.result) == 0 < wrong_in(trainer.model)
    _, target = make_task(trainer.config).sample(np.random.default_rng(0))
    assert_array_equal(found[-1].hard_state[[0]], target)
    assert check(trainer.result).exact
    assert trainer.phases.seconds["finish"] > 0
    assert_array_equal(trainer.result.ops, checks[trainer.epoch].ops)


@pytest.mark.thorough
@compiled
def test_a_verified_circuit_is_polished_once_at_any_worker_count(tmp_path):
    """Polishing comes before the run ends, and does not change the training."""

    def config(workers, polish):
        return growing(
            "training.seed=5", f"finishing.polish={polish}", f"parallel.workers={workers}"
        )

    states = []
    gains = []
    checks = []
    for workers, polish in ((1, 300), (3, 300), (1, 0)):
        trainer, found = trained(config(workers, polish))
        checks += [step.finished for step in found if step.finished is not None]
        states.append(trainer.state())
        gains.append(trainer.gain)
        assert wrong_in(trainer.result) == 0
    assert gains[0] == gains[1]
    assert gains[0].after < gains[0].before
    assert (gains[0].as_dict()["from_step"], gains[2]) == (None, None)
    for name, value in states[0].items():
        assert_array_equal(states[1][name], value)
    assert_array_equal(states[2]["logits"], states[0]["logits"])
    assert "polished" not in states[2]
    polished = [check.polished for check in checks if check.polished is not None]
    assert len(polished) == 2  # once in each of the two runs
    assert polished == gains[:2]
    execute(config(1, 300), tmp_path, should_stop=stop_after(33))
    summary = execute(config(2, 300), tmp_path)
    assert summary.resumed == 1
    assert summary.polished == Gain(**gains[0].as_dict())
    with np.load(tmp_path / "model.npz") as model:
        assert_array_equal(model["logits"], states[0]["best_logits"].T)


@pytest.mark.thorough
@compiled
@pytest.mark.parametrize("taken_at", [6, 11])
def test_attempts_are_resumed_and_their_best_circuit_keeps_its_wiring(taken_at):
    """Learning starts over at epochs 6 and 12; epoch 6 is still the first attempt's."""
    config = growing(
        "training.restart_every=6",
        "finishing.every=3",
        "finishing.candidates=50",
        "training.epochs=15",
    )
    trainer, other = resumed(config, taken_at)
    for name, value in other.state().items():
        assert_array_equal(value, trainer.state()[name], err_msg=name)
    wrong, epoch, _ = trainer.state()["best"]
    wired = Model.create(config, (epoch - 1) // 6).netlist
    assert_array_equal(trainer.result.netlist.a, wired.a)
    assert wrong_in(trainer.result) == wrong
