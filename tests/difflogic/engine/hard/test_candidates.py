"""Candidates are judged like circuits that are simulated on their own."""

from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from difflogic.circuit.gates import OPS, Op
from difflogic.circuit.grid import Grid
from difflogic.engine.hard import candidates as module
from difflogic.engine.hard.candidates import Candidates, new_job
from difflogic.engine.hard.hard_simulator import HardSimulator
from difflogic.engine.kernels import candidates as k
from difflogic.search import changes
from difflogic.search.changes import Acceptance, Changes
from difflogic.system.work import ignore
from difflogic.verification.case import SMALL
from tests.difflogic.engine.comparison import netlist_of, some_channels, some_ops
from tests.examples import any_boundary, any_seed

OPS_TO_TRY = [Op.A, Op.B, Op.XOR, Op.AND, Op.TRUE]


class Case:
    """A base circuit with a batch and a script."""

    def __init__(self, seed, boundary, masks, damage, passing, size=None):
        """`size` is height, width and batch; by default they are drawn."""
        rng = np.random.default_rng(seed)
        self.netlist = netlist_of(SMALL, seed)
        height, width = rng.integers(1, 9, 2).tolist()
        batch = int(rng.integers(1, 7))
        steps = int(rng.integers(1, 6))
        height, width, batch = size or (height, width, batch)
        self.channels = some_channels(rng)
        self.simulator = HardSimulator(self.netlist, Grid(height, width, boundary), batch)

        def bits(*shape):
            return rng.integers(0, 2, (batch, *shape, height, width), dtype=np.uint8)

        at = sorted(set(rng.integers(1, steps + 1, 2).tolist()))
        self.script = self.simulator.script(
            steps,
            bits(steps) if masks else None,
            bits(steps) if damage else None,
            at,
            bits(len(self.channels)),
            self.channels,
            rng.integers(0, 2, (height, width)),
        )
        self.starts = self.simulator.pack_states(bits(3))
        self.ops = some_ops(self.netlist, rng, passing)

    def alone(self, ops):
        """Simulate one circuit on its own; return its wrong bits and active gates."""
        self.simulator.load(ops, self.channels)
        self.simulator.state[:] = self.starts
        return int(self.simulator.run(self.script).sum()), self.simulator.active_gates

    def changed(self, parameter, op):
        ops = self.ops.copy()
        ops[parameter] = op
        return ops

    def candidates(self):
        """Candidates with this case's circuit as their base."""
        candidates = Candidates(self.simulator, self.starts, self.script)
        assert candidates.load(self.ops)
        return candidates

    def changes(self, rng, count):
        """Draw changes: parameters, and an op for each."""
        parameters = rng.integers(0, self.netlist.parameters, count).astype(np.int32)
        return parameters, rng.choice(OPS_TO_TRY, count).astype(np.uint8)


def judge(candidates, parameters, ops, limit):
    """Judge each change; return wrong bits and gates, the latter only up to `limit` wrong bits."""
    fields = np.zeros(k.WALK_FIELDS, np.int64)
    fields[k.END] = len(ops)
    fields[k.WRONG] = limit
    changes = np.asarray(parameters, np.int32), np.asarray(ops, np.uint8)
    job = new_job(*changes, k.FINDS)
    decisions = k.Decisions(fields, np.array([np.inf, 0.0]), np.zeros(0))
    while not candidates.judge(job, decisions):
        assert candidates.find_room()
    return job.results[: fields[k.TRIED]].T


@pytest.mark.once
@given(
    seed=any_seed,
    boundary=any_boundary,
    masks=st.booleans(),
    damage=st.booleans(),
    passing=st.sampled_from([0.0, 0.5, 0.9]),
    size=st.none(),
)
@example(7, "periodic", True, True, 0.1, (16, 16, 5))  # many words
@example(7, "periodic", True, True, 0.1, (9, 16, 5))
@settings(max_examples=20)
def test_every_change_is_judged_like_its_circuit_alone(
    seed, boundary, masks, damage, passing, size
):
    case = Case(seed, boundary, masks, damage, passing, size)
    pairs = [(p, op) for p in range(case.netlist.parameters) for op in range(OPS)]
    rng = np.random.default_rng(seed)
    pairs = [pairs[i] for i in rng.choice(len(pairs), 40, replace=False)]
    candidates = case.candidates()
    for limit in (10**9, case.alone(case.ops)[0]):
        found = judge(candidates, *zip(*pairs, strict=True), limit)
        for (parameter, op), *judged in zip(pairs, *found, strict=True):
            alone = case.alone(case.changed(parameter, op))
            assert tuple(judged) == alone or (judged[0] > limit and alone[0] > limit)


