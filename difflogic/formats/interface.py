"""Which inputs and outputs of a circuit a file has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.system.errors import CircuitError


@dataclass(frozen=True)
class Interface:
    """The inputs and outputs of an exported circuit, in order.

    Inputs may include some that the circuit does not read. Other channels than `outputs` are left
    out.
    """

    inputs: tuple[str, ...]
    """Names as in `Circuit.input_name`."""
    outputs: tuple[int, ...]
    """Labels of channels."""

    def rows(self, circuit: Circuit) -> list[int]:
        """Return the circuit's rows of the outputs.

        Raises CircuitError if the circuit lacks a channel or reads another input.
        """
        missing = sorted(set(self.outputs) - set(circuit.labels))
        if missing:
            raise CircuitError(f"the circuit has no channels {missing}: it has {circuit.labels}")
        channels = [circuit.labels.index(label) for label in self.outputs]
        reads = circuit.needed(channels)[: circuit.inputs].nonzero()[0]
        unknown = sorted({circuit.input_name(int(row)) for row in reads} - set(self.inputs))
        if unknown:
            raise CircuitError(f"the circuit reads {', '.join(unknown)}, which are not inputs")
        return [int(circuit.outputs[channel]) for channel in channels]


def used_rows(circuit: Circuit) -> list[int]:
    """Return the input rows that gates read, needed or not, or that are outputs."""
    return np.flatnonzero(circuit.fan_out[: circuit.inputs]).tolist()


def used_interface(circuit: Circuit) -> Interface:
    """Return the inputs that a circuit uses, and all its outputs."""
    return Interface(tuple(map(circuit.input_name, used_rows(circuit))), circuit.labels)


def common_interface(original: Circuit, kept: Sequence[int]) -> Interface:
    """Return the interface that lets a circuit and its simplification be compared.

    Its inputs are all inputs of the original, its outputs the channels `kept` (labels).
    """
    return Interface(tuple(map(original.input_name, range(original.inputs))), tuple(kept))
