"""The page's two engines in Node.js, against the interpreter of `dct simulate`."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from difflogic.circuit.automaton import Blocks
from difflogic.library import starts
from difflogic.library.conditions import Conditions
from difflogic.simulation.bit_grid import Geometry
from difflogic.simulation.simulator import Simulator, World, rectangle
from difflogic.view.reports.circuits import running
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.circuit.rules import life_like, random_circuit
from tests.difflogic.view.node import needs_node, run_node
from tests.difflogic.view.reports.pages import automaton as shipped

pytestmark = pytest.mark.thorough

RUNNER = Path(__file__).with_name("run_page.mjs")


def in_node(cases):
    """The bits (engines, channels, height, width) of each case."""
    automata = {id(case["automaton"]): case["automaton"] for case in cases}
    data = {key: running(found) for key, found in automata.items()}
    sent = [{**case, "automaton": data[id(case["automaton"])]} for case in cases]
    for case, found in zip(cases, run_node(RUNNER, cases=sent), strict=True):
        shape = (2, case["automaton"].circuit.channels, case["height"], case["width"])
        bits = np.array([np.frombuffer(text.encode(), np.uint8) - ord("0") for text in found])
        yield bits.reshape(shape)


def in_python(case, engine="interpreter"):
    """The bits (channels, height, width) of a case, by an engine of the library."""
    found = case["automaton"]
    height = case["height"]
    width = case["width"]
    boundary = "periodic" if case["periodic"] else "zero"
    geometry = Geometry(found.circuit.channels, height, width, boundary)
    harm = []
    for at, y, x, size in case["strokes"]:
        top = y - size // 2
        left = x - size // 2
        rows, columns = (
            (max(0, first), min(end, first + size)) for first, end in ((top, height), (left, width))
        )
        harm.append(rectangle((at,), rows, columns, width))
    conditions = World(geometry, found.fire_rate, case["seed"])
    with Simulator(found.circuit, conditions, engine) as simulator:
        starts.prepare(simulator, found, Conditions(start=found.start))
        simulator.run(case["steps"], harm)
        return simulator.grid.bits()


def compare(cases):
    for case, found in zip(cases, in_node(cases), strict=True):
        expected = in_python(case)
        for engine, bits in zip(("WebAssembly", "JavaScript"), found, strict=True):
            shown = f"{engine}: {case['automaton'].circuit}, {case}"
            np.testing.assert_array_equal(bits, expected, shown)


def case(found, height, width, periodic, steps, strokes=(), seed=3):
    return {
        "automaton": found,
        "height": height,
        "width": width,
        "periodic": periodic,
        "seed": seed,
        "steps": steps,
        "strokes": list(strokes),
    }


@needs_node
def test_random_circuits_on_grids_of_all_kinds():
    rng = np.random.default_rng(0)
    cases = []
    for number in range(16):
        channels = int(rng.integers(1, 4))
        labels = rng.permutation(9)[:channels].tolist()
        circuit = random_circuit(rng, channels, int(rng.integers(0, 40)) + 1, labels)
        changes = {
            "fire_rate": float(rng.choice([1.0, 0.5, 0.6, 0.05])),
            "start": str(rng.choice(["random", "center", "zeros"])),
            "blocks": None if number % 4 else Blocks(labels[0], labels[-1], number // 4 % 2, 1),
        }
        height, width = (int(side) for side in rng.choice([1, 2, 3, 17, 63, 64, 65, 128, 130], 2))
        strokes = [(4, height // 2, width - 1, 3)] if number % 2 else []
        found = automaton(circuit, height=8, width=8, **changes)
        cases.append(case(found, height, width, bool(number % 4 < 2), 9, strokes, number * 7919))
    compare(cases)


@pytest.mark.once
@needs_node
def test_many_steps_in_blocks():
    """High grids take several steps at once, in a ring of rows."""
    life = automaton(life_like("3", "23"))
    compare([case(life, 200, 70, periodic, 77, [(50, 100, 30, 31)]) for periodic in (True, False)])
    # Rows that end with a cache line: there is no gap before the next row, and remains of a smaller
    # grid are not read.
    board = replace(shipped("checkerboard"), boundary="zero")
    sizes = product((512, 1024), (False, True))
    compare([case(board, 40, width, periodic, 6) for width, periodic in sizes])


@pytest.mark.once
@needs_node
@pytest.mark.parametrize("some", [{}, {"around": [0, 1, 3, 5, 7, 8]}])
@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("size", [(1, 1), (5, 33), (9, 70)])
def test_cells_that_are_wrong_by_a_rule_of_life(size, periodic, some):
    states = np.random.default_rng(size[1]).integers(0, 2, (2, *size))
    found = run_node(
        RUNNER.with_name("run_judge.mjs"),
        target={"kind": "life", "born": [2, 6], "survive": [3, 4], **some},
        periodic=periodic,
        height=size[0],
        width=size[1],
        states=["".join(map(str, state.ravel())) for state in states],
    )
    padded = np.pad(states[0], 1, mode="wrap" if periodic else "constant")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3)).reshape(*size, 9)
    counts = windows[..., some.get("around", [0, 1, 2, 3, 5, 6, 7, 8])].sum(axis=-1)
    alive = np.where(states[0] == 1, np.isin(counts, [3, 4]), np.isin(counts, [2, 6]))
    assert found == (alive != states[1]).sum()