@given(
    seed=any_seed, boundary=any_boundary, masks=st.booleans(), passing=st.sampled_from([0.5, 0.9])
)
@settings(max_examples=10)
def test_a_base_takes_over_changes_one_by_one(seed, boundary, masks, passing):
    case = Case(seed, boundary, masks, not masks, passing)
    rng = np.random.default_rng(seed)
    candidates = case.candidates()
    for _ in range(2 * module.TIDY_AFTER + 2):
        parameter, other = rng.integers(0, case.netlist.parameters, 2).tolist()
        op, tried = rng.choice(OPS_TO_TRY, 2).tolist()
        case.ops = case.changed(parameter, op)
        assert candidates.change(np.array([parameter], np.int32), np.array([op], np.uint8))
        found = judge(candidates, [other], [tried], 10**9)
        assert tuple(int(array[0]) for array in found) == case.alone(case.changed(other, tried))


@given(
    seed=any_seed,
    masks=st.booleans(),
    passing=st.sampled_from([0.5, 0.9]),
    sideways=st.sampled_from([0.0, 0.3, 1.0]),
    improvements=st.integers(1, 4),
)
@settings(max_examples=25)
def test_what_is_kept_together_is_what_is_kept_one_by_one(
    seed, masks, passing, sideways, improvements
):
    case = Case(seed, "periodic", masks, not masks, passing)
    rng = np.random.default_rng(seed)
    parameters, ops = case.changes(rng, 60)
    wrong, gates = case.alone(case.ops)
    most_tried = int(rng.integers(10, 70))

    rule, plain = (
        Acceptance(np.random.default_rng(1), most_tried, wrong, gates + 0.5, sideways, improvements)
        for _ in range(2)
    )
    together = Changes(SimpleNamespace(candidates=case.candidates), case.ops)
    with patch.object(changes, "AT_ONCE", int(rng.integers(1, 65))):
        together.keep(parameters, ops, rule, ignore)
    for number, (parameter, op) in enumerate(zip(parameters.tolist(), ops.tolist(), strict=True)):
        if number and not plain.goes_on:
            break
        if op != case.ops[parameter] and plain.decide(*case.alone(case.changed(parameter, op))):
            case.ops = case.changed(parameter, op)
    assert_array_equal(together.ops, case.ops)
    assert rule.rng.random() == plain.rng.random()
    assert replace(rule, rng=None) == replace(plain, rng=None)


def test_the_first_change_that_leaves_nothing_wrong_is_found():
    case = Case(3, "periodic", True, False, 0.9)
    grid = case.simulator.grid
    shape = case.simulator.batch, len(case.channels), grid.height, grid.width
    case.script = case.simulator.script(
        2, at=(2,), targets=np.zeros(shape, np.uint8), channels=case.channels
    )
    rng = np.random.default_rng(0)
    places = []
    for size in (1, 7, 20, 3, 12, 20):
        batch = case.changes(rng, size)
        every = [case.changed(*each) for each in zip(*batch, strict=True)]
        case.alone(every[-1])
        # What the last change leads to, or what none does.
        case.script.targets[:] = case.simulator.state[case.channels] ^ (size == 3)
        alone = list(map(case.alone, every))
        first = next((place for place, (wrong, _) in enumerate(alone) if not wrong), None)
        gates = 0 if first is None else alone[first][1]
        found = case.candidates().find(*batch)
        assert found == (size if first is None else first + 1, first, gates)
        places.append(first)
    assert None in places
    assert max(filter(None, places)) > 2


def test_a_base_finds_room_for_the_values_of_changes(monkeypatch):
    """Both for changes kept one by one, and for those that a rule keeps."""
    monkeypatch.setattr(module, "SPARE_ROWS", 0)
    case = Case(5, "zero", False, True, 1.0)
    parameters = np.arange(case.netlist.parameters, dtype=np.int32)
    ops = np.full(len(parameters), Op.XOR, np.uint8)
    walking = case.candidates()
    kept = Changes(SimpleNamespace(candidates=lambda: walking), case.ops)
    rule = Acceptance(np.random.default_rng(0), 10**9, improvements=10**9)
    for place in range(len(ops)):
        rule.wrong = 10**9  # so that every change is an improvement
        next_one = slice(place, place + 1)
        kept.keep(parameters[next_one], ops[next_one], rule, ignore)
        assert kept._candidates is walking
    candidates = case.candidates()
    before = len(candidates._base.free)
    for parameter in range(case.netlist.parameters):
        case.ops = case.changed(parameter, Op.XOR)
        (wrong,), (gates,) = judge(candidates, [parameter], [Op.XOR], 10**9)
        assert (wrong, gates) == case.alone(case.ops)
        assert candidates.change(np.array([parameter], np.int32), ops[:1])
    assert len(candidates._base.free) > before
    found = [judge(judges, [0], [Op.AND], 10**9) for judges in (candidates, walking)]
    assert_array_equal(*found)


def test_a_base_that_does_not_fit_is_reported(monkeypatch):
    case = Case(5, "zero", False, True, 0.9)
    monkeypatch.setattr(module, "MOST_BYTES", 1000)
    assert not Candidates(case.simulator, case.starts, case.script).load(case.ops)
