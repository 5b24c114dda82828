"""Rectified circuits, compared with the oracle step by step."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.circuit.gates import OPS, one_hot
from difflogic.engine import oracle
from difflogic.engine.hard.gradients import HardGradients
from difflogic.engine.hard.hard_simulator import mark_live
from difflogic.evaluation.check_plan import Plan
from difflogic.evaluation.scene import scene_of
from difflogic.model.model import Model
from difflogic.search.rectification import Rectifier, RepairByDetectors, can_rectify
from difflogic.tasks import make_task
from tests.difflogic.engine.comparison import some_ops
from tests.difflogic.search.finishers import STREAMS, finisher_of, plan_of
from tests.difflogic.training.tiny import growing, tiny
from tests.examples import any_seed

pytestmark = pytest.mark.thorough


class Case:
    """An untrained automaton that should grow a plus, with some random gates."""

    def __init__(self, seed, share, *overrides):
        self.config = growing(f"training.seed={seed % 7}", *overrides)
        self.netlist = Model.create(self.config).netlist
        rng = np.random.default_rng(seed)
        self.ops = some_ops(self.netlist, rng, 1 - share)
        self.task = make_task(self.config)
        self.start, self.target = self.task.sample(np.random.default_rng(0))
        holds = self.task.holds
        self.plan = Plan.holding(self.task, STREAMS) if holds else plan_of(self.config, 1)
        self.scene = replace(self.plan.scene, at=self.plan.decisive)
        self.rectifier = Rectifier(self.netlist, self.scene, (0,))

    def states(self, ops):
        """The start and the states of all steps, (steps + 1, C, H, W)."""
        automaton = self.config.automaton
        return oracle.rollout(
            self.netlist, one_hot(ops), self.start, self.scene.at[-1], automaton.boundary
        )

    def values(self, ops, states):
        """The values of all rows before each step, (steps, rows, cells)."""
        boundary = self.config.automaton.boundary
        return np.array(
            [
                oracle.row_values(self.netlist, one_hot(ops), oracle.perceive(state, boundary))
                for state in states[:-1]
            ]
        )

    def wrong(self, ops):
        """Wrong cells at all counted steps."""
        states = self.states(ops)
        channels = list(self.task.loss_channels)
        return sum(int((states[step][channels] != self.target).sum()) for step in self.scene.at)

    def live(self, ops):
        live, _, _ = mark_live(self.netlist, ops, self.task.loss_channels)
        return live


cases = given(seed=any_seed, share=st.sampled_from([0.1, 0.3, 0.6]))


@pytest.mark.once
@cases
@settings(max_examples=6)
def test_detectors_correct_one_point_and_harm_no_other(seed, share):
    case = Case(seed, share)
    netlist = case.netlist
    ops = case.ops
    live = case.live(ops)
    states = case.states(ops)
    before = case.values(ops, states)
    uses = np.bincount(netlist.param, minlength=netlist.parameters)
    gradients = HardGradients(netlist, case.scene.grid, case.scene.at[-1], 1)
    starts = case.start[None]
    wrong = {case.scene.at[-1]: 1.0 - 2.0 * case.target[None]}
    for found in list(case.rectifier.propose(ops, np.random.default_rng(0)))[:10]:
        changed = [param for param in found.ops if found.ops[param] != ops[param]]
        rows = [
            netlist.inputs + int(np.flatnonzero(netlist.param == param)[0]) for param in changed
        ]
        assert all(uses[param] == 1 for param in changed)
        # One live gate; no counted channel ever depends on the others.
        (row,) = [row for row in rows if live[row]]
        # Each step begins from the states of the original circuit.
        after = case.values(found.of(ops), states)
        differs = after[:, row] != before[:, row]
        gradients.begin(ops, case.scene.channels, np.array([row], np.int32))
        _, slopes = gradients.trace(
            starts, wrong, case.scene.channels, np.array([row], np.int32), np.array([row], np.int32)
        )
        slopes = slopes[0, :, : case.scene.grid.cells]
        change = np.where(before[:, row] == 1, -slopes, slopes)
        assert (differs & (change < 0)).any()
        assert np.count_nonzero(differs & (change > 0)) == found.harm
        # Other live gates change only through that gate.
        others = np.flatnonzero(live[netlist.inputs :]) + netlist.inputs
        reached = (after[:, others] != before[:, others]).any(axis=(0, 2))
        assert (others[reached] >= row).all()


@pytest.mark.once
@cases
@settings(max_examples=6)
def test_a_simpler_circuit_does_the_same(seed, share):
    case = Case(seed, share)
    simpler = case.rectifier.simplify(case.ops)
    channels = list(case.task.loss_channels)
    for one, other in zip(case.states(case.ops), case.states(simpler), strict=True):
        np.testing.assert_array_equal(one[channels], other[channels])
    assert case.live(simpler).sum() <= case.live(case.ops).sum()


def finished(case, **changes):
    """Search from a case's circuit, and compare the result with the oracle."""
    logits = np.zeros((OPS, len(case.ops)), np.float32)
    logits[case.ops, np.arange(len(case.ops))] = 1.0
    settings = {"candidates": 20_000, **changes}
    finisher = finisher_of(case.config, case.netlist, case.plan, **settings)
    found = finisher.finish(logits, np.random.default_rng(0))
    assert case.task.holds or found.wrong == case.wrong(found.ops)
    assert (0 if found.exact else found.wrong_fresh) == case.wrong(found.ops)
    return found


WIDE = "update.gates=[128,128,64,32,16,8,4]"


@pytest.mark.parametrize("stays", [False, True])
def test_it_corrects_more_than_changes_of_one_gate(stays):
    plain = []
    rectified = []
    for seed in range(2 if stays else 8):
        case = Case(seed, 0.1, WIDE, f"task.hold={str(stays).lower()}")
        plain.append(finished(case))
        rectified.append(finished(case, rectify=25))
    assert sum(each.wrong_fresh for each in rectified) < sum(each.wrong_fresh for each in plain)
    assert stays or sum(each.exact for each in rectified) > sum(each.exact for each in plain)


def test_a_search_that_starts_over_ends_with_the_best(monkeypatch):
    left = []
    start_over = RepairByDetectors._start_over

    def leave(search):
        left.append(search.rule.wrong)
        start_over(search)

    monkeypatch.setattr(RepairByDetectors, "_start_over", leave)
    best = []
    for seed in range(4):
        left.clear()
        found = finished(Case(seed, 0.3, WIDE), candidates=40_000, rectify=25)
        if left:
            assert found.wrong <= min(left)
            best.append(found.wrong < min(left))
    assert any(best)


@pytest.mark.once
@pytest.mark.parametrize(
    ("config", "complete"),
    [(tiny(), False), (growing("automaton.fire_rate=0.5"), True)],
    ids=["random starts", "asynchronous"],
)
def test_random_scenes_cannot_be_rectified(config, complete):
    scene = scene_of(make_task(config), STREAMS, (3,))
    assert not can_rectify(scene, complete)
