"""One output of a circuit: the gates it needs, and the inputs it reads, by neighbour and label."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

import numpy.typing as npt

from difflogic.circuit.circuit import LogicCircuit
from difflogic.circuit.gates import bitwise
from difflogic.system.deadline import GATES_AT_ONCE, NEVER, Deadline

Place = tuple[int, int]
"""An input: its neighbour's number, and its channel's label."""


@dataclass(frozen=True, eq=False)
class Cone:
    """The part of a circuit that a channel's next state depends on by its wires."""

    circuit: LogicCircuit
    output: int
    """Its row."""
    gates: tuple[int, ...]
    inputs: dict[Place, int]
    """The input rows that it reads."""

    @classmethod
    def of(cls, circuit: LogicCircuit, label: int) -> Cone:
        """Return the cone of the channel with this label."""
        output = int(circuit.outputs[circuit.labels.index(label)])
        needed = circuit.cone(output)
        inputs = {}
        first_gate = bisect_left(needed, circuit.inputs)
        for row in needed[:first_gate]:
            neighbor, place = divmod(row, circuit.channels)
            inputs[neighbor, circuit.labels[place]] = row
        gates = tuple(row - circuit.inputs for row in needed[first_gate:])
        return cls(circuit, output, gates, inputs)

    def evaluate(
        self, words: Mapping[Place, npt.NDArray], deadline: Deadline = NEVER
    ) -> dict[int, npt.NDArray]:
        """Return the rows' words, for inputs of words; every bit is a case of its own.

        Raises TimeoutError if `deadline` passes.
        """
        rows = {row: words[place] for place, row in self.inputs.items()}
        any_input = next(iter(words.values()))
        circuit = self.circuit
        ops, a, b = circuit.lists
        for count, gate in enumerate(self.gates):
            if not count % GATES_AT_ONCE:
                deadline.check()
            # What an op ignores may stand for anything.
            one, other = rows.get(a[gate], any_input), rows.get(b[gate], any_input)
            rows[circuit.inputs + gate] = bitwise(ops[gate], one, other)
        return rows
