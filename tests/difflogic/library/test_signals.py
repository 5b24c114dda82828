"""Rules as functions: their circuits do what the functions do with plain bits."""

import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import difflogic
from difflogic.circuit.automaton import Automaton
from difflogic.formats import FORMATS
from difflogic.library.groups import Claims
from difflogic.library.loaded import load
from difflogic.library.proving import certify
from difflogic.library.signals import rule
from difflogic.system.errors import CircuitError, ConfigError
from tests.paths import DOCS

PAGE = DOCS / "tough.md"


def example() -> str:
    """Return the code that docs/tough.md shows."""
    found = re.search(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return found[1]


@cache
def tough() -> Any:
    """Return the rule of that page."""
    names: dict[str, Any] = {}
    exec(example().partition("\n\n\n")[0], names)
    return names["tough"]


def tough_checkerboard(fire_rate: float = 0.6) -> Automaton:
    return rule(tough(), 6, name="tough", size=(14, 14), fire_rate=fire_rate)


def test_a_circuit_does_what_its_function_does() -> None:
    rng = np.random.default_rng(0)
    inputs = rng.random((9, 6, 4096)) < 0.5
    circuit = tough_checkerboard().circuit
    after = circuit.next_state(inputs.reshape(54, -1))
    for bits, wanted in zip(after, tough()(*inputs), strict=True):
        assert (bits == wanted).all()


def test_operators_and_constants() -> None:
    made = rule(
        lambda *cells: (1 & cells[4][0] | cells[3][1] ^ 1, 0, True ^ cells[5][2], cells[8][3]),
        4,
        name="mixed",
        visible=(2, 0),
    )
    cases = np.arange(16) >> np.arange(4)[:, None] & 1
    inputs = np.zeros((9, 4, 16), bool)
    inputs[4, 0], inputs[3, 1], inputs[5, 2], inputs[8, 3] = cases
    after = made.circuit.next_state(inputs.reshape(36, -1))
    assert (after == [cases[0] | 1 - cases[1], 0 * cases[0], 1 - cases[2], cases[3]]).all()
    assert (made.name, made.visible, made.boundary) == ("mixed", (2, 0), "zero")


def test_the_tough_rule_is_right_from_every_start_on_many_sizes() -> None:
    sizes = [(1, 1), (1, 9), (5, 6), (7, 3), (14, 14), (17, 10)]
    found = certify(tough_checkerboard(), Claims(sizes), task="checkerboard-async")
    assert found.proved
    for finding, (height, width) in zip(found.findings, sizes, strict=True):
        y, x = np.indices((height, width)) // 2
        assert (finding.known == (x + y) % 2).all()


@pytest.mark.once
def test_the_example_runs(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    exec(example(), {"difflogic": difflogic})
    gates = re.findall("[0-9]+", capsys.readouterr().out)
    assert re.findall(r"has (\d+)\s+gates,\s+(\d+)", PAGE.read_text("utf-8")) == [(*gates[:2],)]
    assert load("tough.json").automaton.circuit.gates == int(gates[1])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda *cells: cells[4][:1], "returns 1 bits, but its cells have 2"),
        (lambda *cells: (cells[4][0], 2), "2 is not a bit of this rule"),
        (lambda *cells: (cells[4][0], "1"), "'1' is not a bit"),
        (lambda *cells: (cells[4][0] & 0.5, 1), "0.5 is not a bit"),
        (lambda *cells: (cells[4][0] if cells[3][0] else 1, 1), "cannot branch on a signal"),
        (lambda *cells: (cells[4][0] == cells[3][0], 1), "cannot compare signals"),
    ],
)
def test_what_is_no_circuit_is_refused(function: Any, message: str) -> None:
    with pytest.raises(CircuitError, match=re.escape(message)):
        rule(function, 2)


def test_signals_of_another_rule_are_refused() -> None:
    kept = []
    rule(lambda *cells: kept.append(cells[0][0]) or cells[0], 1)
    with pytest.raises(CircuitError, match="not a bit of this rule"):
        rule(lambda *cells: [kept[0] & cells[0][0]], 1)
    with pytest.raises(ConfigError, match="channels 0: must be from 1 to 64"):
        rule(lambda *cells: [], 0)


@pytest.mark.parametrize("size", [(0, 1), (-3, 4), (70000, 3)])
def test_what_no_circuit_file_could_hold_is_neither_made_nor_exported(size) -> None:
    for changes, reason in (
        ({"size": size}, '"height" must'),
        ({"name": 'x"""\nimport os'}, '"name" must'),
        ({"palette": ((300, 0, 0), (-1, 0, 0))}, "red, green and blue from 0 to 255"),
    ):
        with pytest.raises(CircuitError, match=reason):
            rule(lambda *cells: cells[4], 1, **changes)
    for name in FORMATS:
        with pytest.raises(CircuitError, match='"height" must'):
            difflogic.export(replace(tough_checkerboard(), height=size[0]), format=name)
