"""Each part of long work looks at the clock, whatever other parts do."""

from functools import partial

import numpy as np

from difflogic.simplification import annealing, windows
from difflogic.simplification.nets import from_circuit
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
