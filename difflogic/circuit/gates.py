"""The 16 two-input logic ops, their real relaxation, and mixtures of them.

On bits every op is a truth table. On reals it is the bilinear function that agrees with the
table at the four corners, ``f(a, b) = c0 + c1·a + c2·b + c3·a·b``. A soft gate is a mixture
of the 16 ops with weights ``softmax(logits)``, so it is bilinear too: four coefficients.

Source: Petersen et al. 2022, "Deep Differentiable Logic Gate Networks", table 1, for the ops
and their order.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from difflogic.system.array_types import Array, Bits, Float64s


class Op(IntEnum):
    """The 16 ops in the field's order: bit 3 - (2a + b) of the number is the op's value."""

    FALSE = 0
    AND = 1
    A_AND_NOT_B = 2
    A = 3
    NOT_A_AND_B = 4
    B = 5
    XOR = 6
    OR = 7
    NOR = 8
    XNOR = 9
    NOT_B = 10
    A_OR_NOT_B = 11
    NOT_A = 12
    NOT_A_OR_B = 13
    NAND = 14
    TRUE = 15


READS = tuple(
    (
        (op >> 2) != (op & 3),  # a matters if the halves of the truth table differ
        ((op >> 1) & 5) != (op & 5),
    )
    for op in Op
)
"""Whether each op depends on its first and on its second input."""

OPS = len(Op)
PASS_THROUGH = Op.A
"""The op that every gate starts as (DiffLogic CA): it passes its first input on."""

SURE = 1000.0
"""The logit of a fixed gate's op. Its softmax has no gradient, so training never changes it."""

DECIDED = 0.9
"""Probability of an op above which its gate counts as decided."""

SYMBOLS = tuple(
    "0 a∧b a∧¬b a ¬a∧b b a⊕b a∨b ¬(a∨b) ¬(a⊕b) ¬b a∨¬b ¬a ¬a∨b ¬(a∧b) 1".split()  # noqa: SIM905
)

TRUTH_TABLES: Bits = np.array(
    [[(op >> (3 - corner)) & 1 for corner in range(4)] for op in Op], dtype=np.uint8
)
"""Shape (16, 4): value of each op at (a, b) = (0, 0), (0, 1), (1, 0), (1, 1)."""


def _coefficients() -> Float64s:
    f00, f01, f10, f11 = TRUTH_TABLES.astype(np.float64).T
    return np.stack([f00, f10 - f00, f01 - f00, f11 - f10 - f01 + f00], axis=1)


COEFFICIENTS: Float64s = _coefficients()
"""Shape (16, 4): c0, c1, c2, c3 of each op; every entry is a small integer."""

Float = TypeVar("Float", np.float32, np.float64)


@np.errstate(under="ignore")
def softmax(logits: npt.NDArray[Float]) -> npt.NDArray[Float]:
    """Return the probability of each op, shape (gates, 16), from logits of that shape."""
    weights: npt.NDArray[Float] = logits - logits.max(axis=1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


@np.errstate(under="ignore")
def mix(probabilities: npt.NDArray[Float]) -> npt.NDArray[Float]:
    """Return the coefficients (gates, 4) of the mixtures `probabilities` (gates, 16)."""
    mixtures: npt.NDArray[Float] = probabilities @ COEFFICIENTS.astype(probabilities.dtype)
    return mixtures


@np.errstate(under="ignore")
def mix_gradient(
    probabilities: npt.NDArray[Float], coefficient_gradient: npt.NDArray[Float]
) -> npt.NDArray[Float]:
    """Return dL/dlogits (gates, 16), given dL/dc (gates, 4) and the softmax `probabilities`.

    With s = dL/dc this is p ⊙ (M·s - ⟨p, M·s⟩), the softmax rule applied to M·s.
    """
    # dL/dp, then the projection that keeps the probabilities' sum at one.
    gradient = coefficient_gradient @ COEFFICIENTS.astype(probabilities.dtype).T
    gradient -= np.einsum("gk,gk->g", probabilities, gradient)[:, None]
    gradient *= probabilities
    return gradient


def harden(logits: Array) -> Bits:
    """Return the most probable op of each gate, shape (gates,); on a tie the lowest."""
    ops: Bits = logits.argmax(axis=1).astype(np.uint8)
    return ops


def fixed_logits(ops: Bits, dtype: npt.DTypeLike = np.float64) -> Array:
    """Return logits (gates, 16) of gates that keep `ops` (gates,)."""
    return np.asarray(SURE * np.eye(OPS)[ops], dtype)


def one_hot(ops: Bits) -> Float64s:
    """Return the exact coefficients (gates, 4) of the hard gates `ops` (gates,)."""
    return COEFFICIENTS[ops]
