"""Candidates are judged like circuits that are simulated on their own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.circuit.gates import OPS, Op
from difflogic.circuit.netlist import Architecture, flatten, wire
from difflogic.engine import bases
from difflogic.engine import candidates as candidates_module
from difflogic.engine.candidates import Candidates, Helper, Walk
from difflogic.engine.hard import HardSimulator
from difflogic.engine.kernels import candidates as k
from difflogic.engine.layout import Grid
from difflogic.engine.workers import Workers
from difflogic.system.callbacks import ignore

OPS_TO_TRY = [Op.A, Op.B, Op.XOR, Op.AND, Op.TRUE]
ARCHITECTURE = Architecture(channels=3, kernels=2, perception=(8, 4, 2), update=(16, 16, 8, 6, 3))


def some_ops(netlist, rng, passing):
    """Random ops. The share `passing` of the gates passes an input on, as in trained circuits."""
    ops = rng.integers(0, OPS, netlist.parameters).astype(np.uint8)
    return np.where(
        rng.random(netlist.parameters) < passing, rng.choice([Op.A, Op.B], netlist.parameters), ops
    ).astype(np.uint8)


class Case:
    """A base circuit with a batch and a script."""

    def __init__(self, seed, boundary, masks, damage, passing, size=None):
        """`size` is height, width and batch; by default they are drawn."""
        rng = np.random.default_rng(seed)
        self.netlist = flatten(wire(ARCHITECTURE, rng))
        height, width = rng.integers(1, 9, 2).tolist()
        batch, steps = int(rng.integers(1, 7)), int(rng.integers(1, 6))
        height, width, batch = size or (height, width, batch)
        self.channels = sorted(rng.choice(3, int(rng.integers(1, 3)), replace=False).tolist())
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

    def candidates(self, team=None):
        """Candidates with this case's circuit as their base."""
        candidates = Candidates(self.simulator, self.starts, self.script, team or Workers(1))
        assert candidates.set_base(self.ops)
        return candidates

    def changes(self, rng, count):
        """Draw changes: parameters, and an op for each."""
        parameters = rng.integers(0, self.netlist.parameters, count).astype(np.int32)
        return parameters, rng.choice(OPS_TO_TRY, count).astype(np.uint8)


def judge(candidates, parameters, ops, limit, stop=-1):
    """Judge each change; return wrong bits and gates, the latter only up to `limit` wrong bits.

    They end with the first change that leaves at most `stop` wrong bits.
    """
    fields, size = np.zeros(k.WALK_FIELDS, np.int64), len(ops)
    fields[k.END] = size
    changes = np.asarray(parameters, np.int32), np.asarray(ops, np.uint8)
    any_gates = np.array([np.inf, 0.0])
    with candidates._shared(any_gates, *changes, limit, stop=stop) as job:
        while not candidates._lead(job, fields, any_gates):
            assert candidates._base.find_room()
    judged = np.arange(size if fields[k.HIT] == k.NO_HIT else fields[k.HIT] + 1)
    by = job.result_versions.reshape(job.workers, size)[:, : len(judged)].argmax(axis=0)
    return job.results.reshape(job.workers, size, 2)[by, judged].T


def compare(case, candidates, pairs, limit):
    """Compare each change with a simulation of its circuit, up to the limit."""
    found = judge(candidates, *zip(*pairs, strict=True), limit)
    for (parameter, op), *judged in zip(pairs, *found, strict=True):
        alone = case.alone(case.changed(parameter, op))
        assert tuple(judged) == alone or (judged[0] > limit and alone[0] > limit)


@pytest.mark.thorough
@given(
    seed=st.integers(0, 2**32),
    boundary=st.sampled_from(["zero", "periodic"]),
    masks=st.booleans(),
    damage=st.booleans(),
    passing=st.sampled_from([0.0, 0.5, 0.9]),
)
@settings(max_examples=20)
def test_every_change_is_judged_like_its_circuit_alone(seed, boundary, masks, damage, passing):
    case = Case(seed, boundary, masks, damage, passing)
    pairs = [(p, op) for p in range(case.netlist.parameters) for op in range(OPS)]
    rng = np.random.default_rng(seed)
    pairs = [pairs[i] for i in rng.choice(len(pairs), 40, replace=False)]
    candidates = case.candidates()
    for limit in (10**9, case.alone(case.ops)[0]):
        compare(case, candidates, pairs, limit)


