"""Which inputs and outputs of a circuit a file has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from difflogic.circuit.circuit import Circuit


@dataclass(frozen=True)
class Interface:
    """The inputs and outputs of an exported circuit, in order.

    Inputs may include some that the circuit does not read; others it must not. Other channels than
    `outputs` are left out.
    """

    inputs: tuple[str, ...]
    """Names as in `Circuit.input_name`."""
    outputs: tuple[int, ...]
    """Labels of channels."""


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
