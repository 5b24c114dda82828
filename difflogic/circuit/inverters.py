"""Where inverters go when a graph whose outputs are literals becomes gates of the 16 ops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op

_WITH_A_INVERTED = np.array([(op & 3) << 2 | op >> 2 for op in Op], np.uint8)
_WITH_B_INVERTED = np.array([(op & 5) << 1 | op >> 1 & 5 for op in Op], np.uint8)
"""The op that computes the same as each if an input is inverted."""

Ints = npt.NDArray[np.integer]


def melted(
    op: npt.NDArray[np.uint8],
    a: npt.NDArray[np.int32],
    b: npt.NDArray[np.int32],
    first: int,
    outputs: Ints,
    labels: Sequence[int],
) -> Circuit:
    """Return the circuit of a graph whose inputs are all those of channels with `labels`.

    Node 0 is constant 0, gates begin at node `first`, and `op`, `a` and `b` have an entry for each
    node; `outputs` are literals. A gate that outputs only want inverted is computed so. Further
    gates come after all others: one for each constant that is wanted, and for each node that is
    wanted inverted and elsewhere not, or is no gate.
    """
    wanted, inverses = outputs >> 1, (outputs & 1).astype(np.bool_)
    inverted = np.zeros(len(op), np.bool_)
    inverted[wanted[inverses]] = True
    inverted[wanted[~inverses]] = False
    inverted[:first] = False
    op = np.where(inverted[a], _WITH_A_INVERTED[op], op)
    op = np.where(inverted[b], _WITH_B_INVERTED[op], op)
    op = np.where(inverted, len(Op) - 1 - op, op)[first:]
    further: dict[tuple[int, int], int] = {}
    nodes = []
    for literal in outputs.tolist():
        node = literal >> 1
        if (node and not literal & 1) or inverted[node]:
            nodes.append(node)
            continue
        gate = (int(Op.NOT_A), node) if node else (int(Op.TRUE if literal else Op.FALSE), 1)
        nodes.append(further.setdefault(gate, first + len(op) + len(further)))
    ops, reads = np.array([*further], np.int32).reshape(-1, 2).T
    a, b = (np.concatenate([wires[first:], reads]) - 1 for wires in (a, b))
    op = np.concatenate([op, ops.astype(np.uint8)])
    return Circuit(op, a, b, np.array(nodes, np.int32) - 1, tuple(labels))