@pytest.mark.parametrize(
    ("size", "words", "block"), [((16, 16, 5), 24, 8), ((8, 16, 9), 24, 8), ((9, 16, 5), 16, 16)]
)
def test_blocks_of_whole_samples_change_no_result(size, words, block):
    assert bases.find_block(size[0] * size[1], words) == block
    case = Case(7, "periodic", True, True, 0.1, size)
    candidates = case.candidates()
    pairs = [(p, op) for p in range(0, case.netlist.parameters, 3) for op in (1, 6, 9)]
    wrong, _ = case.alone(case.ops)
    for limit in (10**9, wrong):
        compare(case, candidates, pairs, limit)


@pytest.mark.parametrize("workers", [1, 3])
def test_judging_ends_with_the_first_change_that_suffices(workers):
    case = Case(11, "periodic", True, False, 0.7)
    pairs = [(p, op) for p in range(case.netlist.parameters) for op in (0, 6, 9)]
    with Workers(workers) as team:
        candidates = case.candidates(team)
        every, _ = judge(candidates, *zip(*pairs, strict=True), 10**9)
        for stop in sorted(set(every.tolist())):
            some, _ = judge(candidates, *zip(*pairs, strict=True), 10**9, stop)
            first = np.flatnonzero(every <= stop)[0]
            np.testing.assert_array_equal(some, every[: first + 1])


@given(
    seed=st.integers(0, 2**32),
    boundary=st.sampled_from(["zero", "periodic"]),
    masks=st.booleans(),
    passing=st.sampled_from([0.5, 0.9]),
)
@settings(max_examples=10)
def test_a_base_takes_over_changes_one_by_one(seed, boundary, masks, passing):
    case = Case(seed, boundary, masks, not masks, passing)
    rng = np.random.default_rng(seed)
    candidates = case.candidates()
    for _ in range(2 * bases.TIDY + 2):
        parameter, other = rng.integers(0, case.netlist.parameters, 2).tolist()
        op, tried = rng.choice(OPS_TO_TRY, 2).tolist()
        case.ops = case.changed(parameter, op)
        assert candidates.change_base([parameter], [op])
        found = judge(candidates, [other], [tried], 10**9)
        assert tuple(int(array[0]) for array in found) == case.alone(case.changed(other, tried))


@given(
    seed=st.integers(0, 2**32),
    masks=st.booleans(),
    passing=st.sampled_from([0.5, 0.9]),
    sideways=st.sampled_from([0.0, 0.3, 1.0]),
    improvements=st.integers(1, 4),
)
@settings(max_examples=25)
def test_a_walk_equals_its_decisions_one_by_one(seed, masks, passing, sideways, improvements):
    case = Case(seed, "periodic", masks, not masks, passing)
    rng = np.random.default_rng(seed)
    parameters, ops = case.changes(rng, 60)
    wrong, gates = case.alone(case.ops)
    most_tried = int(rng.integers(10, 70))

    def begun():
        draws = np.random.default_rng(1).random(60)
        return Walk(wrong, improvements, most_tried, gates + 0.5, sideways, draws)

    candidates = case.candidates()
    walk, changed = begun(), case.ops.copy()
    while walk.goes_on and walk.place < 60:
        first = walk.place
        kept, fits = candidates.walk(parameters[first:], ops[first:], walk, ignore)
        assert fits
        for place in first + kept:
            changed[parameters[place]] = ops[place]

    plain = begun()
    for parameter, op in zip(parameters.tolist(), ops.tolist(), strict=True):
        if not plain.goes_on:
            break
        plain.place += 1
        if op != case.ops[parameter] and plain.decide(*case.alone(case.changed(parameter, op))):
            case.ops = case.changed(parameter, op)
    np.testing.assert_array_equal(changed, case.ops)
    for field in ("wrong", "improvements", "tried", "drawn", "place"):
        assert getattr(walk, field) == getattr(plain, field)


class StepByStep:
    """Makes helpers work only when the test says so, one at a time and without threads."""

    def __init__(self, monkeypatch):
        monkeypatch.setattr(candidates_module, "WORTH", 0.0)
        monkeypatch.setattr(Helper, "call", lambda helper, *call: self.calls.append((helper, call)))
        self.calls, self.judged = [], 0

    def help(self):
        """Let each helper do all that it can now; count what it has judged."""
        for helper, (ops, job, chances) in self.calls:
            helper._help(ops, job, chances)
            self.judged += np.count_nonzero(job.result_versions[len(job.ops) :])


