"""Smaller circuits stay within the limits, and keep the proofs that these come from."""

import itertools
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.grid import Walls
from difflogic.circuit.hard_netlist import hard_circuit, netlist_of
from difflogic.circuit.soft_circuit import SoftCircuit
from difflogic.config import load_config
from difflogic.engine.hard.hard_simulator import active_gates
from difflogic.engine.kernels import rewiring
from difflogic.engine.workers import Workers
from difflogic.evaluation.exactness import answer_about
from difflogic.evaluation.judge import Judge
from difflogic.evaluation.toughness import Toughness
from difflogic.model.model import Model
from difflogic.proof.answer import Answer
from difflogic.proof.convergence import sets
from difflogic.proof.convergence.limits import Limits
from difflogic.proof.convergence.planes import Board, Network
from difflogic.search.finisher import SearchContext
from difflogic.search.rewirer import Rewirer, load_kernels, rebuilt, rewire
from difflogic.search.searches import search_for
from difflogic.tasks import make_task
from tests.difflogic.circuit.rules import random_circuit
from tests.difflogic.library.test_signals import tough_checkerboard
from tests.marks import compiled

CHANNELS = 2


def next_sets(circuit: Circuit, values: list[set[int]]) -> list[set[int]]:
    """The sets of the next state, gate by gate, from all pairs of members."""
    values = list(values)
    for op, a, b in zip(circuit.op.tolist(), circuit.a.tolist(), circuit.b.tolist(), strict=True):
        pairs = itertools.product(values[a], values[b])
        values.append({op >> 3 - 2 * x - y & 1 for x, y in pairs})
    return [values[row] for row in circuit.outputs]


def cases_of(limits: Limits) -> list[tuple[list[set[int]], list[set[int]]]]:
    """Each case's neighbourhood, and the sets that the next state must lie in."""
    inputs, refused = limits.planes
    bits = [
        np.unpackbits(planes.view(np.uint8), axis=-1, bitorder="little").astype(bool)
        for planes in (inputs, ~refused)
    ]

    def members(planes: np.ndarray, case: int) -> list[set[int]]:
        return [{bit for bit, side in ((1, 0), (0, 1)) if row[side, case]} for row in planes]

    return [
        (members(bits[0], case), members(bits[1], case))
        for case in np.flatnonzero(bits[0].any(axis=(0, 1)))
    ]


def test_limits_are_the_neighbourhoods_of_a_run_on_sets() -> None:
    """Each, and no other, with the next sets by hand."""
    rng = np.random.default_rng(3)
    circuit = random_circuit(rng, CHANNELS, 12)
    board = Board(3, 5, Walls((3,), (2, 3)))
    limits = Limits(CHANNELS)
    expected = set()
    states = list(sets.descend(Network(circuit), board))
    for before, after in zip(states, [*states[1:], states[-1]], strict=True):
        limits.add_step(board, board.shown.full, before, after)
        shown = sets.as_array(board, before)
        for y, x in np.ndindex(3, 5):
            seen = []
            for dy, dx in itertools.product((-1, 0, 1), repeat=2):
                down = y + dy
                right = x + dx
                inside = 0 <= down < 3 and 0 <= right < 5 and (right < 2) == (x < 2)
                seen += shown[:, down, right].tolist() if inside else [0] * CHANNELS
            expected.add(tuple(seen))
    found = cases_of(limits)
    numbers = {(0,): 0, (1,): 1, (0, 1): sets.UNKNOWN}
    assert {tuple(numbers[tuple(sorted(each))] for each in case) for case, _ in found} == expected
    assert all(next_sets(circuit, case) == following for case, following in found)


@pytest.mark.parametrize("seed", range(4))
def test_a_smaller_circuit_keeps_the_limits(seed: int) -> None:
    """With the same gates at any number of workers."""
    rng = np.random.default_rng(seed)
    circuit = random_circuit(rng, CHANNELS, 60)
    limits = Limits(CHANNELS)
    board = Board(4, 4, "zero")
    states = list(sets.descend(Network(circuit), board))
    limits.add_step(board, board.shown.full, states[0], states[min(1, len(states) - 1)])
    starts = rng.integers(0, 2, (9, CHANNELS, 4, 4)).astype(np.uint8)
    targets = rng.choice([0.0, 1.0, np.nan], starts.shape)
    limits.add_lessons(starts, targets)
    made = []
    for count in (1, 2, 3):
        with Workers(count) as workers:
            drawn = np.random.default_rng(seed)
            made.append(rewire(circuit, limits, workers, drawn, 2**15))
    small = made[0]
    for other in made[1:]:
        assert other.lists == small.lists
        assert other.outputs.tolist() == small.outputs.tolist()
    assert small.active_gates < circuit.active_gates
    for case, wanted in cases_of(limits):
        pairs = zip(next_sets(circuit, case), next_sets(small, case), wanted, strict=True)
        for before, after, most in pairs:
            # Limits that the circuit does not keep are lifted value by value.
            assert after <= most | before


@compiled
def test_what_is_compiled_before_is_what_rewiring_calls() -> None:
    load_kernels()
    test_a_smaller_circuit_keeps_the_limits(0)
    assert len(rewiring.load.signatures) == len(rewiring.rewire.signatures) == 1


def test_a_rebuilt_model_is_its_circuit() -> None:
    config = load_config("checkerboard-tough")
    circuit = tough_checkerboard().circuit  # of six channels
    made = rebuilt(Model.create(config), circuit)
    states = np.random.default_rng(0).integers(0, 2, (9 * 8, 200), dtype=np.uint8)
    mine = hard_circuit(made.netlist, made.ops).next_state(states)
    netlist, ops = netlist_of(circuit, 8)
    np.testing.assert_array_equal(mine, hard_circuit(netlist, ops).next_state(states))


@pytest.mark.thorough
def test_a_tough_circuit_is_finished_by_a_smaller_one() -> None:
    """Of the rule by hand, in place of a trained circuit; one of noise is left."""
    config = load_config("checkerboard-tough", ["finishing.polish=65536"])
    start = rebuilt(Model.create(config), tough_checkerboard().circuit)
    task = make_task(config)

    def certify(circuit: SoftCircuit) -> Answer:
        return answer_about(Model.of(circuit, config))

    context = SearchContext(start, config.problem, 1, certify, Judge, Toughness)
    rewirer = search_for(context)
    assert isinstance(rewirer, Rewirer)
    found = rewirer.finish(start.logits.T, np.random.default_rng(0))
    polished = rewirer.polish(found, np.random.default_rng(0)).polished
    made = rewirer.complete(start)
    again = search_for(replace(context, workers=2)).complete(start)
    noise = np.random.default_rng(1).random(start.logits.T.shape)
    left = rewirer.finish(noise, np.random.default_rng(0))
    ordered = Mock(confinement=Mock(in_any_order=False))
    refused = replace(context, certify=lambda circuit: ordered)
    assert not search_for(refused).finish(start.logits.T, Mock()).exact
    assert found.exact
    assert found.wrong_fresh == 0
    assert polished is not None
    assert polished.after.gates == len(active_gates(made.netlist, made.ops, (0,)))
    assert polished.after.gates < polished.before.gates
    assert Toughness(made.netlist, task, 0).confines(made.ops)
    np.testing.assert_array_equal(again.ops, made.ops)
    assert not left.exact
    assert left.wrong > 0
