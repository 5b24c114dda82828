"""The order in which a circuit's gates are computed, and which of them need no computing.

Any topological order gives the same bits. The order decides how many values are alive at once,
and values beyond the machine's registers have to be stored and loaded again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from difflogic.circuit.circuit import LogicCircuit
from difflogic.circuit.gates import READS, Op

OPS = tuple(Op)


@dataclass(frozen=True)
class Instruction:
    """Value `out` is `op` of the values `a` and `b`: rows of the circuit."""

    op: Op
    a: int
    b: int
    out: int

    @property
    def reads(self) -> tuple[int, ...]:
        """The values that the op depends on, one or two or none."""
        return tuple(
            row for row, used in zip((self.a, self.b), READS[self.op], strict=True) if used
        )


@dataclass(frozen=True)
class Schedule:
    """A circuit as a straight line: what to compute, and which value each channel becomes.

    Channel c's next state is row `outputs[c]`, whose value is known after
    `instructions[ready[c] - 1]`. `inputs` are the input rows that are read, ascending.
    """

    instructions: tuple[Instruction, ...]
    outputs: tuple[int, ...]
    ready: tuple[int, ...]
    inputs: tuple[int, ...]

    @property
    def gates(self) -> int:
        return len(self.instructions)


@lru_cache(maxsize=8)
def schedule(circuit: LogicCircuit) -> Schedule:
    """Order the gates that some channel depends on, one channel's cone after the other.

    Gates that hand an input on are left out. Within a cone the operand that needs more registers
    comes first (Sethi and Ullman 1970, "The generation of optimal code for arithmetic
    expressions", whose rule is exact for trees and a good guess for circuits that share gates).
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
    ready = []
    outputs = [source[row] for row in circuit.outputs.tolist()]
    for output in outputs:
        _append_cone(output, reads, done, order)
        ready.append(len(order))
    instructions = []
    used: set[int] = {row for row in outputs if row < circuit.inputs}
    for row in order:
        gate = row - circuit.inputs
        a, b = source[a_wires[gate]], source[b_wires[gate]]
        used.update(wire for wire in reads[row] if wire < circuit.inputs)
        instructions.append(Instruction(OPS[ops[gate]], a, b, row))
    return Schedule(tuple(instructions), tuple(outputs), tuple(ready), tuple(sorted(used)))


def _append_cone(output: int, reads: list[list[int]], done: list[bool], order: list[int]) -> None:
    """Append the gates that `output` still needs to `order`, operands first; no recursion."""
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
