"""One output of a circuit: the gates it needs, and the inputs it reads, by neighbour and label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.gates import Op
from difflogic.logic.circuit import READS, LogicCircuit, apply

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
        channel = circuit.labels.index(label)
        needed = np.flatnonzero(circuit.needed([channel])).tolist()
        inputs = {}
        for row in needed:
            if row < circuit.inputs:
                neighbor, place = divmod(row, circuit.channels)
                inputs[neighbor, circuit.labels[place]] = row
        gates = tuple(row - circuit.inputs for row in needed if row >= circuit.inputs)
        return cls(circuit, int(circuit.outputs[channel]), gates, inputs)

    def evaluate(self, words: Mapping[Place, npt.NDArray]) -> dict[int, npt.NDArray]:
        """Return the rows' words, for inputs of words; every bit is a case of its own."""
        rows = {row: words[place] for place, row in self.inputs.items()}
        any_input = next(iter(words.values()))
        for gate in self.gates:
            op = Op(int(self.circuit.op[gate]))
            reads_a, reads_b = READS[op]
            a = rows[int(self.circuit.a[gate])] if reads_a else any_input
            b = rows[int(self.circuit.b[gate])] if reads_b else any_input
            rows[self.circuit.inputs + gate] = apply(op, a, b)
        return rows
