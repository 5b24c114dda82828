"""Odds of rules, compared with sums over all rules of a family."""

import tracemalloc
from itertools import product

import numpy as np
import pytest

from difflogic.identification import Space
from difflogic.identification.families import Edges, Linear, Seen, Tabular, Threshold, families
from difflogic.identification.likely import weigh
from difflogic.identification.several_steps import SeveralSteps
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.errors import ConfigError, OutOfTimeError

DENSITIES = [0.05 * n for n in range(1, 20)]


def spaces(states):
    """All lines."""
    return [Space(f"line-{radius}", "none", states) for radius in (1, 2, 3)]


def prior(table, states):
    """The probability of a table: a background and a density, each drawn once."""
    total = 0.0
    for background, density in product(range(states), DENSITIES):
        share = 0.5 if background == 0 else 0.5 / (states - 1)
        other = density / (states - 1)
        terms = [1 - density if value == background else other for value in table]
        total += share / len(DENSITIES) * float(np.prod(terms))
    return total


def every_way(around, states):
    """The neighbourhoods that a neighbourhood with -1 for unknown cells may be."""
    return list(product(*(range(states) if cell < 0 else [cell] for cell in around)))


def edges_of(arounds, after, states):
    if not arounds:
        return Edges(np.zeros((3, 0), int), np.zeros(0, int), np.zeros(0, int))
    ways = [every_way(each, states) for each in arounds]
    ends = np.cumsum([len(each) for each in ways])
    return Edges(np.concatenate(ways).T, ends, np.array(after))


def exactly(rules, likelihood, asked, states):
    """Evidence and odds, by summing over all rules: a list of (prior, function)."""
    weights = np.array([share * likelihood(rule) for share, rule in rules])
    odds = [
        [weights[[rule(each) == state for _, rule in rules]].sum() for each in asked]
        for state in range(states)
    ]
    return np.log(weights.sum()), np.array(odds) / weights.sum()


def agree(fitted, rules, seen, after, cut, ends, asked, states=3, off=1e-12):
    """Compare with a sum over all rules."""
    wanted = exactly(rules, lambda rule: right(rule, seen, after, cut, ends, states), asked, states)
    assert fitted.evidence == pytest.approx(wanted[0])
    np.testing.assert_allclose(fitted.odds(np.array(asked).T), wanted[1], atol=off)


SEEN = np.array([[0, 0, 1], [1, 0, 2], [2, 2, 1]])
CUT = (-1, 1, 2)


def right(rule, seen, after, cut=(), ends=(), states=3):
    found = float(all(rule(tuple(each)) == state for each, state in zip(seen, after, strict=True)))
    for around, state in zip(cut, ends, strict=True):
        found *= np.mean([rule(each) == state for each in every_way(around, states)])
    return found


@pytest.mark.once
@pytest.mark.parametrize(("cut", "ends"), [((), ()), ((CUT,), (1,)), ((CUT,), (0,))])
def test_totalistic_tables_agree_with_all_of_them(cut, ends):
    space = Space("line-1", "totalistic", 3)
    after = np.array([0, 2, 1])
    rules = [
        (prior(table, 3), lambda around, table=table: table[sum(around)])
        for table in product(range(3), repeat=7)
    ]
    asked = list(product(range(3), repeat=3))
    fitted = Tabular(space, Seen(SEEN.T, after, edges_of(cut, ends, 3)))
    # After edges, entries are taken as independent.
    agree(fitted, rules, SEEN, after, cut, ends, asked, off=0.02 if cut else 1e-12)


def test_linear_rules_agree_with_all_of_them():
    space = Space("line-1", "none", 3)
    after = np.array([0, 2, 1])
    rules = []
    for coefficients in product(range(3), repeat=3):
        for constant in range(3) if any(coefficients) else []:
            used = sum(map(bool, coefficients))
            share = 1 / 3 / [6, 12, 8][used - 1] * (0.7 if constant == 0 else 0.15)
            rules.append(
                (share, lambda around, c=coefficients, b=constant: (np.dot(c, around) + b) % 3)
            )
    asked = list(product(range(3), repeat=3))
    fitted = Linear(space, Seen(SEEN.T, after, edges_of([CUT], [1], 3)))
    agree(fitted, rules, SEEN, after, [CUT], [1], asked)


