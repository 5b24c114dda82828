"""What a circuit on a grid may cost: numbers of a file, which anybody may have written."""

from __future__ import annotations

from difflogic.circuit.circuit import Circuit
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import show_bytes

MOST_PROOF_SIDE = 256
"""Most rows and columns of a grid to prove something about: proofs keep the sets of all steps."""

MOST_STEP_BYTES = 2**31
"""Most memory for one step of a proof, and for its steps together. A step then takes seconds."""


def step_bytes(circuit: Circuit, cells: int) -> int:
    """Return the memory of one step on sets of values: four planes of bits for each value."""
    return 4 * (circuit.inputs + circuit.gates) * (cells + 7 >> 3)


def require_provable(circuit: Circuit, height: int, width: int) -> None:
    """Raise ConfigError if a proof about a grid of this size would take too much."""
    what = f"{height}×{width} cells"
    if not all(1 <= side <= MOST_PROOF_SIDE for side in (height, width)):
        raise ConfigError(f"{what}: sides must be from 1 to {MOST_PROOF_SIDE}: give a size that is")
    if (needed := step_bytes(circuit, height * width)) > MOST_STEP_BYTES:
        raise ConfigError(
            f"{what} and {circuit.gates} gates: each step of a proof needs {show_bytes(needed)}, "
            f"more than {show_bytes(MOST_STEP_BYTES)}: give a smaller size, or simplify the circuit"
        )
