"""Parametrizations of a gate: 16 logits, one per op, or four numbers that determine them.

In both forms a soft gate is a mixture of the ops with weights softmax(z), so kernels, search and
files are the same. Only what the optimizer moves differs. With four numbers θ the logits are
z = B·θ, and Bᵀ turns a derivative by z into one by θ.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from difflogic.circuit.gates import OPS, TRUTH_TABLES, Op
from difflogic.system.array_types import Array, Bits, Float64s
from difflogic.system.streams import normals

TOLERANCE = 1e-3
"""Logits this close to a form, as a share of the largest logit, differ from it by rounding only."""


class TruthTable:
    """The form with one number for each of the four rows of a gate's truth table.

    An op's logit is the sum of the numbers of the rows where it is 1. Its probability is then that
    of its truth table if each row is independently 1 with probability sigmoid(θ), and the mixture's
    value at each corner is sigmoid(θ). Source: arXiv 2510.03250, "input-wise parametrization", with
    a sigmoid.
    """

    basis: Float64s = TRUTH_TABLES.astype(np.float64)
    """B, (16, 4): what each number adds to the logit of each op."""
    readers = (Op.NOR, Op.NOT_A_AND_B, Op.A_AND_NOT_B, Op.AND)
    """For each number the op that is 1 in that row only: its logit is that number."""

    def __init__(self, lead: float) -> None:
        self.sure: Float64s = lead * (2 * self.basis.T - 1)
        """(4, 16): for each op the numbers of a gate whose op leads the next one by `lead`."""

    def logits(self, numbers: Array) -> Array:
        """Return the logits (16, gates) of `numbers` (4, gates), in their type."""
        basis = self.basis.astype(numbers.dtype)
        logits = np.zeros((OPS, numbers.shape[1]), numbers.dtype)
        # One number after the other, always in this order, so that bits are reproducible.
        for column, row in zip(basis.T, numbers, strict=True):
            logits += column[:, None] * row
        return logits

    def numbers(self, logits: Array) -> Array:
        """Return the numbers (4, gates) behind `logits` (16, gates), up to rounding."""
        return logits[list(self.readers)]

    def conform(self, logits: Array) -> int:
        """Make `logits` (16, gates) fit this form, in place; return how many gates changed.

        A gate of another form becomes sure of its most probable op, so the hard circuit stays.
        """
        ops = logits.argmax(axis=0)
        near = self.logits(self.numbers(logits))
        far = np.abs(near - logits).max(axis=0) > TOLERANCE * (1 + np.abs(logits).max(axis=0))
        others = np.flatnonzero(far | (near.argmax(axis=0) != ops))
        logits[:, others] = self.logits(self.sure[:, ops[others]].astype(logits.dtype))
        return len(others)


FORMS: dict[str, Callable[[float], TruthTable | None]] = {
    "ops": lambda lead: None,
    "truth-table": TruthTable,
}
"""Forms by name, given the lead of an untrained gate's op. None means a logit for each op."""


def first_logits(
    form: str, lead: float, spread: float, ops: Bits, rng: np.random.Generator
) -> Float64s:
    """Return the logits (gates, 16) of untrained gates that begin as `ops`.

    If `spread` is not 0, normal noise of that standard deviation is added to each learned number.
    """
    four = FORMS[form](lead)
    if four is None:
        numbers = np.zeros((OPS, len(ops)))
        numbers[ops, np.arange(len(ops))] = lead
    else:
        numbers = four.sure[:, ops]
    if spread:
        numbers += spread * normals(rng, numbers.shape)
    return (numbers if four is None else four.logits(numbers)).T
