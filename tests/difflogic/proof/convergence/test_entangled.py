"""Trained circuits whose channels are mixed up, so that sets of single values are too coarse."""

from __future__ import annotations

import numpy as np
import pytest

from difflogic.proof.convergence import Method, Verdict, decide
from difflogic.proof.convergence.orbits import random_starts
from difflogic.proof.convergence.planes import unpack
from tests.difflogic.circuit.circuits import step
from tests.difflogic.proof.convergence.trained import NAMES, entangled, question, trained


@pytest.mark.parametrize("name", NAMES)
def test_trained_circuits_are_certified(name: str) -> None:
    found = decide(question(trained(name)))
    assert (found.verdict, found.method) == (Verdict.proved, Method.sets)
    assert found.any_schedule


@pytest.mark.parametrize(
    ("name", "one", "other"), [("checkerboard-seed-3", 0, 4), ("checkerboard-seed-2", 0, 7)]
)
def test_the_next_method_decides(name: str, one: int, other: int) -> None:
    automaton = trained(name)
    asked = question(automaton.with_circuit(entangled(automaton.circuit, one, other)))
    found = decide(asked, 60)
    assert (found.verdict, found.method) == (Verdict.proved, Method.sat)
    assert not found.any_schedule
    assert found.from_step is not None
    for seed in range(3):  # what is proved is true
        state = unpack(asked.board, random_starts(asked.board, asked.circuit.channels, seed))
        for _ in range(found.from_step):
            state = step(asked.circuit, state, "zero")
        assert (state[list(asked.shown)] == asked.target).all()


def test_an_asynchronous_circuit_is_not_proved_by_what_needs_all_cells_at_once() -> None:
    automaton = trained("checkerboard-seed-2")
    mixed = automaton.with_circuit(entangled(automaton.circuit, 0, 7))
    asked = question(mixed)
    found = decide(type(asked)(asked.circuit, asked.visible, 8, 8, "zero", asked.target, False), 60)
    assert found.verdict is Verdict.open
    assert found.unknown_cells == int((found.known > 1).any(axis=0).sum())
    assert np.isin(found.known[found.known < 2], (0, 1)).all()
