"""The layout: wires run from layer to layer, and points keep their order and distance."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.circuit.circuit import Circuit
from difflogic.formats.diagram.graph import Diagram, Family, diagram
from difflogic.formats.diagram.layout import Layering, arrange, crossings, isotonic, place
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.circuit.rules import circuits


def reached(layering: Layering, node: int) -> set[int]:
    """The nodes that a node's wires reach through the layers."""
    found, waiting = set(), list(layering.after[node])
    while waiting:
        number = waiting.pop()
        point = layering.points[number]
        if point.passes:
            assert point.source == node
            waiting += layering.after[number]
        else:
            found.add(number)
    return found


def check(drawn: Diagram, layering: Layering) -> None:
    targets: dict[int, set[int]] = {}
    for wire in drawn.wires:
        targets.setdefault(wire.source, set()).add(wire.target)
    for node in range(len(drawn.nodes)):
        assert reached(layering, node) == targets.get(node, set())
    for number, point in enumerate(layering.points):
        assert number in layering.layers[point.layer]
        for other in layering.after[number]:
            assert layering.points[other].layer == point.layer + 1
            assert number in layering.before[other]
    assert sorted(n for layer in layering.layers for n in layer) == list(
        range(len(layering.points))
    )
    last = len(layering.layers) - 1
    for number, node in enumerate(drawn.nodes):
        layer = layering.points[number].layer
        assert (layer == last) == (node.family is Family.OUTPUT)
        if node.family is Family.INPUT:
            assert layer == 0


@settings(max_examples=30)
@given(circuits(gates=40))
def test_wires_run_from_layer_to_layer(circuit: Circuit) -> None:
    drawn = diagram(automaton(circuit))
    check(drawn, arrange(drawn))


@given(st.integers(0, 2**32))
def test_crossings(seed: int) -> None:
    rng = np.random.default_rng(seed)
    left, right = list(range(5)), list(rng.permutation(np.arange(5, 11)).tolist())
    after = [np.flatnonzero(rng.random(6) < 0.4) + 5 for _ in left] + [[]] * 6
    wires = [(left.index(a), right.index(b)) for a in left for b in after[a]]
    expected = sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(wires, 2))
    assert crossings([left, right], after) == expected  # type: ignore[arg-type]


@given(circuits(gates=40))
@settings(max_examples=20)
def test_points_keep_their_distance(circuit: Circuit) -> None:
    layering = arrange(diagram(automaton(circuit)))
    heights = [4.0 if point.passes else 26.0 for point in layering.points]
    y = place(layering, heights, 8.0)
    assert min(y[n] - heights[n] / 2 for n in range(len(y))) == pytest.approx(0)
    for layer in layering.layers:
        for upper, lower in pairwise(layer):
            assert y[lower] - y[upper] >= (heights[upper] + heights[lower]) / 2 + 8 - 1e-6


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(0.1, 5)), min_size=1, max_size=12))
def test_isotonic(pairs: list[tuple[float, float]]) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    values, weights = zip(*pairs, strict=True)
    expected = optimize.isotonic_regression(values, weights=weights).x
    assert isotonic(values, weights) == pytest.approx(expected.tolist(), abs=1e-9)
