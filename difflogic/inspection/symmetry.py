"""Decides properties of a rule: symmetries, notation, linearity and others.

Each says that a circuit equals another one, which is proved or refuted. Channels keep their
identity: a symmetry that also swaps channels is not found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.grid import CENTER, NEIGHBORHOOD, turned
from difflogic.circuit.life_like import notation
from difflogic.circuit.xag import Xag, to_circuit
from difflogic.proof import Verdict, decide_equality
from difflogic.system.deadline import Deadline

SQUARE_SYMMETRIES = {
    # The matrix maps a neighbour's offset (dy, dx).
    "rotation by 90°": (0, 1, -1, 0),
    "rotation by 180°": (-1, 0, 0, -1),
    "rotation by 270°": (0, -1, 1, 0),
    "reflection left to right": (1, 0, 0, -1),
    "reflection top to bottom": (-1, 0, 0, 1),
    "reflection in the diagonal": (0, 1, 1, 0),
    "reflection in the antidiagonal": (0, -1, -1, 0),
}
"""The square's symmetries (dihedral group D4) except the identity, as row-major matrices."""

Certainty = Literal["yes", "no", "not decided"]

ANSWERS: dict[Verdict, Certainty] = {
    Verdict.proved: "yes",
    Verdict.refuted: "no",
    Verdict.open: "not decided",
}

LINEAR_RULE = "linear over GF(2)"
AFFINE = "affine over GF(2)"
QUIESCENT = "zeros stay zeros"


@dataclass(frozen=True)
class Traits:
    """The properties of a rule."""

    symmetries: dict[str, Certainty]
    properties: dict[str, Certainty]
    """Linear: each next state is a XOR of inputs. Affine: or the inverse of one."""
    notation: str | None
    """Such as B3/S23, for one channel that depends only on the centre and the neighbours' sum."""


def examine(circuit: Circuit, seconds: float) -> Traits:
    """Decide the properties of a circuit's rule exactly, in about `seconds`."""
    deadline = Deadline.after(seconds)

    def equals(other: Circuit) -> Certainty:
        return ANSWERS[decide_equality(circuit, other, (), deadline.left).verdict]

    symmetries = {
        name: equals(_moved(circuit, turned(matrix))) for name, matrix in SQUARE_SYMMETRIES.items()
    }
    zero = circuit.next_state(np.zeros((circuit.inputs, 1), np.bool_))
    quiescent: Certainty = "no" if zero.any() else "yes"
    affine = equals(_affine_form(circuit))
    properties = {
        LINEAR_RULE: affine if quiescent == "yes" else quiescent,
        AFFINE: affine,
        QUIESCENT: quiescent,
    }
    return Traits(symmetries, properties, life_notation(circuit))


def _moved(circuit: Circuit, cells: Sequence[int]) -> Circuit:
    """Return a circuit that reads cell `cells[n]` where this one reads cell n."""
    rows = np.arange(circuit.rows, dtype=np.int32)
    rows[: circuit.inputs] = rows[: circuit.inputs].reshape(NEIGHBORHOOD, -1)[cells].ravel()
    return replace(circuit, a=rows[circuit.a], b=rows[circuit.b], outputs=rows[circuit.outputs])


def _affine_form(circuit: Circuit) -> Circuit:
    """Return the affine circuit that does the same with zeros and with each single one."""
    after = circuit.next_state(np.eye(circuit.inputs, circuit.inputs + 1, dtype=np.bool_))
    xag = Xag(circuit.inputs)
    outputs = [
        reduce(
            xag.xor_, map(xag.input, np.flatnonzero(each[:-1] ^ each[-1]).tolist()), int(each[-1])
        )
        for each in after
    ]
    return to_circuit(xag, outputs, circuit.labels, range(circuit.channels))


def life_notation(circuit: Circuit) -> str | None:
    """Return a rule's name such as B3/S23, if centre and sum of the others decide its only bit."""
    if circuit.channels > 1:
        return None
    cases = np.arange(2**NEIGHBORHOOD)
    bits = (cases >> np.arange(NEIGHBORHOOD)[:, None] & 1).astype(bool)
    after = circuit.next_state(bits)[0]
    centre = bits[CENTER].astype(int)
    others = bits.sum(axis=0) - bits[CENTER]
    table = np.zeros((2, NEIGHBORHOOD), np.uint8)
    table[centre, others] = after
    decides = (table[centre, others] == after).all()
    return notation(*map(np.flatnonzero, table)) if decides else None
