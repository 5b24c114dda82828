"""What is proved of longer lines agrees with plain runs on lines that are longer still."""

import re

import numpy as np

from difflogic.evaluation.padding import MOST, prove_padded
from difflogic.evaluation.settling import settle
from difflogic.examples.encoding import Encoding, apply_rule
from difflogic.examples.pairs import Pair
from difflogic.proof.convergence import Verdict
from tests.difflogic.circuit.circuits import automaton, circuit_of

ENCODING = Encoding(("0", "1"), 0, ("this", "inside"), ("this",))
CHANNELS = 4


def applied(machine, grid):
    """What a rule makes of a line."""
    (found,) = apply_rule(ENCODING, CHANNELS, [grid], lambda starts: settle(machine, starts).shown)
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
    machine = automaton(circuit, visible=(2,), boundary="zero", height=1, width=5)
    lines = (rng.integers(0, 2, (1, width), np.uint8) for width in (3, 5))
    return machine, [Pair(line, applied(machine, line)) for line in lines]


def test_verdicts_hold_on_longer_lines():
    verdicts = []
    for seed in range(70):
        machine, pairs = random_rule(seed)
        found = prove_padded(machine, ENCODING, CHANNELS, pairs)
        verdicts.append(found.verdict)
        if found.verdict is Verdict.refuted:
            number, *sides = map(int, re.findall(r"\d+", found.text))
            (pair,) = pairs[number - 1 : number]
            wide = [np.pad(grid, ((0, 0), sides)) for grid in (pair.before, pair.after)]
            assert not np.array_equal(applied(machine, wide[0]), wide[1])
        if found.verdict is Verdict.proved:
            for sides in ((MOST + 1, 0), (2, MOST + 1), (MOST + 5, MOST + 9), (1, 40), (33, 3)):
                for pair in pairs:
                    wide = [np.pad(grid, ((0, 0), sides)) for grid in (pair.before, pair.after)]
                    assert np.array_equal(applied(machine, wide[0]), wide[1])
    assert min(verdicts.count(each) for each in Verdict) > 2
