"""A circuit whose picture is corrected by further gates."""

from __future__ import annotations

from dataclasses import dataclass

from difflogic.circuit.grid import Grid
from difflogic.circuit.soft_circuit import SoftCircuit
from difflogic.engine.hard.hard_simulator import HardSimulator
from difflogic.system.array_types import Array, Bits
from difflogic.tasks.base import Task


@dataclass(frozen=True)
class Correction:
    """A circuit that shows its picture, and what that took."""

    before: SoftCircuit
    circuit: SoftCircuit
    bits: int
    """Bits of the picture that were wrong."""
    gates: int
    """Gates that correct them."""

    def as_dict(self) -> dict[str, int]:
        """Return plain values for JSON."""
        return {"bits": self.bits, "gates": self.gates}


def step(circuit: SoftCircuit, task: Task, starts: Array) -> Bits:
    """Return the states of a circuit after one step, (samples, C, H, W)."""
    grid = Grid(task.height, task.width, task.automaton.boundary)
    simulator = HardSimulator(circuit.netlist, grid, len(starts))
    simulator.load(circuit.ops)
    return simulator.rollout(starts, 1)
