"""Rules found from recordings, compared with automata in NumPy and with exhaustive search."""

import math
from dataclasses import replace

import numpy as np
import pytest

import difflogic
from difflogic.examples.film import Reading, from_array
from difflogic.identification import Space, identify
from difflogic.identification.inquiry import Inquiry
from difflogic.identification.solver import solve
from difflogic.library.simplifying import SIMPLIFYING
from difflogic.system.deadline import Deadline
from difflogic.system.errors import ConfigError, OutOfTimeError
from difflogic.system.work import working
from tests.difflogic.identification import automata
from tests.difflogic.identification.automata import codes, film, life, soup


def test_a_wrong_gap_has_no_rule():
    frames = film(automata.elementary(110), soup(np.random.default_rng(0), (64,), 0.5), 6, 2)
    with pytest.raises(ConfigError, match=r"no rule explains recording 0 up to frame \d"):
        identify(Inquiry(from_array(frames, how=Reading(line=True)), Space("line-1"), gap=3))


@pytest.mark.parametrize("order", [(0, 2, 1), (1, 2, 0)])
def test_a_rule_whose_states_have_other_names_is_recognised(order):
    start = np.random.default_rng(0).integers(0, 3, (48, 48))
    frames = np.array(order)[film(automata.brains_brain, start, 12)]
    space = Space("moore", "outer-totalistic", 3)
    found = identify(Inquiry(from_array(frames), space))
    words, _, names = (found.renamed or "").partition(" with --states ")
    assert (found.name, words) == (None, "B2/S/C3")
    again = from_array(frames, how=Reading(states=names.split(",")))
    renamed = identify(Inquiry(again, space))
    assert (renamed.name, renamed.renamed) == ("B2/S/C3", None)
    pairs = replace(found.recording, sizes=((48, 48),))
    assert identify(Inquiry(pairs, space)).renamed is None


def test_a_frame_with_one_unseen_cell_is_no_start():
    film = from_array([[[0, 1], [1, 1]], [[0, -1], [1, 1]]])
    assert film.frame(0).tolist() == [[0, 1], [1, 1]]
    with pytest.raises(ConfigError, match="frame 1 has unseen cells"):
        film.frame("last")


def test_recordings_without_a_rule():
    frames = film(automata.brains_brain, np.random.default_rng(0).integers(0, 3, (32, 32)), 9)
    seen = from_array(frames == 1)
    with pytest.raises(ConfigError, match="--hidden"):
        identify(Inquiry(seen, Space()))
    with pytest.raises(ConfigError, match="give one of them"):
        identify(Inquiry(seen, Space(), noise=True, hidden=1))
    with pytest.raises(OutOfTimeError, match="time limit"):
        identify(Inquiry(seen, Space(), hidden=1, deadline=Deadline.after(0)))


def test_contradictions_name_the_place_and_a_remedy():
    frames = film(life, soup(np.random.default_rng(0), (24, 24)), 6)
    for settings in ({"boundary": "zero"}, {"space": Space("von-neumann")}):
        space = settings.pop("space", Space())
        with pytest.raises(ConfigError, match=r"frame \d, row \d+, column") as raised:
            identify(Inquiry(from_array(frames), space, **settings))
        assert "--neighbourhood moore --symmetry outer-totalistic --boundary periodic" in str(
            raised.value
        )
    far = film(lambda cells: np.roll(cells, 2, 1) ^ np.roll(cells, -2, 1), frames[0], 4)
    with pytest.raises(ConfigError) as raised:  # frames of many rows are no lines
        identify(Inquiry(from_array(far), Space()))
    assert "neighbourhood line-" not in str(raised.value)
    still = from_array([[[1, 0, 0, 0, 0, 0]], [[1, 0, 0, 0, 1, 0]]])
    with pytest.raises(ConfigError, match=r"column 4: 000 .* by 1, but by 0 at .* column 2;"):
        identify(Inquiry(still, Space("line-1")))


