"""Signals that are always equal, inverse or constant, anywhere in a circuit: found and merged.

Random cases tell most signals apart; what they leave together is proved with a SAT solver.

Source: SAT sweeping (Kuehlmann, Paruthi, Krohm and Ganai 2002), as in `proof.miter`.
"""

from __future__ import annotations

import numpy as np

from difflogic.gates import Op
from difflogic.logic.circuit import LogicCircuit
from difflogic.logic.satisfiability import Formula

WORDS = 32
"""Words of random cases."""
MOST_CONFLICTS = 500
"""Spent on one pair: those that take longer stay apart."""
ALL_CONFLICTS = 50_000
"""Spent on all pairs of a circuit: half a minute at most."""


def reduce_functionally(circuit: LogicCircuit) -> LogicCircuit:
    """Return the circuit with each signal that equals an earlier one, or its inverse, replaced.

    The replaced gates become pass-throughs, inverters or constants, to be folded.
    """
    random = np.random.default_rng(0)
    cases = random.integers(0, 2**64, (circuit.inputs, WORDS), np.uint64)
    words = circuit.evaluate(cases)
    inverted = (words[:, 0] & np.uint64(1)).astype(np.bool_)
    words[inverted] = ~words[inverted]
    op, a, b = circuit.op.copy(), circuit.a.copy(), circuit.b.copy()
    known = {np.zeros(WORDS, np.uint64).tobytes(): -1}
    for row in range(circuit.inputs):
        known[words[row].tobytes()] = row
    with Formula() as formula:
        literals = {row: formula.variable() for row in range(circuit.inputs)}
        formula.gates(circuit, range(circuit.gates), literals)
        literals[-1] = -formula.true
        for gate in range(circuit.gates):
            row = circuit.inputs + gate
            first = known.setdefault(words[row].tobytes(), row)
            if first == row or formula.conflicts > ALL_CONFLICTS:
                continue
            inverse = bool(inverted[row]) != (first >= 0 and bool(inverted[first]))
            same = -literals[first] if inverse else literals[first]
            differ = formula.gate(Op.XOR, same, literals[row])
            if formula.solve([differ], most=MOST_CONFLICTS) is not False:
                continue
            formula.equate(same, literals[row])
            if first < 0:
                op[gate] = Op.TRUE if inverse else Op.FALSE
            else:
                op[gate], a[gate], b[gate] = Op.NOT_A if inverse else Op.A, first, first
    return LogicCircuit(op, a, b, circuit.outputs, circuit.labels)
