"""Circuits learned by `dct train checkerboard` and `checkerboard-async`, by their seeds."""

from pathlib import Path

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.formats.circuit_file import read_circuit
from difflogic.proof.convergence.findings import Convergence
from difflogic.system.array_types import Bits

DATA = Path(__file__).parents[2] / "data"

NAMES = (
    *(f"checkerboard-seed-{seed}" for seed in (1, 2, 3)),
    *(f"checkerboard-async-seed-{seed}" for seed in (0, 1)),
)


def path(name: str) -> Path:
    """Return the circuit's file."""
    return DATA / f"{name}.json"


def trained(name: str) -> Automaton:
    """Return a simplified trained automaton."""
    return read_circuit(path(name))


def checkerboard(height: int, width: int, square: int = 2) -> Bits:
    """Return squares of as many cells a side, shape (1, height, width)."""
    y, x = np.indices((height, width)) // square
    return ((x + y) % 2).astype(np.uint8)[None]


def checkerboard_question(automaton: Automaton, height: int = 8, width: int = 8) -> Convergence:
    """Ask whether every start ends in squares of 2×2 cells."""
    return Convergence.of(automaton, checkerboard(height, width))
