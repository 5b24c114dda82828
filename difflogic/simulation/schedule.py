"""Orders a circuit's gates for the engines, and drops gates that need no computing.

Any topological order gives the same bits. The order decides how many values are alive at once.
Values that do not fit into registers must be stored and loaded again.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import READS, Op


@lru_cache(maxsize=8)
def schedule(circuit: Circuit) -> Circuit:
    """Return an equivalent circuit that computes one channel's cone after the other.

    It leaves out gates that no channel depends on, and gates that only pass an input on. Within a
    cone, the operand that needs more registers comes first. This rule (Sethi and Ullman 1970, "The
    generation of optimal code for arithmetic expressions") is exact for trees, and a good guess
    for circuits that share gates.
    """
    source = list(range(circuit.rows))
    reads: list[list[int]] = [[] for _ in range(circuit.rows)]
    need = [1] * circuit.rows
    ops, a_wires, b_wires = (array.tolist() for array in (circuit.op, circuit.a, circuit.b))
    for row, (op, a, b) in enumerate(zip(ops, a_wires, b_wires, strict=True), circuit.inputs):
        if op in (Op.A, Op.B):
            source[row] = source[a if op == Op.A else b]
            continue
        of_a, of_b = READS[op]
        wires = {source[wire] for wire, used in ((a, of_a), (b, of_b)) if used}
        reads[row] = sorted(wires, key=lambda wire: -need[wire])
        needs = [need[wire] for wire in reads[row]]
        need[row] = max((each + place for place, each in enumerate(needs)), default=1)

    order: list[int] = []
    done = [row < circuit.inputs for row in range(circuit.rows)]
    outputs = [source[row] for row in circuit.outputs.tolist()]
    for output in outputs:
        _append_cone(output, reads, done, order)
    place = {row: row for row in range(circuit.inputs)}
    place |= {row: number for number, row in enumerate(order, circuit.inputs)}
    gates = [row - circuit.inputs for row in order]
    # An ignored operand may be a gate that was left out: replace it by input 0.
    a, b = (
        [place.get(source[wires[gate]], 0) if READS[ops[gate]][side] else 0 for gate in gates]
        for side, wires in enumerate((a_wires, b_wires))
    )
    rows = np.array([place[row] for row in outputs])
    return Circuit(circuit.op[gates], np.array(a), np.array(b), rows, circuit.labels)


def _append_cone(output: int, reads: list[list[int]], done: list[bool], order: list[int]) -> None:
    """Append the gates that `output` still needs to `order`, operands first."""
    stack = [output]
    while stack:
        row = stack[-1]
        waiting = next((wire for wire in reads[row] if not done[wire]), None)
        if done[row]:
            stack.pop()
        elif waiting is None:
            done[row] = True
            order.append(row)
            stack.pop()
        else:
            stack.append(waiting)