@pytest.mark.parametrize(("workers", "seed"), [(2, 0), (2, 1), (4, 2), (4, 3)])
def test_a_walk_is_the_same_with_any_helpers(workers, seed, monkeypatch):
    """Helpers follow the kept changes, and judge the next ones ahead."""
    monkeypatch.setattr(candidates_module, "AT_ONCE", 5)
    monkeypatch.setattr(bases, "TIDY", 4)
    case = Case(seed, "periodic", seed % 2 == 0, seed % 3 == 0, [0.5, 0.9][seed % 2])
    rng = np.random.default_rng(seed)
    parameters, ops = case.changes(rng, 80)
    wrong, gates = case.alone(case.ops)
    found = []
    for team in (Workers(1), Workers(workers)):
        helpers = StepByStep(monkeypatch)
        walk = Walk(wrong, 9, 70, gates + 0.5, 0.6, np.random.default_rng(1).random(80))
        candidates = case.candidates(team)
        kept, fits = candidates.walk(parameters, ops, walk, helpers.help)
        assert fits
        assert (helpers.judged > 0) == (team.count > 1)
        after = judge(candidates, [0], [Op.AND], 10**9)
        found.append((kept.tolist(), walk.wrong, walk.tried, walk.place, walk.drawn, *after))
    assert found[0] == found[1]
    assert found[0][0]


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_batches_together_have_the_same_hits_as_one_by_one(workers, monkeypatch):
    case = Case(3, "periodic", True, False, 0.9)
    grid = case.simulator.grid
    shape = case.simulator.batch, len(case.channels), grid.height, grid.width
    case.script = case.simulator.script(
        2, at=(2,), targets=np.zeros(shape, np.uint8), channels=case.channels
    )
    case.alone(case.ops)
    # The targets are the circuit's own result, so that changes without effect are hits.
    case.script.packed.targets[:] = case.simulator.state[case.channels]
    assert case.alone(case.ops)[0] == 0
    rng = np.random.default_rng(0)
    batches = [
        (rng.integers(0, case.netlist.parameters, size), rng.integers(0, OPS, size))
        for size in (1, 7, 20, 3, 12, 20)
    ]
    helpers = StepByStep(monkeypatch)
    candidates = case.candidates(Workers(workers))
    most = case.alone(case.ops)[1]
    expected, tried = [], 0
    for number, batch in enumerate(batches):
        wrong, gates = judge(candidates, *batch, 0, 0)
        tried += len(wrong)
        if wrong[-1] == 0 and gates[-1] <= most:
            expected.append((number, tried, len(wrong) - 1, gates[-1]))
            tried = 0
    assert len(expected) > 1
    helpers.calls.clear()
    rounds, found = candidates.rounds(batches, most), []
    for each in rounds:
        helpers.help()
        found.append(tuple(each))
    assert found[:-1] == expected
    assert found[-1] == (len(batches) - 1, tried, None, 0)
    assert (helpers.judged > 0) == (workers > 1)


def test_an_exception_of_a_helper_is_raised(monkeypatch):
    monkeypatch.setattr(candidates_module, "WORTH", 0.0)
    case = Case(5, "zero", False, True, 0.9)

    def fail(helper, *call):
        raise ValueError("no more")

    monkeypatch.setattr(Helper, "_help", fail)
    with Workers(2) as team:
        candidates = case.candidates(team)
        judge(candidates, [0], [1], 10**9)
        (helper,) = candidates._helpers
        helper._running.exception(timeout=60)
        with pytest.raises(ValueError, match="no more"):
            judge(candidates, [0], [1], 10**9)


def test_a_base_finds_room_for_the_values_of_changes(monkeypatch):
    """Both for changes kept one by one, and in a walk that keeps all."""
    monkeypatch.setattr(bases, "SPARE", 0)
    case = Case(5, "zero", False, True, 1.0)
    parameters = np.arange(case.netlist.parameters, dtype=np.int32)
    ops = np.full(len(parameters), Op.XOR, np.uint8)
    walking = case.candidates()
    walk = Walk(10**9, 10**9, 10**9, 10**9, 1.0, np.zeros(len(ops)))
    while walk.place < len(ops):
        walk.wrong = 10**9  # so that every change is an improvement
        next_one = slice(walk.place, walk.place + 1)
        assert walking.walk(parameters[next_one], ops[next_one], walk, ignore)[1]
    candidates = case.candidates()
    before = len(candidates._base._base.free)
    for parameter in range(case.netlist.parameters):
        case.ops = case.changed(parameter, Op.XOR)
        (wrong,), (gates,) = judge(candidates, [parameter], [Op.XOR], 10**9)
        assert (wrong, gates) == case.alone(case.ops)
        assert candidates.change_base([parameter], [Op.XOR])
    assert len(candidates._base._base.free) > before
    found = [judge(judges, [0], [Op.AND], 10**9) for judges in (candidates, walking)]
    np.testing.assert_array_equal(*found)


def test_a_base_that_does_not_fit_is_reported(monkeypatch):
    case = Case(5, "zero", False, True, 0.9)
    monkeypatch.setattr(candidates_module, "MOST_BYTES", 1000)
    candidates = Candidates(case.simulator, case.starts, case.script, Workers(1))
    assert not candidates.set_base(case.ops)
