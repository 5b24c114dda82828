"""Powers, exponentials and logarithms with the same bits on every processor.

Libraries round these differently, and so do their versions for each instruction set. Here they are
made of operations that IEEE 754 rounds correctly. Arguments are numbers or arrays. Kernels have an
exponential of their own: jit/arithmetic.py.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from difflogic.system.array_types import Float64s

Reals = Float64s

LN2_HIGH = float.fromhex("0x1.62e42feep-1")
"""ln 2 to 32 bits, so that its product with a whole number is exact."""
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")

_FACTORS = [1 / math.factorial(n) for n in range(13, -1, -1)]
_ODD = [1 / n for n in range(23, 0, -2)]
"""Series of e^r and of artanh: their rests are below a quarter of the last bit."""


def power(base: float, exponent: int) -> float:
    """Return the power for a whole exponent from 0, by squares."""
    found = 1.0
    while exponent:
        found *= base if exponent & 1 else 1.0
        base, exponent = base * base, exponent >> 1
    return found


@np.errstate(under="ignore")
def exponential(x: Any) -> Reals:
    """Return e to the x, for x up to 709; off by at most 1.2 of the last bit."""
    x = np.maximum(x, -746.0)  # where it is 0
    n = np.rint(x * (1 / 0.6931471805599453))
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    total = _series(_FACTORS, r)
    found: Reals = np.ldexp(total, n.astype(np.int32))
    return found


def logarithm(x: Any) -> Reals:
    """Return the natural logarithm of x from 0; off by at most 2.6 of the last bit.

    x is 2^n·m, and ln m = 2·artanh((m - 1) / (m + 1)).
    """
    m, n = np.frexp(x)
    low = m < 0.7071067811865476
    m, n = np.where(low, 2 * m, m), np.where(low, n - 1, n)
    s = (m - 1) / (m + 1)
    found: Reals = n * LN2_HIGH + (2 * s * _series(_ODD, s * s) + n * LN2_LOW)
    return np.where(np.asarray(x) > 0, found, -np.inf)


def log_sum(terms: Reals) -> Reals:
    """Return the logarithm of the sum of e to the `terms`, along the last axis."""
    most = terms.max(axis=-1, initial=-1e300, keepdims=True)
    found: Reals = most[..., 0] + logarithm(exponential(terms - most).sum(axis=-1))
    return found


def _series(factors: list[float], x: Any) -> Any:
    total = factors[0]
    for factor in factors[1:]:
        total = total * x + factor
    return total
