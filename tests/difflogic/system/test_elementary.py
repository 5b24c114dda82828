"""Powers, exponentials and logarithms, compared with exact and decimal arithmetic."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from difflogic.system.elementary import exponential, log_sum, logarithm, power

RNG = np.random.default_rng(0)
EXPONENTS = np.concatenate([RNG.uniform(-700, 709, 1000), RNG.uniform(-1, 1, 500), [0.0, -1e-9]])
POSITIVE = np.concatenate(
    [2.0 ** RNG.uniform(-1000, 1000, 1000), RNG.uniform(0.5, 2, 1000), [1.0, 5e-324, 1e308]]
)


def error(found, exact):
    """The largest error, in units of the last bit."""
    return max(
        abs(Decimal(float(one)) - other) / Decimal(float(np.spacing(abs(one))))
        for one, other in zip(found, exact, strict=True)
    )


@pytest.mark.parametrize(
    ("function", "arguments", "exact", "most"),
    [(exponential, EXPONENTS, Decimal.exp, 1.2), (logarithm, POSITIVE, Decimal.ln, 2.6)],
)
def test_errors_are_as_documented(function, arguments, exact, most):
    with localcontext() as context:
        context.prec = 60
        right = [exact(Decimal(float(x))) for x in arguments]
        assert error(function(arguments), right) < most
    assert [float(function(x)) for x in arguments[:9]] == function(arguments[:9]).tolist()


def test_ends_of_the_ranges():
    assert exponential(np.array([-np.inf, -746.0, -1e300, 0.0])).tolist() == [0, 0, 0, 1]
    assert logarithm(np.array([0.0, 1.0])).tolist() == [-np.inf, 0.0]
    assert log_sum(np.array([[-np.inf, -np.inf], [-np.inf, 3.0]])).tolist() == [-np.inf, 3.0]
    assert log_sum(np.empty(0)) == -np.inf


def test_powers_are_products():
    assert power(3.0, 30) == 3.0**30
    assert power(0.3, 0) == 1
    for exponent in (1, 7, 1000):
        assert power(0.999, exponent) == pytest.approx(
            float(Fraction(0.999) ** exponent), rel=1e-13
        )
    assert power(0.9, 100_000) == 0
