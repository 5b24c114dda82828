"""From `dct export` to `dct import` and back, and exports that cannot be."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from difflogic.config import load_config
from difflogic.formats import circuit_json, loading
from difflogic.gates import Op
from difflogic.logic.circuit import LogicCircuit
from difflogic.model import Model
from tests.difflogic.formats.made import automaton, life, words

Dct = Callable[..., Any]

LIFE = automaton(life(), name="life")


@pytest.fixture(autouse=True)
def folder(dct: Dct) -> None:
    """A circuit in the directory of the test."""
    Path("life.json").write_text(circuit_json.render(LIFE))


def save(circuit: LogicCircuit, **changes: Any) -> str:
    made = automaton(circuit, name="other", **changes)
    Path("other.json").write_text(circuit_json.render(made))
    return "other.json"


@pytest.mark.parametrize("options", [[], ["--unsimplified"]])
def test_a_model_by_way_of_logicars(dct: Dct, tiny: list[str], options: list[str]) -> None:
    model = Model.create(load_config("checkerboard-small", tiny))
    model.logits[:] = np.random.default_rng(0).normal(size=model.logits.shape)
    model.save("model.npz")
    assert dct("export", "model.npz", "-o", "x.logicars.json", *options).exit_code == 0
    made = loading.load(Path("model.npz"))
    assert dct("import", "x.logicars.json", "-o", "back.json", "--name", made.name).exit_code == 0
    back = loading.load(Path("back.json"))
    assert dct("export", "model.npz", "-o", "kept.json", *options).exit_code == 0
    kept = loading.load(Path("kept.json"))
    inputs = words(kept.circuit.inputs, np.random.default_rng(1))
    np.testing.assert_array_equal(back.circuit.next_state(inputs), kept.circuit.next_state(inputs))
    if options:
        np.testing.assert_array_equal(
            back.circuit.next_state(inputs), made.circuit.next_state(inputs)
        )


def test_our_own_format_there_and_back(dct: Dct) -> None:
    first = dct("export", "life.json", "--format", "json", "--unsimplified")
    assert first.stdout == circuit_json.render(LIFE)
    assert dct("import", "life.json").stdout == first.stdout


def test_digitaljs(dct: Dct) -> None:
    assert dct("export", "life.json", "-o", "life.digitaljs.json").exit_code == 0
    data = json.loads(Path("life.digitaljs.json").read_text())
    assert data["devices"]["NW0"]["type"] == "Button"


def test_golly(dct: Dct) -> None:
    result = dct("export", "life.json", "-o", "Conway.rule")
    assert result.exit_code == 0
    lines = Path("Conway.rule").read_text().splitlines()
    assert lines[0] == "@RULE Conway"
    assert dct("export", "life.json", "-f", "golly").stdout.startswith("@RULE Life\n")


def born() -> LogicCircuit:
    return LogicCircuit([Op.NOR], [0], [1], [9], (0,))


def crossed() -> LogicCircuit:
    """Two channels that become one another: both matter."""
    return LogicCircuit([], [], [], [4 * 2 + 1, 4 * 2], (0, 1))


class TestBadExports:
    @pytest.mark.parametrize(
        ("circuit", "file", "says"),
        [
            (crossed(), "x.rule", "2 channels matter to what is visible, and a rule for Golly has"),
            (born(), "x.rule", "Golly does not compute regions that are empty"),
            (life(), "a b.rule", 'the name of no rule for Golly: name the file by letters'),
        ],
    )  # fmt: skip
    def test_golly(self, dct: Dct, circuit: LogicCircuit, file: str, says: str) -> None:
        source = save(circuit, visible=(0,))
        result = dct("export", source, "-o", file)
        assert result.exit_code == 2
        assert says in result.stderr
        assert (result.stdout, set(os.listdir())) == ("", {"life.json", "other.json"})

    def test_logicars(self, dct: Dct) -> None:
        source = save(life(channels=129))
        result = dct("export", source, "-o", "x.logicars.json", "--unsimplified")
        assert result.exit_code == 2
        assert "129 channels are more than the 128 that logicars has" in result.stderr
        assert set(os.listdir()) == {"life.json", "other.json"}

    @pytest.mark.parametrize("content", ["{", "", "[]", circuit_json.render(LIFE)[:-9]])
    def test_bad_sources(self, dct: Dct, content: str) -> None:
        Path("other.json").write_text(content)
        result = dct("export", "other.json", "-o", "x.digitaljs.json")
        assert result.exit_code == 2
        assert result.stderr.startswith("error: other.json: ")
        assert set(os.listdir()) == {"life.json", "other.json"}

    def test_a_source_of_logicars(self, dct: Dct) -> None:
        assert dct("export", "life.json", "-o", "x.logicars.json").exit_code == 0
        result = dct("export", "x.logicars.json", "-f", "json")
        assert result.exit_code == 2
        assert "it looks like one of logicars, which dct import turns into one" in result.stderr


def test_simplifying_may_leave_one_channel_for_golly(dct: Dct) -> None:
    made = automaton(life(channels=2, channel=1), visible=(1,))
    Path("two.json").write_text(circuit_json.render(replace(made, name="two")))
    assert dct("export", "two.json", "-o", "Two.rule").exit_code == 0
    assert dct("export", "life.json", "-o", "Life.rule").exit_code == 0
    trees = [Path(f"{name}.rule").read_text().split("@TREE")[1] for name in ("Two", "Life")]
    assert trees[0] == trees[1]
