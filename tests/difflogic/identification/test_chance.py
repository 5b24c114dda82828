"""Rules by chance: counts, odds and intervals, on films drawn with known probabilities.

`python -m tests.results chance` tries many more films, for docs/chance.md.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import correlate2d
from scipy.special import betaln
from scipy.stats import beta

import difflogic
from difflogic.examples.film import Reading, from_array
from difflogic.identification.chance import _gains, clopper_pearson, evidence, find
from difflogic.identification.families import Density
from difflogic.identification.independence import _products
from difflogic.identification.rules import Space, spread_states
from difflogic.system.errors import ConfigError
from tests.difflogic.identification import automata, remembering
from tests.difflogic.identification.automata import HOODS, codes, soup
from tests.difflogic.identification.automata import film as film_of
from tests.marks import each_boundary

LINE = HOODS["line-1"]
MOORE = HOODS["moore"]


def binary(ones):
    return np.stack([1 - ones, ones])


def domany_kinzel(rng):
    p = np.array([0, *rng.random(2)])
    return LINE, lambda around: binary(p[around[0] + around[2]])


def diploid(rng):
    (one, two) = rng.integers(0, 256, 2)
    share = rng.uniform(0.1, 0.9)

    def odds(around):
        index = 4 * around[0] + 2 * around[1] + around[2]
        return binary(share * (one >> index & 1) + (1 - share) * (two >> index & 1))

    return LINE, odds


def noisy_life(rng):
    wrong = rng.uniform(0.002, 0.05)

    def odds(around):
        near = around.sum(axis=0) - around[4]
        return binary(np.where((near == 3) | (near == 2) & (around[4] == 1), 1 - wrong, wrong))

    return MOORE, odds


def forest_fire(rng):
    grows = rng.uniform(0.01, 0.1)
    strikes = rng.uniform(0.0005, 0.005)

    def odds(around):
        burns = np.where((np.delete(around, 4, axis=0) == 2).any(axis=0), 1, strikes)
        tree = np.choose(around[4], [grows + 0 * burns, 1 - burns, 0 * burns])
        fire = np.where(around[4] == 1, burns, 0)
        return np.stack([1 - tree - fire, tree, fire])

    return MOORE, odds


def step(rng, offsets, odds, cells):
    around = np.stack([np.roll(cells, (-y, -x), (0, 1)) for y, x in offsets])
    return (rng.random(cells.shape) >= odds(around).cumsum(axis=0)[:-1]).sum(axis=0)


def found(frames, offsets, boundary="periodic"):
    film = from_array(frames, None, Reading(offsets is LINE))
    space = Space("line-1" if offsets is LINE else "moore", "none", film.states)
    return find(film, space, boundary)


def misses(kind, seed):
    """Return how many entries of a drawn film miss a true probability, and how many were seen."""
    rng = np.random.default_rng(seed)
    offsets, odds = kind(rng)
    shape, count = ((1, 200), 120) if offsets is LINE else ((48, 48), 24)
    frames = film_of(lambda cells: step(rng, offsets, odds, cells), soup(rng, shape, 0.5), count)
    chances = found(frames, offsets)
    low, high = chances.intervals
    space = chances.space
    seen = chances.counts.any(axis=1)
    assert chances.drawn.any() == bool(chances.hint)  # not for wrong cells, nor dependent
    of = dict(zip(space.offsets, space.digits, strict=True))
    true = odds(np.stack([of.get(each, 0 * space.digits[0]) for each in offsets]))
    first = low[space.entry_of].T - 1e-9
    last = high[space.entry_of].T + 1e-9
    right = ((first <= true) & (true <= last)).all(axis=0) | ~seen[space.entry_of]
    return len({*space.entry_of[~right].tolist()}), int(seen.sum())


KINDS = [domany_kinzel, noisy_life, forest_fire, diploid]


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_are_found(kind):
    wrong, seen = misses(kind, 0)
    assert wrong == 0 < seen


def plain(rng, number):
    """A film of a plain rule of one of five kinds."""
    counts = [np.flatnonzero(rng.random(9) < 0.4) for _ in range(2)]
    rules = [
        (automata.elementary(rng.integers(256)), soup(rng, (1, 200)), LINE),
        (automata.totalistic(*counts), soup(rng, (32, 32)), MOORE),
        (automata.tabulated(rng.integers(0, 2, 512)), soup(rng, (32, 32)), MOORE),
        (automata.brains_brain, rng.integers(0, 3, (32, 32)), MOORE),
        (automata.wireworld, rng.integers(0, 4, (32, 32)), MOORE),
    ]
    rule, start, offsets = rules[number % 5]
    return film_of(rule, start, 40 if offsets is LINE else 8), offsets


def flipped(rng, number):
    """The same with some cells recorded wrongly."""
    frames, offsets = plain(rng, number)
    wrong = rng.random(frames.shape) < rng.uniform(0.001, 0.02)
    states = max(2, frames.max() + 1)
    other = (frames + rng.integers(1, states, frames.shape)) % states
    return np.where(wrong, other, frames), offsets


def test_plain_rules_need_no_chance_nor_do_wrong_cells():
    for number in range(5):
        chances = found(*plain(np.random.default_rng(number), number))
        assert not chances.drawn.any()
        assert "nothing needs chance" in chances.reading
        film = flipped(np.random.default_rng(number), number)
        assert "likelier than chance" in found(*film).reading


@pytest.mark.parametrize("far", [1, 2, 5, 25])
@pytest.mark.parametrize("opposite", [False, True])
def test_cells_that_draw_together_are_told(far, opposite):
    """Half of 200 cells share their draw with a cell some cells away."""
    rng = np.random.default_rng(far)
    follows = np.flatnonzero(np.arange(200) // far % 2)

    def step(cells):
        draws = rng.random(200)
        shared = draws[follows - far]
        draws[follows] = 1 - shared if opposite else shared
        ones = np.roll(cells, 1) + np.roll(cells, -1)
        return (draws < np.array([0.2, 0.7, 0.4])[ones]).astype(int)

    seen = found(film_of(step, soup(rng, (1, 200), 0.5), 61), LINE).dependence
    assert seen.where == (0, 0, far)
    assert (seen.shared, seen.remembered) == (True, False)
    assert seen.together < -0.2 if opposite else seen.together > 0.2
    assert f"with the cell {far} to the right" in seen.text


def test_mirrored_entries_do_not_hide_a_shared_draw():
    """Pairs of equal states deviate together, and pairs of different ones in opposite ways."""
    rng = np.random.default_rng(6)

    def step(cells):
        return (rng.random(100).repeat(2) < np.where(cells, 0.7, 0.3)).astype(int)

    film = film_of(step, soup(rng, (1, 200), 0.5), 61)
    assert found(film, LINE).dependence.where == (0, 0, 1)


def test_diagonals_that_draw_together_are_told():
    rng = np.random.default_rng(1)
    rows, columns = np.indices((24, 24))

    def step(cells):
        ones = np.roll(cells, 1, 0) + np.roll(cells, -1, 1)
        draws = rng.random(24)[(columns - rows) % 24]
        return (draws < np.where(ones, 0.7, 0.3)).astype(int)

    chances = found(film_of(step, soup(rng, (24, 24), 0.5), 13), MOORE)
    rows, columns = chances.dependence.where[1:]
    assert rows == columns > 0
    assert not chances.hint


@pytest.mark.parametrize("offsets", [LINE, MOORE])
def test_a_rule_that_remembers_is_not_told_to_be_chance(offsets):
    """The next frame is f(neighbourhood) or its opposite, by the cell one frame earlier."""
    rng = np.random.default_rng(3)
    hood, shape = ("line-1", (1, 200)) if offsets is LINE else ("moore", (32, 32))
    table = remembering.drawn(rng, hood, 2, "difference")
    chances = found(remembering.film(rng, table, hood, shape, 22), offsets)
    assert chances.dependence.remembered
    assert chances.dependence.earlier > 0.5
    assert chances.reading.startswith("neither chance nor wrong cells")
    assert "its own state one frame earlier" in chances.dependence.text
    assert not chances.hint


def independent_film(seed):
    """A film whose cells are drawn apart, of one of four kinds."""
    rng = np.random.default_rng(seed)
    hood, height, most = (("line-1", 1, 80), ("moore", int(rng.integers(6, 40)), 24))[seed % 2]
    shape = height, int(rng.integers(20, 250)) if height == 1 else height + 3
    odds = rng.random(2 ** len(HOODS[hood])) ** rng.choice([1, 3])
    if seed % 4 > 1:  # mostly certain
        odds = np.where(rng.random(len(odds)) < 0.7, np.round(odds), odds)
    frames = int(rng.integers(5, most))
    step = lambda cells: (rng.random(shape) < odds[codes(cells, hood)]).astype(int)  # noqa: E731
    return film_of(step, soup(rng, shape, 0.5), frames), HOODS[hood]


def test_cells_that_draw_apart_are_called_so():
    for seed in range(8):
        seen = found(*independent_film(seed)).dependence
        assert seen.independent, seed
        assert seen.text.startswith("no dependence seen beside, above and diagonally, up to")


def test_products_are_those_of_all_pairs():
    values = np.random.default_rng(0).normal(size=(2, 4, 3, 5))
    for steps in range(3):
        one = values[:, : 4 - steps].reshape(-1, 3, 5)
        other = values[:, steps:].reshape(-1, 3, 5)
        assert np.allclose(_products(values, steps), sum(map(correlate2d, other, one)))


@each_boundary
def test_gains_are_those_of_trying_each_cell(boundary):
    rng = np.random.default_rng(0)
    space = Space("von-neumann", "none", 3)
    frames = rng.integers(-2, 3, (1, 3, 3, 4)).clip(0)
    table = rng.integers(0, 3, space.patterns)

    def wrong(frames):
        return (table[spread_states(frames[:, :-1], space, boundary)] != frames[:, 1:]).sum()

    gains, states = _gains(frames, table, space, boundary)
    for cell in np.ndindex(frames.shape):
        tried = []
        for state in {0, 1, 2} - {frames[cell]}:
            other = frames.copy()
            other[cell] = state
            tried.append((wrong(frames) - wrong(other), state))
        assert (gains[cell], states[cell]) in tried
        assert gains[cell] == max(tried)[0]


def test_intervals_and_evidence_are_those_of_scipy():
    rng = np.random.default_rng(0)
    n = np.append(rng.integers(1, 2000, 200), [1, 1, 3, 3, 10**7])
    k = np.append((rng.random(200) * (n[:200] + 1)).astype(int), [0, 1, 0, 3, 5 * 10**6])

    def ends(k, n, alpha):
        first = np.where(k > 0, beta.ppf(alpha / 2, np.maximum(k, 1), n - k + 1), 0)
        return first, np.where(k < n, beta.ppf(1 - alpha / 2, k + 1, np.maximum(n - k, 1)), 1)

    assert np.allclose(clopper_pearson(k, n, 0.001), ends(k, n, 0.001), rtol=0, atol=1e-9)
    chances = found(rng.integers(0, 2, (9, 1, 90)), LINE)
    counts = chances.counts
    wanted = ends(counts, counts.sum(axis=1, keepdims=True), 0.01 / len(counts))
    assert np.allclose(chances.intervals, wanted, rtol=0, atol=1e-9)
    free = betaln(2.5, 1.5) + betaln(4.5, 3.5) - 2 * betaln(0.5, 0.5)
    plain = Density(2).evidence(np.array([1, 0]))
    wanted = free + plain + np.log(1 / 12)  # two of three entries, if each number is as likely
    assert np.isclose(evidence(np.array([[2, 1], [9, 0], [0, 0], [4, 3]])), wanted)


@pytest.mark.parametrize(
    ("assumed", "named"),
    [
        ({"noise": True}, "--noise"),
        ({"hidden": 1}, "--hidden"),
        ({"gap": 2}, "--gap"),
        ({"boundary": "unknown"}, "--boundary"),
        ({"mask": np.eye(8)}, "see every cell"),
    ],
)
def test_what_is_not_counted_is_refused_by_name(assumed, named):
    frames = soup(np.random.default_rng(0), (3, 8, 8))
    with pytest.raises(ConfigError, match=named):
        difflogic.identify_chance(frames, difflogic.Assumptions(**assumed))


@pytest.mark.parametrize(("rows", "shift", "radius"), [(9, (1, 0), None), (1, (0, 3), "auto")])
def test_pairs_are_of_lines_if_they_have_one_row(rows, shift, radius, tmp_path):
    """The rules copy the cell above, and the third to the left."""
    before = soup(np.random.default_rng(0), (9, rows, 40), 0.5)
    np.savez(path := tmp_path / "a.npz", inputs=before, outputs=np.roll(before, shift, (1, 2)))
    assumed = difflogic.Assumptions(radius=radius, boundary="periodic")
    space = difflogic.identify_chance(path, assumed).space
    assert (-shift[0], -shift[1]) in space.offsets
    if rows == 1:
        assert difflogic.identify_chance(path, replace(assumed, radius=1)).space.cells == 3


def test_wrong_cells_of_the_first_part_that_has_some_are_told(monkeypatch):
    film = film_of(automata.life, soup(np.random.default_rng(0), (12, 12)), 9)
    film[1, 6, 6] ^= 1
    monkeypatch.setattr("difflogic.identification.chance.MOST_MENDED_CELLS", 3 * 144)
    assert found(film, MOORE).wrong == 1


def test_the_symmetry_asked_for_is_counted():
    def step(cells):
        (left, right) = (np.roll(cells, shift, 1) for shift in (2, -2))
        return left & right ^ cells

    film = from_array(film_of(step, soup(np.random.default_rng(0), (1, 90)), 9), how=Reading(True))
    chances = find(film, Space("line-2", "rotations"), "periodic")
    assert not chances.drawn.any()
