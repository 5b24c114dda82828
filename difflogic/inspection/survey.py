"""What there is to say about a circuit: counts, wires, equations, symmetries, fixed points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.circuit.grid import NEIGHBORS
from difflogic.inspection import fixed_points, settling, symmetry
from difflogic.inspection.equations import Equations, equations
from difflogic.inspection.fixed_points import FixedPoints
from difflogic.inspection.settling import Settling
from difflogic.inspection.symmetry import Rule
from difflogic.model.automaton import Automaton
from difflogic.proof.convergence.folding import fold

MOST_CELLS, MOST_BITS = 2**18, 2**24
"""Of the largest grid on which an automaton is run to see where it settles."""


@dataclass(frozen=True)
class Limits:
    """How far questions are followed that take a search."""

    seconds: float = 10.0
    """For each of the three: symmetries, fixed points, and the run from the automaton's start."""
    periods: int = 4
    """Largest period of fixed points, in cells, in each direction."""
    seed: int = 0
    """Names the streams of the random starts and fire masks."""


@dataclass(frozen=True)
class Wires:
    """Who reads what, by the wires of all gates."""

    reads: npt.NDArray[np.bool_]
    """Whether a next state depends on a channel at a neighbour, shape (9, C)."""
    fan_out: npt.NDArray[np.int64]
    """Readers of each row, gates and outputs, shape (rows,)."""


@dataclass(frozen=True)
class Inspection:
    """All of it. A `settling` of None took too long, or its grid is too large."""

    automaton: Automaton
    ops: dict[Op, int]
    wires: Wires
    equations: Equations
    rule: Rule
    fixed_points: FixedPoints
    settling: Settling | None

    def __repr__(self) -> str:
        return f"Inspection({self.automaton!r})"


def inspect(
    automaton: Automaton, limits: Limits, progress: Callable[[int, str], object]
) -> Inspection:
    """Find out everything. `progress` is told how many parts are done, and what comes next.

    Raises CircuitError for a circuit of more than MOST_ROWS.
    """
    circuit = automaton.circuit
    lines = equations(circuit)
    # The same functions of the same inputs, without what passes through and is constant.
    folded = automaton.with_circuit(fold(circuit))
    progress(0, "symmetries")
    rule = symmetry.examine(folded.circuit, limits.seconds)
    progress(1, "fixed points")
    fixed = fixed_points.find(folded, limits.periods, limits.seconds)
    progress(2, "the run from its start")
    cells = automaton.height * automaton.width
    small = cells <= MOST_CELLS and cells * circuit.channels <= MOST_BITS
    settled = settling.settle(folded, limits.seed, limits.seconds) if small else None
    return Inspection(automaton, circuit.op_counts(), wires(circuit), lines, rule, fixed, settled)


def wires(circuit: Circuit) -> Wires:
    """Count readers. A gate reads an input once that its op depends on."""
    reads = np.zeros(circuit.inputs, np.bool_)
    reads[circuit.read_inputs] = True
    return Wires(reads.reshape(len(NEIGHBORS), circuit.channels), circuit.fan_out)
