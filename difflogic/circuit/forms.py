"""What is learned about a gate: 16 logits, one per op, or four numbers that determine them.

In every form a soft gate is a mixture of the ops with weights softmax(z), so kernels, search and
files are the same. The forms differ in what the optimizer moves. If that is four numbers θ, the
logits are z = B·θ + d, and Bᵀ turns a derivative by z into one by θ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.gates import OPS, TRUTH_TABLES, Op

Array = npt.NDArray[Any]


TOLERANCE = 1e-3
"""Rounding of a logit, as a share of the largest, that makes no other form of a gate."""


@dataclass(frozen=True, eq=False)
class FourNumbers:
    """A form of gates with four numbers each."""

    basis: npt.NDArray[np.float64]
    """B, (16, 4): what each number adds to the logit of each op."""
    readers: tuple[Op, ...]
    """Four ops: only the number in an op's place adds to its logit."""
    sure: npt.NDArray[np.float64]
    """(4, 16): the numbers of a gate for each op that is as sure of it as an untrained gate is of
    passing its first input."""

    def logits(self, numbers: Array) -> Array:
        """Return the logits (16, gates) of `numbers` (4, gates), in their type."""
        basis = self.basis.astype(numbers.dtype)
        logits = np.zeros((OPS, numbers.shape[1]), numbers.dtype)
        # Number by number, always in this order: equal bits.
        for column, row in zip(basis.T, numbers, strict=True):
            logits += column[:, None] * row
        return logits

    def numbers(self, logits: Array) -> Array:
        """Return the numbers (4, gates) that `logits` (16, gates) follow from, but for rounding."""
        places = list(self.readers)
        scale = np.diag(self.basis[places]).astype(logits.dtype)
        return logits[places] / scale[:, None]

    def conform(self, logits: Array) -> int:
        """Make `logits` (16, gates) those of gates of this form, in place.

        Other gates than of this form become sure of the op that is their most probable one: the
        hard circuit stays as it is. Returns how many these are.
        """
        ops, near = logits.argmax(axis=0), self.logits(self.numbers(logits))
        far = np.abs(near - logits).max(axis=0) > TOLERANCE * (1 + np.abs(logits).max(axis=0))
        others = np.flatnonzero(far | (near.argmax(axis=0) != ops))
        logits[:, others] = self.logits(self.sure[:, ops[others]].astype(logits.dtype))
        return len(others)


def _truth_table(lead: float) -> FourNumbers:
    """Return the form with a logit for each row of a gate's truth table.

    An op's logit is the sum of those of the rows where it is 1. Its probability is then that of its
    truth table, if each row is 1 with the probability sigmoid(θ) independently of the others, and
    the mixture's value at each corner is sigmoid(θ). Source: arXiv 2510.03250, "input-wise
    parametrization", with a sigmoid.
    """
    readers = (Op.NOR, Op.NOT_A_AND_B, Op.A_AND_NOT_B, Op.AND)
    sure = lead * (2 * TRUTH_TABLES.T.astype(np.float64) - 1)
    return FourNumbers(TRUTH_TABLES.astype(np.float64), readers, sure)


def _ops(_lead: float) -> None:
    """Return no form of four numbers: each op has a logit of its own."""


FORMS: dict[str, Callable[[float], FourNumbers | None]] = {"ops": _ops, "truth-table": _truth_table}
"""By their names, given by how much an untrained gate's op leads the next."""


def first_logits(
    form: str, lead: float, spread: float, ops: npt.NDArray[np.uint8], rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Return the logits (gates, 16) of gates that have learned nothing, and begin as `ops`.

    Numbers that are learned differ from those of all others of the same op by normal noise of the
    standard deviation `spread`, if it is not 0.
    """
    four = FORMS[form](lead)
    if four is None:
        numbers = np.zeros((OPS, len(ops)))
        numbers[ops, np.arange(len(ops))] = lead
    else:
        numbers = four.sure[:, ops]
    if spread:
        numbers += spread * rng.normal(size=numbers.shape)
    return (numbers if four is None else four.logits(numbers)).T
