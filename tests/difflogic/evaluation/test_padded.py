"""What is proved of longer lines agrees with plain runs on lines that are longer still."""

import re
from dataclasses import replace

import numpy as np
import pytest

from difflogic.evaluation.padded import MOST, _repeats, prove_padded
from difflogic.evaluation.settled import settle
from difflogic.examples.encoding import Encoding, apply_rule
from difflogic.examples.pairs import Pair
from difflogic.proof.verdict import Verdict
from difflogic.system.deadline import NEVER, Deadline
from tests.difflogic.circuit.circuits import automaton, circuit_of

ENCODING = Encoding(("0", "1"), 0, ("this", "inside"), ("this",))
CHANNELS = 4


def applied(machine, grid, encoding=ENCODING, channels=CHANNELS):
    """What a rule makes of a line."""
    (found,) = apply_rule(encoding, channels, [grid], lambda starts: settle(machine, starts).shown)
    return found


def random_rule(seed):
    """A random circuit that keeps what cells are told, and examples that it gets right."""
    rng = np.random.default_rng(seed)
    rows = [*range(3 * CHANNELS, 6 * CHANNELS)]  # of the cell, and of those beside it
    gates = []
    for _ in range(rng.integers(1, 7)):
        gates.append((int(rng.integers(1, 15)), *rng.choice(rows, 2).tolist()))
        rows.append(9 * CHANNELS + len(gates) - 1)
    held = [4 * CHANNELS, 4 * CHANNELS + 1]
    circuit = circuit_of(gates, [*held, rows[-1], int(rng.choice(rows))])
    sizes = {"width": int(rng.integers(5, 30)), "steps": int(rng.integers(1, 5))}
    machine = automaton(circuit, visible=(2,), boundary="zero", height=1, **sizes)
    lines = (rng.integers(0, 2, (1, width), np.uint8) for width in (3, 5))
    return machine, ENCODING, CHANNELS, [Pair(line, applied(machine, line)) for line in lines]


def check(machine, encoding, channels, pairs):
    """Prove or refute, and run lines that are longer still."""
    found = prove_padded(machine, encoding, channels, pairs)

    def right(pair, sides):
        before, after = (np.pad(grid, ((0, 0), sides)) for grid in (pair.before, pair.after))
        return np.array_equal(applied(machine, before, encoding, channels), after)

    if found.verdict == Verdict.refuted:
        number, *sides = map(int, re.findall(r"\d+", found.text))
        assert not right(pairs[number - 1], sides)
    if found.verdict == Verdict.proved:
        for sides in ((MOST + 1, 0), (2, MOST + 1), (MOST + 5, MOST + 9), (1, 150), (99, 3)):
            assert all(right(pair, sides) for pair in pairs)
    return found.verdict


@pytest.mark.parametrize(
    ("changes", "repeats"),
    [
        ([1, 2, 3, 4, 5, 6, 7, 8], True),
        ([5, 7, 9, 13, 4, 12, 6, 3], True),  # the third cell follows as the second does
        ([5, 7, 14, 13, 9, 12, 6, 3], False),  # one cell follows, and the next does not
        ([5, 7, 9, 1, 4, 12, 6, 3], False),  # a cell further outside does not wait for two steps
        ([5, 7, 9, 13, 4, 12, 6, 2], False),
    ],
)
def test_what_shows_that_more_cells_do_the_same(changes, repeats):
    """Each cell changes once, at a step."""
    history = np.arange(20)[:, None] >= np.array(changes)
    assert _repeats(history.astype(np.uint8)[:, None, None]) is repeats


@pytest.mark.once
def test_verdicts_hold_on_longer_lines():
    verdicts = [check(*random_rule(seed)) for seed in range(70)]
    assert min(verdicts.count(each) for each in Verdict) > 2


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(1000, 3000, 500))
def test_many_rules(first):
    for seed in range(first, first + 500):
        check(*random_rule(seed))


def test_a_slow_front_crosses_long_lines():
    """What is proved of any length is so as `apply` runs it, which ends long runs."""
    moves = circuit_of([], [8, 7])
    machine = automaton(moves, visible=(1,), boundary="zero", height=1, width=24, steps=2)
    encoding = Encoding(("0", "1"), 0, ("this",), ("this",))
    pair = Pair.parse("0" * 23 + "1>" + "0" * 24)
    assert check(machine, encoding, 2, [pair]) == Verdict.proved
    plane = Pair(np.zeros((2, 3), np.uint8), np.zeros((2, 3), np.uint8))
    for reason, *asked in (
        ("only lines are tried", machine, [pair, plane], NEVER),
        ("only lines with zeros beyond", replace(machine, boundary="periodic"), [pair], NEVER),
        ("the time was up", machine, [pair], Deadline.after(0)),
    ):
        made, pairs, stop = asked
        found = prove_padded(made, encoding, 2, pairs, stop)
        assert found.verdict == Verdict.open
        assert reason in found.text
