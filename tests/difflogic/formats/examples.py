"""Automata to export, plain and difficult, and their rollouts by the plain interpreter."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.gates import Op
from tests.difflogic.circuit.circuits import circuit_of, step
from tests.difflogic.circuit.rules import circuits, life_like
from tests.examples import any_boundary

NAMES = ("module", "3d-life", "a--b_", "x")


def automaton(circuit, name="x", boundary="zero", fire_rate=1.0, start="center", **changes):
    whole = Automaton(name, circuit, circuit.labels[:1], boundary, 5, 6, 7, fire_rate, start)
    return replace(whole, **changes)


def three_gates(outputs, labels, *arguments, **changes):
    """An automaton of two channels."""
    gates = [(14, 9, 2), (6, 18, 16), (7, 19, 4)]
    return automaton(circuit_of(gates, outputs, labels), *arguments, **changes)


def wicked():
    """Circuits that are difficult for writers, with distinct names."""
    every_op = [(op, op % 9, (op + 3) % 9) for op in range(16)]
    same_twice = [(op, 4, 4) for op in range(16)]
    cases = [
        # no gates, input out
        circuit_of([], [4]),
        # no gates, one input for all
        circuit_of([], [0, 0, 26], (3, 0, 1000)),
        # constant 0
        circuit_of([(Op.FALSE, 0, 0)], [9]),
        # constant 1, nothing read
        circuit_of([(Op.TRUE, 0, 0)], [9]),
        # constants, inverted and joined
        circuit_of([(Op.TRUE, 0, 0), (Op.NOT_A, 9, 9), (Op.XOR, 9, 10), (Op.NOT_B, 0, 11)], [12]),
        # one gate, twice out
        circuit_of([(Op.XOR, 2, 11)], [18, 18], (1, 0)),
        # gates that nothing reads
        circuit_of([(Op.AND, 0, 1), (Op.OR, 9, 2), (Op.A, 3, 0)], [11]),
        # each op, the first reads nothing
        circuit_of(every_op, [24]),
        # an input into both
        circuit_of(same_twice, [20]),
        # op FALSE as an input
        circuit_of([(Op.FALSE, 8, 8), (Op.NOR, 9, 7)], [10]),
        # each op is an output
        circuit_of([(op, 0, 143) for op in range(16)], range(144, 160), tuple(range(16))),
        # many channels
        circuit_of(
            [(Op.XOR, row, row + 40) for row in range(40)], list(range(360, 400)), tuple(range(40))
        ),
    ]
    return [
        automaton(case, f"{NAMES[n % 4]}{n}", ("zero", "periodic")[n % 2], (1, 0.25)[n // 2 % 2])
        for n, case in enumerate(cases)
    ]


@st.composite
def automata(draw, count=6):
    """A few automata with distinct names, also distinct from those of `wicked`."""
    return [
        automaton(
            draw(circuits(3)),
            f"{draw(st.sampled_from(NAMES))}{100 + number}",
            draw(any_boundary),
            draw(st.sampled_from([1.0, 0.25])),
            draw(st.sampled_from(["zeros", "center", "random"])),
        )
        for number in range(count)
    ]


def life(boundary="periodic"):
    return automaton(life_like("3", "23"), "life", boundary)


SIZES = [(1, 1), (1, 5), (4, 1), (2, 2), (3, 4), (5, 7)]


def rollouts(automata, steps, sizes=SIZES * 3):
    """Yield each automaton with a random start, masks of the cells that fire, and its states."""
    rng = np.random.default_rng(1)
    for automaton, size in zip(automata, sizes, strict=True):
        start = rng.integers(0, 2, (automaton.circuit.channels, *size), np.uint8)
        fires = (rng.random((steps, *size)) < automaton.fire_rate).astype(np.uint8)
        states = [start]
        for fire in fires:
            states.append(step(automaton.circuit, states[-1], automaton.boundary, fire))
        yield automaton, start, fires, np.array(states[1:])


def cases(automaton, count):
    """Inputs (9·C, cases): `count` random cases, or all cases if at most nine inputs are read."""
    circuit = automaton.circuit
    reads = circuit.read_inputs
    few = len(reads) <= 9
    bits = np.random.default_rng(0).integers(
        0, 2, (circuit.inputs, 2 ** len(reads) if few else count)
    )
    if few:
        bits[reads] = np.arange(2 ** len(reads)) >> np.arange(len(reads))[:, None] & 1
    return bits.astype(bool)
