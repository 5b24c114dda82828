"""Kinds of rules chosen by odds: what is said to be proved, compared with all rules of a line."""

import json

import numpy as np
import pytest

import difflogic
from difflogic.examples.film import Reading, read
from difflogic.system.errors import ConfigError
from tests.difflogic.identification.test_small_films import explain, rules_of_kind, stepped

RULES = rules_of_kind("line-1", "none")
MIRRORED = RULES.reshape(-1, 2, 2, 2).transpose(0, 3, 2, 1).reshape(-1, 8)
ASKED = [
    {"symmetry": "auto"},
    {"radius": 1, "symmetry": "auto"},
    {"radius": 1},
    {"radius": "auto"},
    {"radius": 1, "symmetry": "reflections"},
    {"radius": 1, "gap": "auto"},
    {"radius": 1, "gap": "auto", "symmetry": "auto"},
]


def identify(pairs, folder, asked):
    train = [{"input": before, "output": after} for before, after in pairs]
    (folder / "pairs.json").write_text(json.dumps({"train": train}))
    return difflogic.identify(folder / "pairs.json", difflogic.Assumptions(**asked), effort="low")


def compare(seed, folder):
    """Identify a few pairs of rows; return whether a rule is said to be the only one."""
    rng = np.random.default_rng(seed)
    asked = ASKED[seed % len(ASKED)]
    mirrors = (RULES == MIRRORED).all(axis=1) | (asked.get("symmetry") != "reflections")
    table = rng.choice(RULES[mirrors])
    width = int(rng.integers(5, 9))
    films = {}  # of rows with other cells beyond their ends, one
    for _ in range(int(rng.integers(1, 6))):
        wide = rng.integers(0, 2, (1, width + 2))
        pair = np.stack([wide, stepped(table, wide, "line-1", "periodic")])[..., 1:-1]
        films[str(pair[0])] = pair
    pairs = list(films.values())
    if all((before == after).all() for before, after in pairs):
        return None  # refused
    found = identify([(before.tolist(), after.tolist()) for before, after in pairs], folder, asked)
    rule = found.rule
    space = found.rule.space
    fits = np.logical_and.reduce([explain(RULES, each, "line-1", "unknown") for each in pairs])
    right = RULES[fits & mirrors]
    assert len(right)
    np.testing.assert_allclose(found.predict().sum(axis=0), 1)
    if rule.unique:
        assert (space.neighbourhood, rule.gap) == ("line-1", 1)
        for entry in np.flatnonzero(rule.determined).tolist():
            assert set(right[:, space.examples[entry]]) == {rule.table[entry]}
    assert bool(rule.unique) == ("(proved)" in rule.uniqueness and "kinds" not in rule.uniqueness)
    return rule.unique


def test_a_kind_that_odds_chose_proves_nothing_of_others(tmp_path):
    rows = ["011101 100011", "1101111 0010000", "01101000 10011100"]
    pairs = [[*map(list, row.split())] for row in rows]
    chosen = identify(pairs, tmp_path, {"radius": 1, "symmetry": "auto"}).rule
    assert chosen.unique is None
    assert "determined 6" in chosen.counts
    assert "of this kind" in chosen.counts
    plain = identify(pairs, tmp_path, {"radius": 1})
    assert plain.rule.unique is False
    assert plain.weighed is not None
    with pytest.raises(ConfigError, match="auto weighs"):
        identify(pairs, tmp_path, {"gap": "auto", "hidden": 1})
    film = read([tmp_path / "pairs.json"], Reading(states=3))
    assert (film.states, film.query) == (3, None)  # none of its inputs is asked for


@pytest.mark.once
def test_some_pairs(tmp_path):
    assert {compare(seed, tmp_path) for seed in range(4 * len(ASKED))} == {True, False, None}
