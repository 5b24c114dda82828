"""Rules by chance that run, compared with plain NumPy, and their files."""

import json
from dataclasses import replace

import numpy as np
import pytest

import difflogic
from difflogic.identification.rules import Space
from difflogic.simulation.simulator import choose_engine
from difflogic.system.errors import CircuitError, ConfigError
from tests.difflogic.identification.automata import brains_brain, film, life, soup
from tests.marks import each_boundary


@pytest.fixture(scope="module")
def rule(tmp_path_factory):
    """A file of Life whose births happen with a probability of about 0.7."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("rule") / "rule.json"

    def step(cells):
        after = life(cells)
        return np.where((after > cells) & (rng.random(cells.shape) > 0.7), 0, after)

    found = difflogic.identify_chance(film(step, soup(rng, (40, 40)), 20))
    found.save(path)
    return path


def bits(path, **conditions):
    return difflogic.simulate(path, difflogic.Conditions(**conditions)).grid.bits()


@each_boundary
def test_sure_entries_are_those_of_a_plain_rule(tmp_path, boundary):
    start = np.random.default_rng(0).integers(0, 2, (2, 70, 67))
    space = Space("moore", "outer-totalistic", 3)
    around = space.digits[:, space.examples].T.reshape(-1, 3, 3)
    after = [brains_brain(np.pad(each, 1))[2, 2] for each in around]
    table = [
        {"entry": space.describe(entry), "probabilities": np.eye(3)[state].tolist()}
        for entry, state in enumerate(after)
    ]
    head = {"format": "dct-chance", "version": 1, "neighbourhood": "moore", "states": 3}
    head |= {"symmetry": "outer-totalistic", "boundary": boundary, "palette": [], "steps": 1}
    text = json.dumps({**head, "height": 70, "width": 67, "table": table})
    (tmp_path / "rule.json").write_text(text)
    found = bits(tmp_path / "rule.json", start=start, steps=1)
    states = np.minimum(start[0] + 2 * start[1], 2)
    right = brains_brain(states if boundary == "periodic" else np.pad(states, 1))
    right = right if boundary == "periodic" else right[1:-1, 1:-1]
    assert (found[0] + 2 * found[1] == right).all()


def test_a_drawn_film_gives_the_probabilities_back(rule):
    frames = np.concatenate([bits(rule, steps=steps, seed=5) for steps in range(1, 12)])
    found = difflogic.identify_chance(frames)
    table = json.loads(rule.read_text())["table"]
    true = np.array([each["probabilities"] for each in table])
    seen = found.counts.any(axis=1)
    low, high = found.intervals
    assert ((low <= true + 1e-9) & (true <= high + 1e-9))[seen].all()
    assert found.drawn.sum() == 1
    assert found.dependence.independent


def test_draws_depend_on_seed_and_place_alone(rule, monkeypatch):
    wanted = difflogic.simulate(rule, difflogic.Conditions(steps=9, seed=1))
    assert wanted.digest() != difflogic.simulate(rule, difflogic.Conditions(steps=9)).digest()
    monkeypatch.setattr("difflogic.simulation.interpreter.BAND_WORDS", 3)
    again = difflogic.simulate(rule, difflogic.Conditions(steps=9, seed=1), engine="compiled")
    assert wanted.digest() == again.digest()
    assert again.engine == choose_engine(again.automaton.circuit, again.simulator.world, 10**9)
    with pytest.raises(CircuitError, match="rule by chance"):
        difflogic.export(again.source, format="verilog")


WRONG = {
    "version": lambda data: data.update(version=2),
    "table": lambda data: data.update(states=3),
    "outer-sum": lambda data: data.update(symmetry="outer"),
    "steps": lambda data: data.pop("steps"),
    "18 entries": lambda data: data.update(table=[]),
    "a palette of 3 colours": lambda data: data.update(palette=["#000000"] * 3),
    r'"palette"\[0\] must be a colour such as #d63031': lambda data: data.update(palette=["red"]),
    r"3 in state 1 needs 2 .* has 2 with the sum 1\.0001": lambda data: data["table"][3].update(
        probabilities=[0.5, 0.5001]
    ),
    "in order": lambda data: data["table"].insert(2, data["table"].pop()),
}


@pytest.mark.parametrize("named", WRONG)
def test_wrong_files_are_refused_by_name(rule, tmp_path, named):
    data = json.loads(rule.read_text())
    WRONG[named](data)
    (tmp_path / "wrong.json").write_text(json.dumps(data))
    with pytest.raises(CircuitError, match=rf"wrong\.json: .*{named}"):
        difflogic.simulate(tmp_path / "wrong.json")


def test_a_table_that_no_file_holds_is_refused(tmp_path):
    frames = np.random.default_rng(0).integers(0, 4, (2, 8, 8))
    found = difflogic.identify_chance(frames)
    large = replace(found, counts=np.zeros((4**9, 4), np.int64))
    with pytest.raises(ConfigError, match="not 1048576"):
        large.save(tmp_path / "large.json")
