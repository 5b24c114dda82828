"""The page of a rule from examples: the symbols of `dct apply`, in Node.js and in a browser."""

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from difflogic.evaluation.settled import answers
from difflogic.examples.encoding import CLASH, FEATURE_NAMES, MOVED_FEATURES, Encoding
from difflogic.experiment.example_options import ExampleOptions
from difflogic.experiment.example_run import train_examples
from difflogic.library.applying import apply
from difflogic.library.reporting import report
from difflogic.view.reports.circuits import running
from difflogic.view.reports.symbols import encoding_of
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.circuit.rules import random_circuit
from tests.difflogic.view.node import needs_node, run_node
from tests.difflogic.view.reports.browser import needs_browser

SYMBOLS = ("0", "red", "2", "x")
CODES = [
    (("this", "another", "inside"), ("this",)),
    (("single",), ("this",)),
    (("=red", "=2", "inside"), ("=red", "=x")),
    (("filled", "inside"), ("=2", "=red", "=x")),
    (("odd", "largest"), ("=x",)),
    (tuple(MOVED_FEATURES), ("this",)),
]


def random_case(number):
    """An automaton with an encoding, a grid and strokes; some states never rest, some clash."""
    rng = np.random.default_rng(number)
    encoding = Encoding(SYMBOLS, int(rng.integers(0, 2)), *CODES[number // 2 % len(CODES)])
    held = len(encoding.features)
    outputs = len(encoding.outputs)
    read = rng.permutation(held)[: rng.integers(0, held + 1)].tolist()
    labels = [*read, *range(held, held + outputs + 1)]
    circuit = random_circuit(rng, len(labels), int(rng.integers(1, 30)), labels)
    boundary = ["zero", "periodic"][number % 3 == 0]
    visible = tuple(range(held, held + outputs))
    settings = {"boundary": boundary, "visible": visible, "steps": 3, "height": 2, "width": 4}
    found = automaton(circuit, encoding=asdict(encoding), **settings)
    height = 1 if number % 2 else int(rng.integers(1, 8))
    grid = rng.integers(0, 4, (height, int(rng.integers(1, 80))), np.uint8)
    grid[rng.random(grid.shape) < 0.7] = encoding.background
    strokes = [[0, 2, 3, 1], [height - 1, 0, 1, 3]] if number % 2 else []
    return found, encoding, grid, strokes


@pytest.mark.thorough
@needs_node
def test_random_rules_give_the_symbols_of_dct_apply():
    assert {*FEATURE_NAMES} <= {name for features, _ in CODES for name in features}
    cases = [random_case(number) for number in range(48)]
    sent = [
        (running(found) | {"encoding": encoding_of(found)}, grid.shape, grid.ravel().tolist(), more)
        for found, _, grid, more in cases
    ]
    results = run_node(Path(__file__).with_name("run_examples.mjs"), cases=sent)
    seen = set()
    for (found, encoding, grid, strokes), engines in zip(cases, results, strict=True):
        for y, x, size, symbol in strokes:
            top = y - size // 2
            left = x - size // 2
            grid[max(0, top) : top + size, max(0, left) : left + size] = symbol
        (after,) = answers(found, encoding, [grid])
        expected = np.where(after == CLASH, 16, after).ravel().tolist()
        for engine, (name, ended, symbols) in zip(
            ("WebAssembly", "JavaScript"), engines, strict=True
        ):
            assert (name, symbols) == (engine, expected)
            seen |= {ended, *(["clash"] if 16 in symbols else [])}
    assert seen == {"at rest", "cut off", "clash"}


@needs_browser
@pytest.mark.slow
def test_stepping_through_examples_and_painting_in_a_browser(window, tmp_path):
    lines = [".aa.a..", ".aaaa..", "b...b", "bbbbb", "..c.c.", "..ccc.", "a.a", "aaa"]
    (tmp_path / "fences.csv").write_text("\n\n".join(",".join(line) for line in lines))
    run = train_examples(
        tmp_path / "fences.csv", ExampleOptions(hold_out=0.2, directory=tmp_path / "run")
    )
    report(run.path, tmp_path / "page.html")
    window.open(tmp_path / "page.html")
    shown = "return document.querySelector('#example').selectedOptions[0].textContent"
    for number in (1, 2, 3):
        assert window.js(shown) == f"training {number}: right"
        assert window.text("#verdict") == f"Training, {number} of 3: the rule is right."
        window.find("#play").click()
        window.wait("return !dct.player.playing")
        window.wait("return document.querySelector('#shown-wrong').textContent === '0'")
        window.wait("return /, at rest$/.test(document.querySelector('#shown-step').textContent)")
        window.find("#next").click()
    assert window.js(shown).startswith("held out 1: ")
    window.set("#rows", 2)
    window.set("#columns", 11)
    assert window.js(shown) == "your own grid"
    names = window.js("return [...document.querySelectorAll('.symbol')].map((e) => e.textContent)")
    window.choose("brush", names.index("c"))
    window.drag((1, 2))
    window.drag((1, 8))
    own = "return [...(arguments[0] ? dct.simulation.decode() : dct.simulation.kept.input)]"
    before = [names[symbol] for symbol in window.js(own, 0)]
    assert [before[11 + column] for column in (1, 2, 3, 8)] == [".", "c", ".", "c"]
    window.js("dct.player.advance(1000)")
    (found,) = apply(run.path, [[before[:11], before[11:]]])
    assert [names[symbol] for symbol in window.js(own, 1)] == [*found.after[0], *found.after[1]]
    assert window.messages() == []
