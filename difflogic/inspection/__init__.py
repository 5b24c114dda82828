"""Inspects a circuit: counts, wires, equations, and symmetries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.grid import NEIGHBORHOOD
from difflogic.circuit.live_part import fold
from difflogic.inspection import symmetry
from difflogic.inspection.equations import Equations
from difflogic.inspection.equations import equations as write_equations
from difflogic.inspection.reversal import Reversal, reversal
from difflogic.inspection.symmetry import Traits
from difflogic.system.array_types import Flags


@dataclass(frozen=True)
class Inspection:
    """The results."""

    automaton: Automaton
    reads: Flags
    """Whether any next state reads a neighbour's channel, shape (9, C)."""
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
    reads = np.isin(np.arange(circuit.inputs), circuit.read_inputs).reshape(NEIGHBORHOOD, -1)
    return Inspection(automaton, reads, lines, rule, back)
