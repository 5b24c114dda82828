"""The layout: wires run from layer to layer, and points keep their order and distance."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.formats.diagram.placement import crossings, isotonic
from tests.examples import any_seed


@given(any_seed)
def test_crossings(seed: int) -> None:
    rng = np.random.default_rng(seed)
    left = list(range(5))
    right = list(rng.permutation(np.arange(5, 11)).tolist())
    after = [np.flatnonzero(rng.random(6) < 0.4) + 5 for _ in left] + [[]] * 6
    wires = [(left.index(a), right.index(b)) for a in left for b in after[a]]
    expected = sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(wires, 2))
    assert crossings([left, right], after) == expected  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(0.1, 5)), min_size=1, max_size=12))
def test_isotonic(pairs: list[tuple[float, float]]) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    values, weights = zip(*pairs, strict=True)
    expected = optimize.isotonic_regression(values, weights=weights).x
    assert isotonic(values, weights) == pytest.approx(expected.tolist(), abs=1e-9)
