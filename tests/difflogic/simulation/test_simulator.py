"""Both engines against simulation cell by cell, and against each other."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from difflogic.circuit.gates import Op
from difflogic.simulation import compiled, interpreter, native
from difflogic.simulation.bit_grid import Geometry, pack
from difflogic.simulation.simulator import (
    Erasure,
    Simulator,
    World,
    choose_engine,
    rectangle,
    useful_workers,
)
from difflogic.system.work import checking, working
from tests.difflogic.circuit.rules import circuits, life_automaton
from tests.difflogic.formats.made import random_circuit
from tests.difflogic.simulation import naive
from tests.examples import any_boundary
from tests.marks import each_boundary

ENGINES = [("interpreter", 1), ("compiled", 1), ("compiled", 2), ("compiled", 3)]
WIDTHS = st.one_of(st.integers(1, 10), st.sampled_from([63, 64, 65, 128, 500, 512, 513, 1029]))


@pytest.fixture(autouse=True, scope="module")
def deep_blocks():
    """Allow blocks of several steps on grids of a few rows, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "ROWS_PER_STEP", 1)
        yield


def run(
    circuit, state, steps, boundary, engine, workers, fire_rate=1.0, seed=0, damage=(), noise=0.0
):
    geometry = Geometry(*state.shape, boundary)
    world = World(geometry, fire_rate, seed, noise)
    with Simulator(circuit, world, engine, workers) as simulator:
        naive.load(simulator.grid, state)
        simulator.run(steps, damage)
        assert simulator.step == steps
        return simulator.grid.bits()


def draw_state(channels, height, width, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (channels, height, width), np.uint8)


@pytest.mark.once
@given(
    circuits(),
    st.integers(1, 9),
    WIDTHS,
    any_boundary,
    st.integers(1, 7),
    st.sampled_from([1.0, 0.6, 0.03]),
    st.integers(0, 2**63),
    st.sampled_from([0.0, 0.3, 0.005]),
)
@settings(max_examples=15)
def test_all_engines_agree_with_plain_simulation(
    circuit, height, width, boundary, steps, fire_rate, seed, noise
):
    state = draw_state(circuit.channels, height, width, seed)
    how = {"fire_rate": fire_rate, "seed": seed, "noise": noise}
    expected = naive.simulate(circuit, state, steps, boundary, **how)
    for engine, workers in ENGINES:
        found = run(circuit, state, steps, boundary, engine, workers, **how)
        assert_array_equal(found, expected, f"{engine}, {workers} workers")


@each_boundary
@pytest.mark.parametrize(("height", "width"), [(1, 1), (2, 2), (1, 200), (200, 1), (50, 70)])
def test_blocks_of_steps_and_bands_of_rows(height, width, boundary):
    rng = np.random.default_rng(5)
    circuit = random_circuit(3, 60, rng)
    ops = rng.choice([Op.XOR, Op.XNOR, Op.XOR, Op.NAND], circuit.gates)  # which keep it alive
    circuit = replace(circuit, op=ops)
    state = draw_state(3, height, width)
    expected = naive.simulate(circuit, state, 37, boundary)
    assert height * width < 100 or 0 < expected.mean() < 1
    for engine, workers in ENGINES:
        found = run(circuit, state, 37, boundary, engine, workers)
        assert_array_equal(found, expected)


@pytest.mark.once
@each_boundary
@pytest.mark.parametrize("words", [2, 4, 8])
def test_vector_widths(words, boundary, monkeypatch):
    if words > native.vector_words():
        pytest.skip("wider than this machine's vectors")
    monkeypatch.setattr(native, "vector_words", lambda: words)
    circuit = random_circuit(2, 40, np.random.default_rng(3))
    for height, width in ((1, 1), (2, 70), (7, 65), (31, 513)):
        state = draw_state(2, height, width)
        for fire_rate, steps, workers in ((1.0, 1, 1), (1.0, 9, 3), (0.6, 5, 2)):
            expected = naive.simulate(circuit, state, steps, boundary, fire_rate)
            found = run(circuit, state, steps, boundary, "compiled", workers, fire_rate)
            assert_array_equal(found, expected, f"{height}x{width}, {steps} steps")


@given(st.integers(1, 40), st.integers(1, 150), st.data())
@settings(max_examples=10)
@example(40, 64, None)
def test_damage(height, width, data):
    circuit = random_circuit(2, 40, np.random.default_rng(2))
    state = draw_state(2, height, width)
    steps = [2, 3, 9]
    rows = (0, height)
    columns = (0, 1)
    if data is not None:
        rows, columns = (
            sorted(data.draw(st.tuples(st.integers(0, size - 1), st.integers(1, size))))
            for size in (height, width)
        )
    cells = np.zeros((height, width), np.uint8)
    cells[slice(*rows), slice(*columns)] = 1
    other = (np.random.default_rng(3).random((height, width)) < 0.3).astype(np.uint8)
    expected = naive.simulate(
        circuit, state, 11, "periodic", damage={2: cells, 3: cells, 9: cells, 4: other}
    )
    both = [
        rectangle(steps, rows, columns, width),
        Erasure((4,), slice(0, height), pack((other == 0)[None])[:, 0]),
    ]
    for engine, workers in ENGINES:
        found = run(circuit, state, 11, "periodic", engine, workers, damage=both)
        assert_array_equal(found, expected)