@pytest.mark.thorough
def test_stopping_keeps_the_rule_found_so_far():
    rng = np.random.default_rng(0)
    films = np.stack([film(life, soup(rng, (8, 8)), 2, 2) for _ in range(5)])
    told = []
    stop = Deadline(math.inf, lambda: len(told) > 40)
    with working(tell=told.append):
        found = identify(Inquiry(from_array(films), Space(), gap=2, deadline=stop))
    assert found.undecided.any()
    assert found.unique is None


@pytest.mark.parametrize("asked", [[True] * 2, [False, *[True] * 9]])
def test_a_stop_ends_the_search_for_a_rule(asked):
    frames = film(life, soup(np.random.default_rng(0), (8, 8)), 2, 2)
    stop = Deadline(math.inf, iter(asked).__next__)
    with pytest.raises(OutOfTimeError):
        solve(Inquiry(from_array(frames), Space(), gap=2, deadline=stop), np.full(512, -1))


def test_a_stop_cuts_the_simplification_short():
    frames = film(life, soup(np.random.default_rng(0), (48, 48)), 8)
    parts = []
    with difflogic.working(tell=lambda news: parts.append(news.what)):
        found = difflogic.identify(
            frames,
            difflogic.Assumptions(symmetry="outer-totalistic"),
            effort="high",  # takes minutes
            should_stop=lambda: SIMPLIFYING in parts,
        )
    assert parts.count(SIMPLIFYING) < 10
    assert found.rule.name == "B3/S23"
    assert found.automaton.circuit.gates


def test_two_cells_away():
    step = lambda cells: np.roll(cells, 2, -1) ^ np.roll(cells, -1, -1)  # noqa: E731
    frames = film(step, soup(np.random.default_rng(0), (200,), 0.5), 4)
    found = difflogic.identify(frames, difflogic.Assumptions("line-2"), effort="low")
    assert found.equations in (["n0' = WW0 ⊕ E0"], ["n0' = E0 ⊕ WW0"])
    assert replace(found.rule, hurried=True).automaton(found.circuit).circuit.gates


@pytest.mark.once
@pytest.mark.parametrize(("radius", "states"), [(2, 2), (3, 2), (2, 3)])
def test_circuits_that_pass_states_on(radius, states, tmp_path):
    """Every r-th step is one of the rule, whatever the other channels hold at the start."""
    rng = np.random.default_rng(radius)
    table = rng.integers(0, states, states ** (2 * radius + 1))
    step = lambda cells: table[codes(cells, f"line-{radius}", states)]  # noqa: E731
    frames = film(step, rng.integers(0, states, (1, 5000)), 3)
    found = difflogic.identify(frames, difflogic.Assumptions(radius=radius), effort="low")
    assert not found.rule.never_seen.any()
    found.save(tmp_path / "rule.json")
    row = rng.integers(0, states, (1, 40))
    bits = np.arange(len(found.automaton.visible))[:, None, None]
    start = rng.integers(0, 2, (found.automaton.circuit.channels, 1, 40))
    start[: len(bits)] = row >> bits & 1
    for steps in (1, 5):
        conditions = difflogic.Conditions((1, 40), radius * steps, start=start)
        end = difflogic.simulate(tmp_path / "rule.json", conditions).grid.bits()[: len(bits)]
        np.testing.assert_array_equal(end, film(step, row, 2, steps)[1] >> bits & 1)


def test_invalid_recordings():
    with pytest.raises(ConfigError, match="mask"):
        from_array(np.zeros((2, 4, 4)), np.zeros((3, 3)))
    with pytest.raises(ConfigError, match="need the shape"):
        from_array(np.zeros((2, 1, 1, 1, 4)), how=Reading(line=True))
    with pytest.raises(ConfigError, match="neighbourhoods"):
        Space("moore", "none", 16)
    with pytest.raises(ConfigError, match="from 2 to 16"):
        Space("line-1", "none", 17)