def test_threshold_rules_agree_with_all_of_them():
    space = Space("line-2", "none", 2)
    seen = np.pad(SEEN // 2, ((0, 0), (1, 1)))
    after = np.array([0, 0, 1])
    choices = {
        own: [
            (share * (0.5 * ((few, many) == (0, own)) + 0.125), limit, few, many)
            for limit, share in ((1, 0.1), (2, 0.4), (3, 0.4), (4, 0.1))  # the middle half
            for few, many in product(range(2), repeat=2)
        ]
        for own in range(2)
    }
    rules = []
    for zero, one in product(choices[0], choices[1]):

        def rule(around, zero=zero, one=one):
            _, limit, few, many = one if around[2] else zero
            return many if sum(around) - around[2] >= limit else few

        rules.append((zero[0] * one[0], rule))
    asked = list(product(range(2), repeat=5))
    cut = (0, -1, 1, 0, 1)
    fitted = Threshold(space, Seen(seen.T, after, edges_of([cut], [1], 2)))
    agree(fitted, rules, seen, after, [cut], [1], asked, 2)


def stepped(table, around, gap, states):
    """What a table of three cells makes of a neighbourhood of several steps."""
    for _ in range(gap):
        around = [
            table[sum(s * states**p for s, p in zip(around[i : i + 3], (2, 1, 0), strict=True))]
            for i in range(len(around) - 2)
        ]
    return around[0]


def test_hidden_steps_agree_with_all_elementary_rules():
    rng = np.random.default_rng(0)
    seen = rng.integers(0, 2, (5, 3))
    after = np.array([stepped([0, 1, 1, 1, 0, 1, 1, 0], list(each), 2, 2) for each in seen.T])
    rules = [
        (prior(table, 2), lambda around, t=table: stepped(t, list(around), 2, 2))
        for table in product(range(2), repeat=8)
    ]
    asked = list(product(range(2), repeat=5))
    cut = (-1, 1, 0, 1, 1)
    fitted = SeveralSteps(Space("line-1"), 2, Seen(seen, after, edges_of([cut], [1], 2)), NEVER)
    agree(fitted, rules, seen.T, after, [cut], [1], asked, 2)


def test_tables_that_a_solver_finds_explain_hidden_steps():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 3, 27)
    seen = rng.integers(0, 3, (5, 150))
    after = np.array([stepped(table, list(each), 2, 3) for each in seen.T])
    space = Space("line-1", "none", 3)
    none = Edges(seen[:, :0], seen[0, :0], seen[0, :0])
    fitted = SeveralSteps(space, 2, Seen(seen, after, none), NEVER)
    odds = fitted.odds(seen)
    assert (odds[after, np.arange(150)] > 1 - 1e-9).all()
    assert (fitted.entries(space)[table, np.arange(27)] > 0.99).mean() > 0.9
    refuted = SeveralSteps(space, 2, Seen(seen, after[::-1], none), NEVER)
    assert refuted.evidence == -np.inf


def rule_of(family, states, radius, rng):
    """A random rule of a family, as a function of neighbourhoods (cells, n)."""
    values = rng.integers(0, states, 4096)
    coefficients = np.eye(2 * radius + 1, dtype=int)[0] + np.eye(2 * radius + 1, dtype=int)[-1]
    places = states ** np.arange(2 * radius + 1)
    return {
        "none": lambda around: values[places @ around],
        "totalistic": lambda around: values[around.sum(axis=0)],
        "outer-sum": lambda around: values[around.sum(axis=0) * states + around[radius]],
        "linear": lambda around: coefficients @ around % states,
    }[family]


def rows_of(rule, states, radius, gap, rng, count=8, width=30):
    """Pairs of rows, cut out of longer ones."""
    pairs = []
    for _ in range(count):
        row = start = rng.integers(0, states, width + 2 * radius * gap)
        for _ in range(gap):
            row = rule(np.lib.stride_tricks.sliding_window_view(row, 2 * radius + 1).T)
        pairs.append((start[radius * gap : len(start) - radius * gap][None], row[None]))
    return pairs


@pytest.mark.parametrize(
    ("family", "states", "radius", "gap"),
    [
        ("none", 2, 2, 1),
        ("totalistic", 5, 1, 1),
        ("outer-sum", 4, 1, 1),
        ("outer-sum", 3, 3, 1),
        ("linear", 6, 2, 1),
        ("totalistic", 3, 1, 2),
        ("none", 2, 1, 3),
    ],
)
def test_family_radius_and_steps_are_found(family, states, radius, gap):
    rng = np.random.default_rng(1)
    rule = rule_of(family, states, radius, rng)
    pairs = rows_of(rule, states, radius, gap, rng)
    likely = weigh(pairs, spaces(states), (1, 2, 3))
    best = likely.hypotheses[0]
    assert (best.family, best.space.neighbourhood, best.gap) == (family, f"line-{radius}", gap)
    assert not best.wraps
    assert best.probability > 0.75
    (asked, wanted) = rows_of(rule, states, radius, gap, rng, 1, 200)[0]
    odds = likely.predict(asked)
    np.testing.assert_allclose(odds.sum(axis=0), 1)
    assert (odds.argmax(axis=0) == wanted).mean() > 0.85
    known = odds.max(axis=0) > 0.999
    assert (odds.argmax(axis=0) == wanted)[known].mean() > 0.98


def test_grids_that_wrap():
    rng = np.random.default_rng(0)
    pairs = []
    for _ in range(6):
        cells = rng.integers(0, 2, (8, 9))
        near = sum(np.roll(cells, (y, x), (0, 1)) for y, x in product((-1, 0, 1), repeat=2)) - cells
        pairs.append((cells, ((near == 3) | (cells & (near == 2))).astype(int)))
    likely = weigh(pairs, [Space()])
    assert likely.hypotheses[0].family == "outer-totalistic"
    assert likely.hypotheses[0].wraps
    before, after = pairs[0]
    assert (likely.predict(before)[after, *np.indices(after.shape)] > 0.9).all()


def test_odds_of_many_entries_take_little_memory():
    row = np.array([[0, 1, 0, 1, 2]])
    space = Space(states=3)
    found = weigh([(row, row)], [space])
    tracemalloc.start()
    odds = found.entries(space)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 32 * 2**20  # a value of each rule of a threshold for each entry takes 22 MiB
    some = [0, 1, 5000, space.entries - 1]
    np.testing.assert_allclose(odds[:, some], found.entries(space, some))


def test_contradictions_and_left_out_families():
    row = np.array([[0, 1, 0, 1, 1]])
    with pytest.raises(ConfigError, match="no rule"):
        weigh([(row, row), (row, 1 - row)], spaces(2))
    with pytest.raises(OutOfTimeError):
        weigh([(row, row)], spaces(2), deadline=Deadline.after(0))
    names = {each.name for each in families("moore", 3)}
    assert {"isotropic", "rotations", "outer-sum", "linear"} <= names
    likely = weigh([(row, row)], [Space("line-1", "outer-totalistic")])
    assert {each.family for each in likely.hypotheses} <= {
        "outer-totalistic",
        "totalistic",
        "threshold",
    }
