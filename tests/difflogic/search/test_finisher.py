"""Finishing of damaged circuits, and of circuits that cannot become right."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from difflogic.circuit import gates
from difflogic.circuit.gates import Op
from difflogic.engine import oracle
from difflogic.engine.hard import candidates
from difflogic.evaluation.trial import Trial
from difflogic.experiment.best import make_most_probable
from difflogic.search import repair, verifier
from difflogic.search.sensitivity import GradientSensitivity
from difflogic.system.jit import JIT
from difflogic.system.streams import Purpose
from difflogic.system.work import ignore
from difflogic.tasks import draw_batch, make_task
from tests.difflogic.engine.built import Builder, game_of_life
from tests.difflogic.identification import automata
from tests.difflogic.proof.convergence.brute import all_states
from tests.difflogic.search.finishers import finisher_of, plan_of
from tests.difflogic.training.tiny import growing, tiny, trained, wrong_in_the_picture
from tests.marks import compiled

LIFE = (
    "task.height=3",
    "task.width=3",
    "automaton.channels=1",
    "automaton.steps=1",
    "automaton.boundary=periodic",
    "update.gates=[8,4,2,1]",
)


def life(*overrides):
    """The Game of Life on 3×3 cells: all of its 512 boards can be tried."""
    return tiny("task.kind=life", *LIFE, *overrides)


def sure(ops, rng=None, spread=1.0):
    """Logits (16, parameters) that harden to `ops`, the other ops in random order."""
    logits = np.zeros((gates.OPS, len(ops)))
    if rng is not None:
        logits += rng.uniform(0, spread, logits.shape)
    logits[ops, np.arange(len(ops))] = 2 * spread
    return logits


def finish(netlist, config, logits, seed=0, on_progress=ignore, **settings):
    finisher = finisher_of(config, netlist, **{"candidates": 20_000, **settings})
    return finisher, finisher.finish(logits, np.random.default_rng(seed), on_progress)


def wrong_boards(netlist, ops):
    """Number of the 512 boards of 3×3 on a torus that a circuit advances wrongly."""
    boards = all_states(1, 3, 3)
    after = [
        oracle.rollout(netlist, gates.one_hot(ops), board, 1, "periodic")[-1] for board in boards
    ]
    return int((after != automata.life(boards)).any(axis=(1, 2, 3)).sum())


def damaged(ops, gates_hit, rng):
    ops = ops.copy()
    hit = rng.choice(len(ops), gates_hit, replace=False)
    ops[hit] = (ops[hit] + rng.integers(1, 16, gates_hit)) % 16
    return ops


@pytest.fixture(scope="module")
def plus():
    """A circuit that grows a plus of 5×5 cells, with more gates than needed."""
    trainer, _ = trained(growing("training.seed=5"))
    assert trainer.exact_epoch is not None
    return trainer.result


@given(
    values=st.lists(st.sampled_from([-0.0, 0.0, 1.0, -2.5, 3.25, np.inf]), max_size=40),
    share=st.floats(0, 1),
)
def test_lowest_agrees_with_a_stable_sort(values, share):
    count = int(share * len(values))
    found = repair.lowest(np.array(values), count)
    assert_array_equal(found, np.argsort(values, kind="stable")[:count])


@pytest.mark.once
@compiled
@pytest.mark.parametrize("hits", [1, 4])
def test_damaged_circuits_are_repaired(plus, hits):
    """All numbers agree with the oracle."""
    repaired = 0
    for seed in range(5):
        rng = np.random.default_rng([hits, seed])
        ops = plus.ops
        while not wrong_in_the_picture(plus.config, plus.netlist, ops):
            ops = damaged(plus.ops, hits, rng)
        logits = plus.logits.T.copy()
        make_most_probable(logits, ops)
        heard = []
        finisher, found = finish(plus.netlist, plus.config, logits, seed, on_progress=heard.append)
        assert [each.candidates for each in heard] == sorted(each.candidates for each in heard)
        assert heard[0].wrong == found.wrong_before
        assert heard[-1].wrong >= found.wrong
        assert heard[-1].candidates <= found.candidates
        assert {each.budget for each in heard} == {20_000}
        assert found.wrong_before == wrong_in_the_picture(plus.config, plus.netlist, ops)
        assert found.wrong == wrong_in_the_picture(plus.config, plus.netlist, found.ops)
        assert found.wrong == found.wrong_fresh <= found.wrong_before
        assert found.exact == (found.wrong == 0)
        assert finisher.verify(found.ops) == (found.exact, [])
        assert finisher.verify(ops) == (False, [])
        assert 0 < found.candidates <= 20_000 + repair.GRADIENT_COST
        repaired += found.exact
    assert repaired >= 1


@pytest.mark.parametrize("gate", [4, 27])
def test_the_second_most_probable_op_is_tried_early(gate):
    """It repairs a little damage to the Game of Life, even if the gradient misleads."""
    netlist, right = game_of_life()
    trial = Trial(netlist, plan_of(life()).scene, range(512))
    wrong = []
    for op in range(gates.OPS):
        ops = right.copy()
        ops[gate] = op
        wrong.append(int(trial(ops).sum()) or np.inf)
    ops[gate] = np.argmin(wrong)
    logits = sure(ops)
    logits[right[gate], gate] = 1.9

    def nothing(ops, samples):
        change = np.ones((len(ops), gates.OPS))
        change[-1, Op.NAND] = 0.0  # which makes nearly all cells wrong
        return change

    finisher = finisher_of(life(), netlist, sensitivity=nothing, candidates=100)
    found = finisher.finish(logits, np.random.default_rng(0))
    assert found.exact
    assert_array_equal(found.ops, right)
    assert found.candidates == repair.GRADIENT_COST + 2
    assert finisher.verify(ops) == (False, [])


def test_a_single_wrong_neighbourhood_is_seen():
    """The last one of 512: a living cell with eight neighbours dies."""
    netlist, ops = game_of_life()
    config = life()
    config = config.model_copy(update={"task": config.task.model_copy(update={"rule": "B3/S238"})})
    finisher, found = finish(netlist, config, sure(ops), candidates=0)
    assert not found.exact
    assert found.wrong_before == found.wrong == found.wrong_fresh == 9
    assert finisher.verify(ops) == (False, [])


@pytest.mark.once
@pytest.mark.parametrize("seed", range(3 if JIT else 2))
def test_no_circuit_is_exact_with_a_wrong_cell(seed):
    """Random circuits, few starts, hardly any search: the oracle agrees with the result."""
    rng = np.random.default_rng(seed)
    netlist, right = game_of_life()
    ops = damaged(right, int(rng.integers(1, 4)), rng)
    _, found = finish(netlist, life(), sure(ops, rng), seed, candidates=60)
    assert found.exact == (wrong_boards(netlist, found.ops) == 0)


@pytest.fixture
def seldom_wrong(monkeypatch):
    """A circuit that gives 0, except where 11 bits of the neighbourhood are all 1."""
    gate = Builder(2)
    row = gate(Op.AND, 0, 1)
    for other in range(2, 11):
        row = gate(Op.AND, row, other)
    # The target is 0 everywhere: a square is as large as the grid.
    config = tiny("task.width=6", "task.square=6", "automaton.steps=1")
    monkeypatch.setattr(verifier, "FIRST_STARTS", 1)
    return *gate.finish(row, gate(Op.FALSE, 0, 1)), config


def wrong_by_the_oracle(netlist, ops, config, start):
    starts, targets = draw_batch(make_task(config), 23, 0, 1, Purpose.CHECK_START, start)
    steps = config.automaton.steps
    states = oracle.rollout(
        netlist, gates.one_hot(ops), starts[0], 2 * steps + 1, config.automaton.boundary
    )
    at = sorted({steps, steps + 1, 2 * steps, 2 * steps + 1})
    return sum(int((states[t][[0]] != targets[0]).sum()) for t in at)


def test_counterexamples_are_found_and_fail(seldom_wrong):
    netlist, ops, config = seldom_wrong
    finisher, found = finish(netlist, config, sure(ops), candidates=0)
    assert (found.exact, found.wrong_before) == (False, 0)
    exact, failing = finisher.verify(ops)
    assert not exact
    wrong = np.array([wrong_by_the_oracle(netlist, ops, config, n) for n in range(1, 257)])
    # The worst of the first fresh starts that fail, without the first starts of the search.
    worst = np.argsort(-wrong, kind="stable")[: verifier.NEW_COUNTEREXAMPLES]
    assert failing == [1 + place for place in worst.tolist() if wrong[place]]
    assert failing


def test_counterexamples_join_the_search(seldom_wrong):
    netlist, ops, config = seldom_wrong
    finisher, found = finish(netlist, config, sure(ops))
    assert found.exact
    assert found.wrong_before == 0 < found.candidates
    assert finisher.verify(found.ops) == (True, [])
    assert not any(wrong_by_the_oracle(netlist, found.ops, config, n) for n in range(200))


@pytest.mark.parametrize("budget", [0, 1, 41, 150] if JIT else [0, 60])
def test_the_budget_is_kept(budget):
    netlist, right = game_of_life()
    rng = np.random.default_rng(5)
    ops = rng.integers(0, 16, len(right)).astype(np.uint8)
    logits = sure(ops, rng)
    before = logits.copy()
    _, found = finish(netlist, life(), logits, candidates=budget)
    assert not found.exact
    assert found.wrong <= found.wrong_before
    assert budget <= found.candidates <= budget + bool(budget) * repair.GRADIENT_COST
    assert budget or found.ops.tolist() == ops.tolist()
    assert_array_equal(logits, before)


@compiled
def test_simulating_each_change_alone_changes_nothing(monkeypatch):
    netlist, right = game_of_life()
    rng = np.random.default_rng(1)
    logits = sure(damaged(right, 6, rng), rng)
    _, expected = finish(netlist, life(), logits, candidates=1500)
    monkeypatch.setattr(candidates, "MOST_BYTES", 0)
    _, found = finish(netlist, life(), logits, candidates=1500)
    assert found.ops.tolist() == expected.ops.tolist()
    assert replace(found, ops=None) == replace(expected, ops=None)


@compiled
def test_an_overflowing_gradient_does_not_end_a_search():
    """The parity of nine cells: each slope is ±1, so they reach up to 9^steps."""
    gate = Builder(2)
    row = gate(Op.XOR, 0, 2)
    for other in range(4, 18, 2):
        row = gate(Op.XOR, row, other)
    netlist, ops = gate.finish(row, gate(Op.NAND, 0, 2))
    config = tiny("automaton.steps=130", "automaton.boundary=periodic", "task.square=6")
    sensitivity = GradientSensitivity(netlist, plan_of(config), 130)
    with np.errstate(all="ignore"):
        assert not np.isfinite(sensitivity(ops, (0, 1))).all()
    _, found = finish(netlist, config, sure(ops), candidates=2000)
    assert found.wrong < found.wrong_before
