"""Polished circuits: smaller, right no later, and checked independently."""

import itertools
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from difflogic.circuit.gates import Op, one_hot
from difflogic.circuit.netlist import Netlist
from difflogic.config import Config
from difflogic.engine import oracle
from difflogic.engine.hard.hard_simulator import active_gates
from difflogic.evaluation.judge import Judge
from difflogic.proof.convergence import sets
from difflogic.search import polish as polishing
from difflogic.search.finisher import Finished, Finisher
from difflogic.search.polish import CircuitCost, Polished, polish
from tests.difflogic.engine.built import game_of_life
from tests.difflogic.evaluation.test_judge import config_of, netlist_of
from tests.difflogic.proof.convergence.trained import checkerboard_question, trained
from tests.difflogic.search.finishers import finisher_of, judge_of
from tests.difflogic.search.test_finisher import life, wrong_boards


def polished(
    config: Config, netlist: Netlist, ops: np.ndarray, budget: int = 1500, seed: int = 0
) -> tuple[np.ndarray, Polished]:
    found = Finished(ops, True, 0, 0, 0, 0)
    finisher = finisher_of(config, netlist, polish=budget)
    made = finisher.polish(found, np.random.default_rng(seed))
    assert made.polished is not None
    assert finisher.verify(made.ops) == (True, [])
    expected = replace(made, ops=ops, polished=None)
    assert vars(expected) == vars(found)  # dataclasses compare arrays from Python 3.13 on
    return made.ops, made.polished


def assert_checkerboard(netlist: Netlist, ops: np.ndarray, since: int) -> None:
    """Random starts show the checkerboard from step `since` on, by the oracle."""
    y, x = np.indices((8, 8)) // 2
    rng = np.random.default_rng(1)
    for _ in range(8):
        start = rng.integers(0, 2, (netlist.channels, 8, 8), dtype=np.uint8)
        states = oracle.rollout(netlist, one_hot(ops), start, since + 3, "zero")
        for state in states[since:]:
            np.testing.assert_array_equal(state[0], (x + y) % 2)


def test_a_polished_game_of_life_is_right_on_all_boards() -> None:
    netlist, ops = game_of_life()
    small, found = polished(life(), netlist, ops, budget=6000)
    assert found.before == CircuitCost(len(active_gates(netlist, ops, (0,))), None)
    assert found.after == CircuitCost(len(active_gates(netlist, small, (0,))), None)
    assert found.after < found.before
    assert not found.after < found.after
    assert not CircuitCost(3, 5) <= CircuitCost(4, 4)
    assert wrong_boards(netlist, small) == 0


@pytest.mark.parametrize("name", ["checkerboard-seed-2", "checkerboard-async-seed-1"])
def test_a_polished_checkerboard_is_certified_no_later(name: str) -> None:
    netlist, ops = netlist_of(name)
    rate = trained(name).fire_rate
    config = config_of(netlist.channels, f"automaton.fire_rate={rate}", "automaton.steps=40")
    judge = judge_of(config, netlist)
    small, found = polished(config, netlist, ops)
    assert found.before == CircuitCost(
        len(active_gates(netlist, ops, (0,))), judge.certified_step(ops)
    )
    assert found.after == CircuitCost(
        len(active_gates(netlist, small, (0,))), judge.certified_step(small)
    )
    assert found.after <= found.before
    # All other gates are inactive.
    assert len(active_gates(netlist, small)) == found.after.gates
    assert found.after.from_step is not None
    assert_checkerboard(netlist, small, found.after.from_step)


def test_a_late_certificate_is_hastened(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the training step, when every start must be right; else the circuit is not exact."""
    netlist, ops = netlist_of("checkerboard-seed-2")
    config = config_of(netlist.channels, "automaton.steps=12")
    small, found = polished(config, netlist, ops, 300)
    assert found.before.from_step == 13
    assert found.after.from_step in range(13)
    assert found.candidates > 600
    assert found.after.gates == len(active_gates(netlist, small, (0,)))
    assert_checkerboard(netlist, small, 12)
    exact = Finished(ops, True, 0, 0, 0, 0)
    finisher = finisher_of(config, netlist, polish=300)
    left = finisher.polish(exact, np.random.default_rng(0), False)
    assert left.polished is not None
    assert left.polished.after.from_step == 13
    assert left.polished.candidates < 300 + polishing.CERTIFICATE_COST
    assert (left.late, left.exact) == (True, False)
    with monkeypatch.context() as patch:
        patch.setattr(Finisher, "can_prove", False)
        assert finisher.polish(exact, None) is exact
    monkeypatch.setattr(Judge, "latest_step", None)
    assert polished(config, netlist, ops, 300)[1].after.from_step == 13


@pytest.mark.parametrize("steps", [5, 12, 13])
def test_unknown_cells_agree_with_sets(steps: int) -> None:
    netlist, ops = netlist_of("checkerboard-seed-2")
    config = config_of(netlist.channels, f"automaton.steps={steps}")
    judge = judge_of(config, netlist)
    goal = checkerboard_question(trained("checkerboard-seed-2"))
    *_, state = itertools.islice(sets.descend(goal.network, goal.board), steps + 1)
    expected = (sets.as_array(goal.board, state)[list(goal.visible_places)] == sets.UNKNOWN).sum()
    assert judge.unknown_in_time(ops) == expected
    assert (expected == 0) == (steps >= 13) == (judge.certified_step(ops) <= steps)
    assert judge.unknown_in_time(np.full_like(ops, Op.XOR)) is None


@pytest.mark.parametrize("budget", [1, 21, 100])
def test_the_budget_is_kept(budget: int) -> None:
    netlist, ops = netlist_of("checkerboard-seed-1")
    _, found = polished(config_of(netlist.channels), netlist, ops, budget)
    assert budget <= found.candidates < budget + polishing.CERTIFICATE_COST


def test_unverified_circuits_are_dropped_and_counterexamples_join(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a finisher that refuses every circuit, with one counterexample."""
    netlist, ops = netlist_of("checkerboard-seed-2")
    finisher = finisher_of(config_of(netlist.channels), netlist)
    refuse = Mock(return_value=(False, [77]))
    trial = Mock(side_effect=finisher.trial)
    for name, value in {"first_samples": range(4), "verify": refuse, "trial": trial}.items():
        monkeypatch.setattr(Finisher, name, value)
    small, found = polish(finisher, ops, np.random.default_rng(0), 800, hasten=False)
    assert found.before == found.after
    live = small != ops
    assert set(small[live].tolist()) <= {Op.A}
    trials = [tuple(call.args[0]) for call in trial.call_args_list]
    assert trials[:2] == [(0, 1, 2, 3), (0, 1, 2, 3, 77)]
    assert len(trials) == 1 + refuse.call_count > 1
