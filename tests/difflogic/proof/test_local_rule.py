"""Rules for every size, compared with the page's checker, plain searches and plain sorting."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.ndimage import binary_dilation

from difflogic.circuit.gates import Op
from difflogic.library.loaded import load
from difflogic.library.proving import certify
from difflogic.proof.local_rule import broken
from difflogic.system.errors import CircuitError
from difflogic.tasks.flood import DEAD_ENDS, FLOOD
from difflogic.tasks.line import CANCELLING, TRAFFIC
from tests.difflogic.circuit.circuits import circuit_of
from tests.difflogic.proof.convergence.brute import all_states, step_all
from tests.paths import GALLERY

RULES = {"flood": FLOOD, "dead-ends": DEAD_ENDS, "sorting": TRAFFIC, "voting": CANCELLING}


def steps(automaton, state, count):
    """Yield states (..., 2, height, width) and their successors, zeros beyond the edge."""
    for _ in range(count):
        yield state
        states = step_all(automaton.circuit, state.reshape(-1, *state.shape[-3:]), "zero")
        state = states.reshape(state.shape)
    yield state


def test_the_learned_flood_is_a_breadth_first_search():
    side = 21
    made = load(GALLERY / "flood.json").automaton
    rng = np.random.default_rng(side)
    for _ in range(3):
        free = (rng.random((side, side)) < 0.7).astype(np.uint8)
        y, x = (int(place[0]) for place in np.nonzero(free))
        light = np.zeros_like(free)
        light[y, x] = 1
        lit = light
        for state in steps(made, np.stack([free, light]), 80):
            assert_array_equal(state, [free, lit])
            before, lit = lit, binary_dilation(lit, mask=free)
        assert (before == lit).all()
        assert (lit != free).any()


def test_the_learned_sorter_sorts_all_inputs():
    made = load(GALLERY / "sorting.json").automaton
    for length in range(2, 13):
        bits = all_states(1, 1, length)
        start = np.concatenate([np.ones_like(bits), bits], axis=1)
        *_, last = steps(made, start, length - 1)
        assert_array_equal(last[:, 1, 0], np.sort(bits[:, 0, 0]))


def test_the_learned_vote_counts_all_votes_of_short_lines():
    made = load(GALLERY / "voting.json").automaton
    for length in range(2, 8):
        votes = np.arange(3**length)[:, None] // 3 ** np.arange(length) % 3 - 1
        margin = votes.sum(1)[:, None]
        place = np.arange(length)
        start = np.stack([votes >= 0, votes <= 0], axis=1)[:, :, None].astype(np.uint8)
        *_, last = steps(made, start, 3 * (length - 1) // 2)
        wanted = np.stack([place >= -margin, place >= margin], axis=1)
        assert_array_equal(last[:, :, 0], wanted)


@pytest.mark.parametrize("name", RULES)
def test_learned_rules_are_proved_and_confirmed(name, check):
    file = GALLERY / f"{name}.json"
    assert certify(file, task=name).proved
    assert check("", name, file, checker="rule.py")[0]


def test_reasons_not_to_be_proved():
    flood, sorting = (load(GALLERY / f"{name}.json").automaton for name in ("flood", "sorting"))
    assert broken(sorting, FLOOD).endswith("of 19683 neighbourhoods break the rule")
    assert broken(flood, TRAFFIC).endswith("of 16 neighbourhoods break the rule")
    for op in (Op.FALSE, Op.TRUE):  # light goes out, and comes from nowhere
        lit = flood.with_circuit(circuit_of([(op, 0, 0)], [8, 18]))
        assert broken(lit, FLOOD).endswith("neighbourhoods break the rule")
    other = replace(flood, circuit=replace(flood.circuit, labels=(0, 2)), visible=(2,))
    assert "memory" in broken(other, FLOOD)
    for change in ({"boundary": "periodic"}, {"fire_rate": 0.5}, {"visible": (0,)}):
        assert "cells must fire together, show channel 1" in broken(replace(flood, **change), FLOOD)


def test_rules_have_a_checker_instead_of_a_certificate(tmp_path):
    with pytest.raises(CircuitError, match="a checker that takes the circuit itself"):
        certify(GALLERY / "flood.json", task="flood").save(tmp_path / "proof.json")
