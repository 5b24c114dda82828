"""The bit-packed simulator on well-known circuits, and compared with the oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.circuit.grid import Grid
from difflogic.engine.hard import hard_simulator as hard
from difflogic.engine.hard.hard_simulator import HardSimulator, active_gates, live_parameters
from difflogic.system.work import working
from difflogic.verification.case import SMALL
from tests.difflogic.circuit.circuits import reached_in_time
from tests.difflogic.engine.built import Builder
from tests.difflogic.engine.comparison import EXAMPLES, make_problem, netlist_of, problems
from tests.difflogic.evaluation.naive import rollout
from tests.examples import any_seed


def oracle_steps(problem, ops, sample, damage):
    """States after each step, with damaged cells zeroed by hand."""

    def zero(step, state):
        if damage is not None:
            state[:, damage[sample, min(step, damage.shape[1]) - 1] == 1] = 0

    masks = None if problem.masks is None else problem.masks[sample]
    start = problem.starts[sample]
    return rollout(problem, start, problem.steps, problem.grid.boundary, masks, zero, ops)


def random_ops(problem, rng):
    return rng.integers(0, 16, problem.netlist.parameters).astype(np.uint8)


@settings(max_examples=EXAMPLES)
@given(problems(), any_seed, st.booleans(), st.sampled_from([0, 1, None]))
def test_states_and_counts_agree_with_the_oracle(problem, seed, moving, damaged):
    """Without damage, with damage to the same cells after each step, or with any."""
    rng = np.random.default_rng(seed)
    netlist = problem.netlist
    grid = problem.grid
    batch = problem.batch
    steps = problem.steps
    ops = random_ops(problem, rng)
    cells = (grid.height, grid.width)
    damage = (rng.random((batch, damaged or steps, *cells)) < 0.3).astype(np.uint8)
    damage = None if damaged == 0 else damage
    ignored = (rng.random((batch, *cells) if moving else cells) < 0.3).astype(np.uint8)
    spared = np.broadcast_to(ignored, (batch, *cells))[:, None]
    channels = rng.permutation(netlist.channels)[: rng.integers(1, netlist.channels + 1)].tolist()
    at = np.flatnonzero(rng.random(steps) < 0.7) + 1
    targets = rng.integers(0, 2, (len(at), batch, len(channels), *cells))
    if not moving:
        targets = targets[:1] if len(at) else np.zeros((1, batch, len(channels), *cells))
    states = np.array([oracle_steps(problem, ops, n, damage) for n in range(batch)])

    expected = np.zeros((len(at), batch), int)
    for index, step in enumerate(at):
        target = targets[index if moving else 0]
        different = states[:, step - 1][:, channels] != target
        expected[index] = (different & (spared == 0)).sum(axis=(1, 2, 3))
    simulator = HardSimulator(netlist, grid, batch)
    for watched in (None, channels):
        simulator.load(ops, watched)
        simulator.state[:] = simulator.pack_states(problem.starts)
        script = simulator.script(
            steps,
            problem.masks,
            damage,
            at.tolist(),
            targets if moving else targets[0],
            channels,
            ignored,
        )
        assert_array_equal(simulator.run(script), expected)
    simulator.load(ops)
    found = simulator.rollout(problem.starts, steps, problem.masks, damage)
    assert_array_equal(found, states[:, -1])
    assert (found.shape, found.dtype) == (problem.starts.shape, np.uint8)


def needed_gates(netlist, ops, channels):
    """Gates that channels depend on, followed back from the outputs one by one."""
    wires = netlist.a, netlist.b, netlist.outputs, tuple(range(netlist.channels))
    rows = sorted(reached_in_time(Circuit(ops[netlist.param], *wires), channels))
    return [row - netlist.inputs for row in rows if row >= netlist.inputs]


@settings(max_examples=EXAMPLES)
@given(problems(), any_seed, st.floats(0, 1))
def test_outputs_depend_on_exactly_the_active_gates(problem, seed, passing):
    rng = np.random.default_rng(seed)
    netlist = problem.netlist
    ops = random_ops(problem, rng)
    ops[rng.random(len(ops)) < passing] = Op.A
    assert (active_gates(netlist, ops) == active_gates(netlist, ops, range(netlist.channels))).all()
    for channels in ([int(rng.integers(netlist.channels))], range(netlist.channels)):
        needed = needed_gates(netlist, ops, channels)
        active = [gate for gate in needed if ops[netlist.param[gate]] not in (Op.A, Op.B)]
        assert active_gates(netlist, ops, channels).tolist() == active
        live = np.flatnonzero(live_parameters(netlist, ops, channels))
        assert live.tolist() == sorted({*netlist.param[needed].tolist()})
        simulator = HardSimulator(netlist, problem.grid, 1)
        simulator.load(ops, channels)
        assert simulator.active_gates == len(active)


def test_running_without_a_circuit_is_refused():
    simulator = HardSimulator(netlist_of(SMALL), Grid(2, 2, "zero"), 1)
    with pytest.raises(ValueError, match="load"):
        simulator.run(simulator.script(1))


def run(simulator, ops, starts, *steps, **script):
    """Load a circuit and run a script; return wrong bits, states and what was heard."""
    heard = []
    simulator.load(ops)
    simulator.state[:] = simulator.pack_states(starts)
    with working(hear=heard.append):
        wrong = simulator.run(simulator.script(*steps, **script))
    return wrong, simulator.unpack_state(), [pause.done for pause in heard]


def test_several_calls_give_the_same_bits(monkeypatch):
    problem = make_problem(netlist_of(SMALL), Grid(5, 7, "zero"), 7, 3, 0.6)
    ops = random_ops(problem, np.random.default_rng(0))
    script = {"at": (1, 3, 4, 7), "targets": problem.starts, "channels": (0, 1, 2)}
    found = []
    for words in (hard.GATE_WORDS_PER_CALL, 1):
        monkeypatch.setattr(hard, "GATE_WORDS_PER_CALL", words)
        simulator = HardSimulator(problem.netlist, problem.grid, 3)
        found.append(run(simulator, ops, problem.starts, 7, problem.masks, **script))
    (wrong, states, heard), (wrong_in_parts, states_in_parts, calls) = found
    assert_array_equal(wrong_in_parts, wrong)
    assert_array_equal(states_in_parts, states)
    assert (heard, calls) == ([0], [0, 1, 2, 3, 4, 5, 6])


def test_a_fixed_point_is_not_run_on_but_counted(monkeypatch):
    monkeypatch.setattr(hard, "GATE_WORDS_PER_CALL", 1)
    gate = Builder(1)
    grid = Grid(6, 9, "zero")
    rng = np.random.default_rng(0)
    netlist, ops = gate.finish(gate(Op.OR, 1, 3))  # N or W: from any start, zeros after 14 steps
    starts, targets = rng.integers(0, 2, (2, 3, 1, 6, 9), np.uint8)
    starts[0, 0, 0, 0] = 1
    script = {"at": (1, 9, 30, 49), "targets": targets, "channels": (0,)}
    (short, state, calls), (long, states, all_calls) = (
        run(HardSimulator(netlist, grid, 3, kept), ops, starts, 50, **script) for kept in (2, 3)
    )
    assert_array_equal(short, long)
    assert_array_equal(state, states)
    assert not state.any()
    assert (len(calls), len(all_calls)) == (15, 50)
