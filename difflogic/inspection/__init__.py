"""Inspects a circuit: counts, wires, equations, and symmetries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.circuit.grid import NEIGHBORS
from difflogic.circuit.live_part import fold
from difflogic.inspection import symmetry
from difflogic.inspection.equations import Equations
from difflogic.inspection.equations import equations as write_equations
from difflogic.inspection.reversal import Reversal, reversal
from difflogic.inspection.symmetry import Traits
from difflogic.system.array_types import Flags, Int64s


@dataclass(frozen=True)
class WireUse:
    """Which inputs are read, and how often each row is."""

    reads: Flags
    """Whether any next state reads a neighbour's channel, shape (9, C)."""
    fan_out: Int64s
    """Number of gates and outputs that read each row, shape (rows,)."""


@dataclass(frozen=True)
class Inspection:
    """The results."""

    automaton: Automaton
    ops: dict[Op, int]
    wires: WireUse
    equations: Equations
    rule: Traits
    reversal: Reversal | None = None
    """How the rule runs backwards, on every grid; None if that is not known."""

    def __repr__(self) -> str:
        return f"Inspection({self.automaton!r})"


def inspect(automaton: Automaton, seconds: float) -> Inspection:
    """Run the whole inspection, with about `seconds` for the rule's symmetries.

    Raises CircuitError for a circuit of more than MOST_ROWS.
    """
    circuit = automaton.circuit
    lines = write_equations(circuit)
    rule = symmetry.examine(fold(circuit), seconds)
    back = reversal(circuit) if automaton.fire_rate == 1 else None
    return Inspection(automaton, circuit.op_counts(), wires(circuit), lines, rule, back)


def wires(circuit: Circuit) -> WireUse:
    """Count readers. A gate reads only inputs that its op depends on."""
    reads = np.zeros(circuit.inputs, np.bool_)
    reads[circuit.read_inputs] = True
    return WireUse(reads.reshape(len(NEIGHBORS), circuit.channels), circuit.fan_out)
