"""Settling agrees with a plain run of the circuit, cell by cell."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from difflogic.circuit.specification import Cases
from difflogic.evaluation import settled
from difflogic.evaluation.circuit_test import Subject, exactness
from difflogic.evaluation.settled import MOST_TIMES, SLOWEST, lasts, settle
from difflogic.examples.pairs import Examples, Pair
from difflogic.experiment.example_ways import ways_to_learn
from tests.difflogic.circuit.circuits import automaton, circuit_of, circuits, step
from tests.examples import any_boundary


def plain(machine, start):
    """Run one start (channels, height, width) as `settle` says it does."""
    state = start
    (height, width) = start.shape[1:]
    share = max(1.0, max(height, width) / max(machine.height, machine.width))
    for _ in range(MOST_TIMES * round(machine.steps * share) + SLOWEST * max(height, width)):
        following = step(machine.circuit, state, machine.boundary)
        if (following == state).all():
            return state, True
        state = following
    return state, False


@example(circuit_of([], [15, 15]), 0, (3, 4), "periodic")
@given(
    circuit=circuits(),
    seed=st.integers(0, 10**6),
    size=st.tuples(st.integers(1, 4), st.integers(1, 12)),
    boundary=any_boundary,
)
def test_a_circuit_runs_until_it_rests(circuit, seed, size, boundary):
    machine = automaton(circuit, boundary=boundary, steps=2)
    start = np.random.default_rng(seed).integers(0, 2, (2, *size), dtype=np.uint8)
    expected, rests = plain(machine, start)
    found = settle(machine, start[None])
    assert found.rests == rests
    assert (found.shown[0] == expected).all()


def test_right_pairs_are_counted_by_part():
    """Cells are told this, another, inside; the fourth channel becomes what the rule says."""
    rows = ["0010>0100", "020>200", "00030>00300", "01000>10000"]
    pairs = tuple(map(Pair.parse, rows))
    config = ways_to_learn(Examples(tuple("0123"), pairs[:3], pairs[3:]))[1].config
    held = [16, 17, 18]
    visible = (3,)
    nothing = {"training": (0, 3), "held out": (0, 1)}
    shift = automaton(circuit_of([], [*held, 20]), visible=visible)
    still = automaton(circuit_of([], [*held, 16]), visible=visible)
    for made, right in ((shift, {"training": (3, 3), "held out": (1, 1)}), (still, nothing)):
        assert exactness(Subject(made, config, 0))["right_pairs"] == right


@pytest.mark.parametrize(
    ("pairs", "target", "kept"),
    [
        (None, [0, 0], True),
        (None, [0, 1], False),
        (None, [0, np.nan], True),
        ({"training": (2, 2)}, [1, 1], True),
        ({"training": (1, 2)}, [0, 0], False),
    ],
)
def test_what_lasts_is_right_in_each_case_or_pair(pairs, target, kept, monkeypatch):
    monkeypatch.setattr(settled, "right_pairs", lambda machine, task: pairs)
    starts = np.zeros((2, 1, 1, 1), np.uint8)
    cases = Cases("two", starts, np.array(target, float).reshape(2, 1, 1, 1), "zero", 1, "")
    assert lasts(automaton(circuit_of([], [4])), None, cases) is kept
