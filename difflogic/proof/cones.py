"""One output of a circuit: the gates it needs, and the inputs it reads, by neighbour and label."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from difflogic.circuit.circuit import LogicCircuit
from difflogic.circuit.evaluate import Logic, Value, evaluate

Place = tuple[int, int]
"""An input: its neighbour's number, and its channel's label."""


@dataclass(frozen=True, eq=False)
class Cone:
    """The part of a circuit that a channel's next state depends on by its wires."""

    circuit: LogicCircuit
    output: int
    """Its row."""
    rows: list[int]
    """All that it depends on, ascending."""
    inputs: dict[Place, int]
    """The input rows that it reads."""

    @classmethod
    def of(cls, circuit: LogicCircuit, label: int) -> Cone:
        """Return the cone of the channel with this label."""
        output = int(circuit.outputs[circuit.labels.index(label)])
        rows, inputs = circuit.cone(output), {}
        for row in rows:
            if row < circuit.inputs:
                neighbor, place = divmod(row, circuit.channels)
                inputs[neighbor, circuit.labels[place]] = row
        return cls(circuit, output, rows, inputs)

    def evaluate(
        self,
        given: Mapping[Place, Value],
        algebra: Logic[Value],
        pause: Callable[[], object] = lambda: None,
    ) -> list[Value]:
        """Return the values of the circuit's rows; only those in `rows` have a meaning."""
        values = [algebra.constant(0)] * self.circuit.inputs
        for place, row in self.inputs.items():
            values[row] = given[place]
        return evaluate(self.circuit, values, algebra, self.rows, pause)