@pytest.mark.parametrize("long_steps", [False, True])
@pytest.mark.parametrize(("engine", "workers"), ENGINES)
def test_stopping_loses_nothing(engine, workers, long_steps, monkeypatch):
    """Stop between steps, or within long steps that take several calls."""
    if long_steps:
        monkeypatch.setattr(compiled, "CALL_SECONDS", 1e-9)
        monkeypatch.setattr(compiled, "BAND_ROWS", 7)
        monkeypatch.setattr(interpreter, "BAND_WORDS", 10)
    circuit = random_circuit(2, 30, np.random.default_rng(8))
    state = draw_state(2, 60, 100)
    with Simulator(circuit, World(Geometry(2, 60, 100, "zero")), engine, workers) as simulator:
        naive.load(simulator.grid, state)
        calls = []

        def stop():
            calls.append(simulator.step)
            if len(calls) % 3 == 2:  # the first call is before a step
                raise KeyboardInterrupt

        for _ in range(3 if long_steps else 1):
            with pytest.raises(KeyboardInterrupt), checking(stop):
                simulator.run(50)
            calls.append(None)
        before = simulator.step
        assert before == 0 if long_steps else before < 50
        assert_array_equal(simulator.grid.bits(), naive.simulate(circuit, state, before, "zero"))
        seen = []
        told = []
        with working(hear=told.append), checking(lambda: seen.append(simulator.step)):
            simulator.run(50 - before)
        assert seen == sorted(seen)
        assert seen[-1] == 50
        assert [told[0].done, told[-1].done, told[-1].total] == [0, 50 - before, 50 - before]
        expected = naive.simulate(circuit, state, 50, "zero")
        assert_array_equal(simulator.grid.bits(), expected)


def test_small_work_is_interpreted_and_large_compiled(monkeypatch):
    monkeypatch.setattr(native, "is_cached", lambda circuit: False)
    circuit = life_automaton().circuit
    small, large = (World(Geometry(1, side, side, "zero")) for side in (64, 4096))
    assert choose_engine(circuit, small, 100) == "interpreter"
    assert choose_engine(circuit, large, 100) == "compiled"
    assert useful_workers(circuit, small, 8) == 1
    assert useful_workers(circuit, large, 8) == 8
    # Fire masks are work, too.
    assert choose_engine(circuit, small, 400) == "interpreter"
    assert choose_engine(circuit, replace(small, fire_rate=0.5), 400) == "compiled"
    # So are many steps of few cells.
    tiny = World(Geometry(1, 3, 3, "zero"))
    assert choose_engine(circuit, tiny, 10) == "interpreter"
    assert choose_engine(circuit, tiny, 200_000) == "compiled"
    monkeypatch.setattr(native, "MOST_GATES", 10)
    assert choose_engine(circuit, large, 10**6) == "interpreter"


@given(st.integers(1, 200), st.integers(1, 10**5), st.integers(1, 10**5), st.integers(1, 64))
def test_plans_fit(channels, height, width, workers):
    geometry = Geometry(channels, height, width, "periodic")
    bands, depth = compiled.choose_bands(geometry, workers)
    assert 1 <= bands <= height
    # Otherwise a band would need rows beyond its neighbours.
    assert 1 <= depth <= max(1, height // bands)
    assert (depth - 1) * 3 * 8 * channels * geometry.stride <= compiled.RING_BYTES


def test_random_starts_depend_only_on_seed_and_labels():
    starts = {}
    for labels in [(0, 4), (4,), (4, 0, 9)]:
        circuit = random_circuit(len(labels), 5, np.random.default_rng(0), labels)
        for seed in (1, 2):
            geometry = Geometry(len(labels), 40, 200, "periodic")
            simulator = Simulator(circuit, World(geometry, seed=seed), "interpreter")
            simulator.randomize()
            starts[labels, seed] = simulator.grid.bits()[labels.index(4)]
            assert 0.47 < simulator.grid.bits().mean() < 0.53
    for seed in (1, 2):
        assert_array_equal(starts[(0, 4), seed], starts[(4,), seed])
        assert_array_equal(starts[(0, 4), seed], starts[(4, 0, 9), seed])
    assert (starts[(4,), 1] != starts[(4,), 2]).mean() > 0.3
