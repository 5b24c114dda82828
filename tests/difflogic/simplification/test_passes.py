"""Every stage keeps every next state and adds no gate."""

import numpy as np
import pytest
from hypothesis import given, settings

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.proof import decide_equality
from difflogic.simplification import EFFORTS, EffortLimits, simplify
from difflogic.system.deadline import Deadline
from difflogic.system.jit import JIT
from tests.difflogic.circuit.circuits import (
    automaton_of,
    circuit_of,
    circuits,
    deep_circuit,
    same_next_states,
    step,
)
from tests.difflogic.system.clocks import Clock
from tests.examples import examples
from tests.marks import compiled

BRIEF = EffortLimits(2, (4, 6), 10, 9, 300, 1) if JIT else EffortLimits(1, (4,), 1, 9, 3, 1)
"""All stages, each short."""

NO_SEARCH = EffortLimits(0, (), 0, 0, 0, 0)


@settings(max_examples=8)
@given(circuits())
def test_every_stage_keeps_every_next_state(circuit: Circuit) -> None:
    found = simplify(automaton_of(circuit), BRIEF)
    assert found.stages[0].circuit is circuit
    assert found.circuit is found.stages[-1].circuit
    assert found.automaton.visible == (0,)
    sizes = [stage.circuit.gates for stage in found.stages]
    assert sizes == sorted(sizes, reverse=True)
    for stage in found.stages[1:]:
        assert same_next_states(circuit, stage.circuit)


@settings(max_examples=4)
@given(circuits())
def test_simplifying_is_reproducible_and_a_second_time_no_larger(circuit: Circuit) -> None:
    once, twice = (simplify(automaton_of(circuit), BRIEF).circuit for _ in range(2))
    for name in ("op", "a", "b", "outputs"):
        assert getattr(once, name).tolist() == getattr(twice, name).tolist()
    again = simplify(automaton_of(once), BRIEF).circuit
    assert again.gates <= once.gates
    assert same_next_states(circuit, again)


@settings(max_examples=5)
@given(circuits(channels=3, fewest=10, most=60))
def test_many_inputs_are_searched_in_windows(circuit: Circuit) -> None:
    effort = EffortLimits(1, (3,), 10, 0, 0, 0)
    found = simplify(automaton_of(circuit, (0, 1)), effort).circuit
    rng = np.random.default_rng(2)
    cases = rng.integers(0, 2**64, (27, 50), np.uint64)
    kept = list(found.labels)
    rows = [3 * neighbor + channel for neighbor in range(9) for channel in kept]
    assert (circuit.next_state(cases)[kept] == found.next_state(cases[rows])).all()


@pytest.mark.once
@compiled
@pytest.mark.parametrize(
    ("gates", "most"),
    [
        # absorption, a ∧ (a ∨ b)
        ([(Op.OR, 0, 1), (Op.AND, 0, 9)], 0),
        # distributivity, (a ∧ b) ∨ (a ∧ c)
        ([(Op.AND, 0, 1), (Op.AND, 0, 2), (Op.OR, 9, 10)], 2),
        # XOR of ANDs, (a ∧ ¬b) ∨ (¬a ∧ b)
        ([(Op.A_AND_NOT_B, 0, 1), (Op.NOT_A_AND_B, 0, 1), (Op.OR, 9, 10)], 1),
        # a multiplexer of equal choices, (a ∧ b) ∨ (¬a ∧ b)
        ([(Op.AND, 0, 1), (Op.NOT_A_AND_B, 0, 1), (Op.OR, 9, 10)], 0),
        # observability, a ∧ (a ⊕ b)
        ([(Op.XOR, 0, 1), (Op.AND, 0, 9)], 1),
        # (a ⊕ b) ⊕ (a ⊕ c)
        ([(Op.XOR, 0, 1), (Op.XOR, 0, 2), (Op.XOR, 9, 10)], 1),
        # the majority takes four gates
        ([(Op.AND, 0, 1), (Op.AND, 0, 2), (Op.AND, 1, 2), (Op.OR, 9, 10), (Op.OR, 11, 12)], 4),
    ],
)
def test_known_laws(gates: list[tuple[int, int, int]], most: int) -> None:
    circuit = circuit_of(gates, [9 + len(gates) - 1])
    assert simplify(automaton_of(circuit), EFFORTS["normal"]).circuit.gates == most


def test_a_search_out_of_time_keeps_what_it_has() -> None:
    gates = [(Op.AND, 0, 2), (Op.AND, 2, 0), (Op.XOR, 18, 19), (Op.OR, 18, 20)]
    automaton = automaton_of(circuit_of(gates, [21, 0]))
    found = simplify(automaton, EFFORTS["normal"], deadline=Deadline.after(0))
    assert found.stopped
    assert found.circuit.labels == (0,)
    assert found.circuit.gates == 1
    assert not simplify(automaton, BRIEF).stopped


def test_a_deadline_at_any_point_leaves_a_correct_circuit() -> None:
    circuit = deep_circuit(400, channels=2)
    for looks in range(0, 300, 60):
        clock = Clock(most=looks)
        found = simplify(automaton_of(circuit, (0, 1)), EFFORTS["normal"], deadline=clock)
        proof = decide_equality(circuit, found.circuit, (0, 1))
        assert proof.equal
        assert found.stopped == (clock.looks > looks)


def test_a_channel_that_cancels_out_is_dropped() -> None:
    # Channel 1 cancels out of channel 0's next state, and is read only by its own.
    circuit = circuit_of(
        [(Op.XOR, 0, 1), (Op.XOR, 18, 1), (Op.NOT_A, 1, 1)], [19, 20], labels=(4, 7)
    )
    found = simplify(automaton_of(circuit, (4,)), BRIEF)
    assert found.circuit.labels == (4,)
    assert found.circuit.gates == 0


@examples(30)
@given(circuits(channels=3, most=10))
def test_dropping_keeps_the_future_of_visible_channels(circuit: Circuit) -> None:
    found = simplify(automaton_of(circuit, (1,)), NO_SEARCH).circuit
    assert 1 in found.labels
    rng = np.random.default_rng(3)
    state = rng.integers(0, 2, (3, 5, 5)).astype(bool)
    other = state[list(found.labels)]
    for _ in range(4):
        state, other = (step(*each, "periodic") for each in ((circuit, state), (found, other)))
        assert (state[list(found.labels)] == other).all()
