"""Tough places: against the same votes in whole numbers, and under erasures and noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from difflogic.circuit.live_part import fold
from difflogic.config import load_config
from difflogic.library.groups import Claims, PictureOptions
from difflogic.library.picture_experiment import experiment_for
from difflogic.library.proving import certify
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.pictures.picture import Picture
from difflogic.pictures.tough import FLAGS, SIDES, voting_layers
from difflogic.proof.convergence.findings import Convergence
from difflogic.proof.convergence.orbits import plain_step
from difflogic.search.corrector import Corrector
from difflogic.system.errors import ConfigError
from difflogic.tasks import make_task
from tests.examples import any_seed, examples
from tests.paths import GALLERY

NAMES = ("NW", "N", "NE", "W", "C", "E", "SW", "S", "SE")


def grown(height, width, *overrides, tough=True):
    """A model that shows noise, without training: all of it is corrected."""
    bits = np.random.default_rng(height).integers(0, 2, (1, height, width), np.uint8)
    growth = experiment_for(Picture("noise", bits), PictureOptions(hold=True, tough=tough))
    model = Model.create(load_config(growth.default, [*growth.overrides, *overrides]))
    found = Corrector(model, make_task(model.config).stages[0], None).correct(model)
    return Model.of(found.circuit, model.config)


def question_of(model):
    """A question about the circuit without the gates that nothing reads."""
    target = make_task(model.config).target
    automaton = from_model(model)
    small = automaton.with_circuit(fold(automaton.circuit))
    return Convergence.of(small, target.astype(np.uint8))


def vote(cells, bits, way):
    """Return flag and number of a row (way 0) or column, by counting votes.

    `cells` maps names to (alive, (flag of row, flag of column), (row, column)).
    """
    behind, *beside = "NWE" if way == 0 else "WNS"
    at_edge = {
        side: cells["C"][0] and not any(cells[name][0] for name in (side, *others))
        for side, others in SIDES.items()
    }
    told = {name: cells[name][1][way] for name in NAMES}
    number = {name: cells[name][2][way] for name in NAMES}
    knows = told[behind] or at_edge[behind]
    word = (number[behind] + 1) % 2**bits
    if not knows:
        word &= 2**bits - 2
    either = number[beside[0]] | number[beside[1]]
    own = number["C"]
    if not told["C"]:
        own = own | word | (0 if knows else either)
    voters = [word if knows else word | own] * 2 + [own]
    voters += [number[name] if told[name] else number[name] | own for name in beside]
    known = told["C"] + knows + sum(told[name] or at_edge[name] for name in beside) >= 2
    voted = sum(1 << bit for bit in range(bits) if sum(each >> bit & 1 for each in voters) >= 3)
    return known, voted * known


@examples(100)
@given(st.integers(0, 4), st.integers(1, 4), any_seed, st.floats(0.05, 0.95))
def test_gates_count_votes(rows, columns, seed, share):
    channels = FLAGS + rows + columns
    rng = np.random.default_rng(seed)
    bits = (rng.random((9, channels)) < share).astype(int)
    values = bits.ravel()
    for op, a, b in voting_layers(rows, columns, 16):
        values = op >> 3 - (2 * values[a] + values[b]) & 1
    weights = 1 << np.arange(rows), 1 << np.arange(columns)
    cells = {
        name: (
            cell[0],
            (cell[1], cell[2]),
            (cell[FLAGS : FLAGS + rows] @ weights[0], cell[FLAGS + rows :] @ weights[1]),
        )
        for name, cell in zip(NAMES, bits, strict=True)
    }
    assert values[0] == 1
    for way, (own, weight) in enumerate(
        zip(np.split(values[FLAGS:], [rows]), weights, strict=True)
    ):
        assert (values[1 + way], own @ weight) == vote(cells, len(weight), way)


@pytest.mark.once
@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("corner", [(0, 0), (0, 4), (6, 0), (6, 4), (12, 8)])
def test_pictures_grow_in_time_and_wounds_with_any_content_stay_where_they_are(corner, at_once):
    model = grown(17, 13)
    side = 5
    question = question_of(model)
    growth = make_task(model.config).growth
    rest = plain_step(question, growth.places.settled(question.circuit.channels, 17, 13))
    state = 0 * rest
    rng = np.random.default_rng(sum(corner))
    for _ in range(growth.least_steps):
        state = plain_step(question, state)
    assert_array_equal(state, rest)
    row, column = corner
    inside = np.zeros((17, 13), np.bool_)
    inside[row : row + side, column : column + side] = True
    state = np.where(inside, rng.integers(0, 2, rest.shape), rest)
    for _ in range((2 * side + 1) * (1 if at_once else 8)):
        fire = np.ones((17, 13)) if at_once else rng.random((17, 13)) < 0.5
        state = np.where(fire, plain_step(question, state), state)
        assert_array_equal(state[:, ~inside], rest[:, ~inside])
    assert_array_equal(state, rest)


def test_damage_to_tough_pictures_is_proved_to_stay_and_that_to_others_is_shown_to_spread():
    for contents in ("zeros", "any"):
        found = certify(grown(16, 20), Claims(damage=4, contents=contents))
        assert found.proved
        assert found.assurance.method == "all ways to erase neighbours"
        assert found.confinement.reach == 0
        assert found.confinement.rounds <= 9
    plain = certify(grown(20, 20, tough=False), Claims(damage=4))
    assert plain.assurance.proved
    assert not plain.proved
    assert "makes a cell wrong" in plain.confinement.text
    with pytest.raises(ConfigError, match="no such square fits into 16×20 cells"):
        certify(grown(16, 20), Claims(damage=4, margin=7))
    with pytest.raises(ConfigError, match="grids of other sizes cannot be certified"):
        certify(grown(16, 20), Claims(damage=4, sizes=[(3, 3)]))
    with pytest.raises(ConfigError, match="grids of other sizes cannot be certified"):
        certify(GALLERY / "game-of-life.json", Claims(sizes=[(3, 3)]), task="game-of-life")


@pytest.mark.parametrize(
    ("override", "message"),
    {
        "automaton.places=false": "tough: needs counted places",
        "automaton.steps=27": "use 30 or more",
        "update.gates=[200,200,200,14]": "need 16 layers or more",
        f"update.gates=[{'40,' * 20}14]": "all but the last of more than",
    }.items(),
)
def test_settings_without_tough_places_are_refused(override, message):
    with pytest.raises(ConfigError) as raised:
        grown(18, 20, override)
    assert message in str(raised.value)
    with pytest.raises(ConfigError, match="needs 3 rows and columns or more"):
        grown(2, 20)
