"""Arithmetic with the same result on every processor that has fused multiply-adds."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from difflogic.system.jit.intrinsics import emitting
from difflogic.system.jit.processor import fuses

_EXPONENTIALS = {
    ir.FloatType(): (ir.IntType(32), 23, 7, -87.0, 9),
    ir.DoubleType(): (ir.IntType(64), 52, 13, -708.0, 21),
}
"""By type: integers of its size, bits of a fraction, the degree of a series whose rest is below a
quarter of the last bit, the least argument whose result is no denormal number, and the bits of ln 2
that leave room for a product with a whole number."""
_LN2 = Fraction("0.693147180559945309417232121458176568075500134360255254120680")


def fma(builder: Any, x: Any, y: Any, z: Any) -> Any:
    """Emit x·y + z, of numbers or vectors: rounded once where the processor can do that."""
    kind, count = (x.type.element, f"v{x.type.count}") if hasattr(x.type, "count") else (x.type, "")
    name = f"llvm.{'fma' if fuses() else 'fmuladd'}.{count}f{_EXPONENTIALS[kind][0].width}"
    signature = ir.FunctionType(x.type, [x.type] * 3)
    function = cgutils.get_or_insert_function(builder.module, signature, name)
    return builder.call(function, [x, y, z])


@emitting(lambda x: x(x))
def exponential(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Return e to the x, for x up to 0: 0 if the result would be a denormal number.

    e^x = 2^n · e^r with a whole n and |r| ≤ ln 2 / 2. The series of e^r is summed from its last
    term. Off by at most 0.8 of the last bit (docs/notebook/bits.md).
    """
    (x,) = args
    kind = x.type
    whole, fraction, degree, least, short = _EXPONENTIALS[kind]

    def times(a: Any, b: Any, c: Any) -> Any:
        return fma(builder, a, b, c)

    # Adding 1.5 · 2^fraction rounds to a whole number, and leaves it in the last bits.
    shift = kind(1.5 * 2.0**fraction)
    shifted = times(x, kind(float(1 / _LN2)), shift)
    n = builder.fsub(shifted, shift)
    high = Fraction(round(_LN2 * 2**short), 2**short)
    r = times(n, kind(-float(_LN2 - high)), times(n, kind(-float(high)), x))
    total = kind(1 / math.factorial(degree))
    for power in range(degree - 1, -1, -1):
        total = times(total, r, kind(1 / math.factorial(power)))
    exponent = builder.shl(builder.bitcast(shifted, whole), whole(fraction))
    found = builder.bitcast(builder.add(builder.bitcast(total, whole), exponent), kind)
    return builder.select(builder.fcmp_ordered("<", x, kind(least)), kind(0.0), found)
