"""Each part of long work looks at the clock, whatever other parts do."""

from functools import partial

import numpy as np

from difflogic.circuit.xag import Xag
from difflogic.inspection import symmetry
from difflogic.simplification import annealing, windows
from difflogic.simplification.nets import from_circuit
from difflogic.system.deadline import GATES_AT_ONCE
from difflogic.system.work import working
from tests.difflogic.circuit.rules import life_automaton, random_circuit
from tests.difflogic.system.clocks import Clock


def looks(work):
    """Return how often `work` looks at a clock that never passes."""
    clock = Clock()
    work(clock)
    return clock.looks


def circuit(gates, channels=1):
    return random_circuit(np.random.default_rng(0), channels=channels, gates=gates)


def test_windows():
    net = from_circuit(circuit(200, channels=20))
    roots = []
    with working(hear=roots.append):
        assert looks(partial(windows.rewrite, net, 8, 0, 0)) == len(roots) > 10


def test_annealing():
    net = from_circuit(life_automaton().circuit)
    swept, annealed = (looks(partial(annealing.anneal, net, n, 0)) for n in (0, 10_000))
    assert swept > 0
    assert annealed - swept >= 10_000 // annealing.CHUNK


def test_symmetry():
    large = circuit(2 * GATES_AT_ONCE)
    moved = partial(symmetry._moved_differences, large, symmetry.turned((0, 1, -1, 0)), 0)
    assert looks(moved) == 2 * 2
    affine = partial(symmetry._affine_differences, large, [0])
    assert looks(affine) == 3 * 2
    chain = Xag(9)
    literal = 2
    for row in range(2 * GATES_AT_ONCE):
        literal = chain.and_(chain.xor_(literal, chain.input(row % 9)), chain.input(row // 9 % 9))
    assert looks(partial(symmetry.decide_all_zero, chain, [literal])) >= 2
