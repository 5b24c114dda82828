"""Find and merge signals that are always equal, inverse or constant, anywhere in a circuit.

Random cases tell most signals apart. A SAT solver proves whether the remaining ones are equal.

Source: SAT sweeping (Kuehlmann, Paruthi, Krohm and Ganai 2002), as in `proof.equivalence`;
functionally reduced graphs (Mishchenko, Chatterjee, Jiang and Brayton 2005).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from difflogic.circuit.gates import Op
from difflogic.proof.satisfiability import Formula
from difflogic.simplification.kernels.nets import Net, simulate
from difflogic.simplification.nets import cleaned
from difflogic.system.deadline import GATES_AT_ONCE, NEVER, Deadline

WORDS = 32
"""Words of random cases per signal."""
MOST_WORDS = 2**23
"""Words of random cases of all signals together, 64 MiB: larger circuits get fewer per signal."""
MOST_CONFLICTS = 500
"""Solver conflicts spent on one pair; pairs that take more stay apart."""
ALL_CONFLICTS = 50_000
"""Solver conflicts spent on all pairs of a circuit: half a minute at most."""
ALL_VISITS = 2 * 10**8
"""Total nodes visited by all SAT calls, since each may assign the whole formula."""


def reduce_functionally(
    net: Net, progress: Callable[[], object] = lambda: None, deadline: Deadline = NEVER
) -> Net:
    """Return the net with each signal that equals an earlier one, or its inverse, replaced.

    Signals stay apart once `deadline` passes or the bounds above are reached.
    """
    size, first = int(net.size[0]), 1 + net.inputs
    words, inverted = _random_cases(net)
    op, a, b = (array[:size].tolist() for array in (net.op, net.a, net.b))
    known: dict[bytes, int] = {}
    for node in range(first):
        known[words[node].tobytes()] = node
    visits = 0
    with Formula() as formula:
        literals = [-formula.true, *(formula.variable() for _ in range(net.inputs))]
        for node in range(first, size):
            if not node % GATES_AT_ONCE and deadline.passed:
                break
            literals.append(formula.gate(op[node], literals[a[node]], literals[b[node]]))
            same = known.setdefault(words[node].tobytes(), node)
            if same == node or formula.conflicts > ALL_CONFLICTS or visits > ALL_VISITS:
                continue
            inverse = bool(inverted[node] != inverted[same])
            candidate = -literals[same] if inverse else literals[same]
            differ = formula.xor_(candidate, literals[node])
            visits += node
            progress()
            if formula.solve([differ], deadline, MOST_CONFLICTS) is not False:
                continue
            formula.equate(candidate, literals[node])
            op[node], a[node], b[node] = int(Op.NOT_A if inverse else Op.A), same, same
    return cleaned(
        net._replace(op=np.array(op, np.uint8), a=np.array(a, np.int32), b=np.array(b, np.int32))
    )


def _random_cases(net: Net) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """Return each node's words, inverted if their first bit is 1, and whether they are inverted."""
    size = int(net.size[0])
    count = max(1, min(WORDS, MOST_WORDS // size))
    words = np.zeros((size, count), np.uint64)
    words[1 : 1 + net.inputs] = np.random.default_rng(0).integers(
        0, 2**64, (net.inputs, count), np.uint64
    )
    simulate(net, words)
    inverted = (words[:, 0] & np.uint64(1)).astype(np.bool_)
    words[inverted] ^= ~np.uint64(0)
    return words, inverted
