"""Arithmetic of kernels, compared with decimal arithmetic."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from difflogic.engine.kernels import logits


@pytest.mark.parametrize(("dtype", "least"), [("float32", -87), ("float64", -708)])
def test_exponentials_of_logits_are_off_by_less_than_a_bit(dtype, least):
    rng = np.random.default_rng(0)
    count = 100
    given = np.zeros((16, count), dtype)
    given[1:8] = rng.uniform(least, 0, (7, count))
    given[8:15] = rng.uniform(-1, 0, (7, count))
    given[15] = least * 1.001
    found = np.empty_like(given)
    ops = np.empty(count, np.uint8)
    logits.weigh_and_harden(
        given, found, ops, np.empty((logits.ROOM, logits.PARAMETERS_AT_ONCE), dtype)
    )
    assert (found[15] == 0).all()
    assert (found[0] == 1).all()
    assert not ops.any()
    with localcontext() as context:
        context.prec = 40
        for x, one in zip(given[:15].ravel(), found[:15].ravel(), strict=True):
            exact = Decimal(float(x)).exp()
            assert abs(Decimal(float(one)) - exact) < Decimal(float(np.spacing(one))) * 4 / 5
