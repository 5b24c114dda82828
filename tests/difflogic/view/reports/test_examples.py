"""The page of a rule from examples: the symbols of `dct apply`, in Node.js and in a browser."""

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from difflogic.evaluation.settling import settle
from difflogic.examples.encoding import CLASH, Encoding, apply_rule
from difflogic.library.exemplifying import apply, train_examples
from difflogic.library.reporting import report
from difflogic.view.reports.circuits import running
from difflogic.view.reports.examples import encoding_of
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
    (("this-right", "single-right", "single-right-2", "this-left", "single-left"), ("this",)),
]


def random_case(number):
    """An automaton with an encoding, a grid and strokes; some states never rest, some clash."""
    rng = np.random.default_rng(number)
    encoding = Encoding(SYMBOLS, int(rng.integers(0, 2)), *CODES[number % len(CODES)])
    held, outputs = len(encoding.features), len(encoding.outputs)
    labels = [*range(held), *range(held, held + outputs), held + outputs + 1]
    hidden = rng.permutation(labels[:held])[: rng.integers(0, held + 1)]
    labels = [label for label in labels if label not in hidden]
    circuit = random_circuit(rng, len(labels), int(rng.integers(1, 30)), labels)
    found = replace(
        automaton(circuit, boundary=["zero", "periodic"][number % 3 == 0], steps=3),
        visible=tuple(range(held, held + outputs)),
        encoding=asdict(encoding),
        height=2,
        width=4,
    )
    height = 1 if number % 2 else int(rng.integers(1, 8))
    grid = rng.integers(0, 4, (height, int(rng.integers(1, 80))), np.uint8)
    grid[rng.random(grid.shape) < 0.7] = encoding.background
    strokes = [[0, 2, 3, 1], [height - 1, 0, 1, 3]] if number % 2 else []
    return found, encoding, grid, strokes


@pytest.mark.thorough
@needs_node
def test_random_rules_give_the_symbols_of_dct_apply():
    cases = [random_case(number) for number in range(48)]
    results = run_node(
        Path(__file__).with_name("run_examples.mjs"),
        cases=[
            {
                "automaton": running(found) | {"encoding": encoding_of(found)},
                "height": grid.shape[0],
                "width": grid.shape[1],
                "symbols": grid.ravel().tolist(),
                "strokes": strokes,
            }
            for found, _, grid, strokes in cases
        ],
    )
    seen = set()
    for (found, encoding, grid, strokes), engines in zip(cases, results, strict=True):
        for y, x, size, symbol in strokes:
            top, left = y - size // 2, x - size // 2
            grid[max(0, top) : top + size, max(0, left) : left + size] = symbol
        channels = 1 + max(*found.circuit.labels, len(encoding.features) + len(encoding.outputs))
        (after,) = apply_rule(encoding, channels, [grid], lambda s, a=found: settle(a, s).shown)
        expected = np.where(after == CLASH, 16, after).ravel().tolist()
        assert [name for name, *_ in engines] == ["WebAssembly", "JavaScript"]
        for _, ended, symbols in engines:
            assert symbols == expected
            seen |= {ended, *(["clash"] if 16 in symbols else [])}
    assert seen == {"at rest", "cut off", "clash"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A rule that fills rows between posts, learned from lines, with a pair kept aside."""
    folder = tmp_path_factory.mktemp("fences")
    lines = [".aa.a..", ".aaaa..", "b...b", "bbbbb", "..c.c.", "..ccc.", "a.a", "aaa"]
    text = "\n\n".join(",".join(line) for line in lines)
    (folder / "fences.csv").write_text(text)
    return train_examples(folder / "fences.csv", hold_out=0.2, directory=folder / "run")


@needs_browser
@pytest.mark.slow
def test_stepping_through_examples_and_painting_in_a_browser(window, run, tmp_path):
    path = tmp_path / "page.html"
    report(run.path, path)
    window.open(path)
    symbols = "return [dct.simulation.geometry.width, ...dct.simulation.decode()]"
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
    window.find("#next").click()
    assert window.js(shown) == "your own grid"
    window.set("#rows", 2)
    window.set("#columns", 11)
    names = window.js("return [...document.querySelectorAll('.symbol')].map((e) => e.textContent)")
    for name, *cells in (".", *np.ndindex(2, 11)), ("a", (0, 2), (0, 8)), ("c", (1, 1), (1, 4)):
        window.js(
            "document.querySelectorAll('[name=brush]')[arguments[0]].click()", names.index(name)
        )
        for cell in cells:
            window.js("dct.paint(...arguments)", *map(int, cell))
    window.js("dct.player.advance(1000)")
    own = [["."] * 11 for _ in range(2)]
    own[0][2] = own[0][8] = "a"
    own[1][1] = own[1][4] = "c"
    (found,) = apply(run.path, [own])
    width, *after = window.js(symbols)
    assert width == 11
    assert [[names[symbol] for symbol in row] for row in np.reshape(after, (2, 11))] == [
        list(row) for row in found.after
    ]
    assert window.messages() == []
