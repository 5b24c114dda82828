"""Rules with hidden states: what is said of them, compared with every rule of three cells."""

from itertools import chain, permutations, product

import numpy as np
import pytest

from difflogic.examples.film import Reading, from_array
from difflogic.identification import Space, identify
from difflogic.identification.inquiry import Inquiry
from difflogic.system.errors import ConfigError
from tests.difflogic.identification.automata import film

SYMMETRIES = ("none", "reflections", "outer-totalistic", "outer-sum", "totalistic")


def key_of(symmetry, looks, private):
    """A function: what a rule can tell of a neighbourhood."""
    read = [looks.index(look) for look in looks] if private else range(len(looks))

    def key(west, centre, east):
        sides = read[west], read[east]
        match symmetry:
            case "totalistic":
                return sum(sides) + centre
            case "outer-sum":
                return centre, sum(sides)
            case "none":
                return sides[0], centre, sides[1]
        return centre, *sorted(sides)

    return key


def rules(frames, looks, key, edge=None):
    """All rules that explain a film (n, width), as far as it depends on them: {key: state}.

    Cells are unseen where it is -1; beyond its ends are cells of the state `edge`, or its others.
    """
    width = frames.shape[1]

    def extend(rule, cells, frame, after):
        x = len(after)
        if x == width:
            if frame + 1 == len(frames):
                yield rule
            else:
                yield from extend(rule, after, frame + 1, [])
            return
        wide = [*cells, cells[0] if edge is None else edge]
        seen = key(cells[x - 1] if x or edge is None else edge, *wide[x : x + 2])
        for state in [rule[seen]] if seen in rule else range(len(looks)):
            if frames[frame, x] in (looks[state], -1):
                yield from extend({**rule, seen: state}, cells, frame, [*after, state])

    for start in product(*([s for s, look in enumerate(looks) if look == c] for c in frames[0])):
        yield from extend({}, list(start), 1, [])


def renamed(rule, names, looks, key):
    """The same rule with other numbers for its hidden states; None if it is not of its kind."""
    found = {}
    for cells in product(range(len(looks)), repeat=3):
        if key(*cells) in rule:
            place = key(*(names[cell] for cell in cells))
            state = names[rule[key(*cells)]]
            if found.setdefault(place, state) != state:
                return None
    return found


def kinds(symmetry, hidden=1):
    """No hidden states, then their kinds in films of two, those that only cells themselves tell."""
    yield symmetry, (0, 1), False
    counted = "outer-totalistic" if symmetry in ("none", "reflections") else symmetry
    for private in (True, False):
        for each in dict.fromkeys((counted, symmetry)):
            for count in range(1, hidden + 1):
                for looks in product((0, 1), repeat=count):
                    yield each, (0, 1, *looks), private


def compare(frames, symmetry, hidden=1, boundary="periodic", gap=1):
    """Compare what is said of a film with all rules; return what was said."""
    steps = np.full((gap * (len(frames) - 1) + 1, frames.shape[1]), -1)
    steps[::gap] = frames
    edge = 0 if boundary == "zero" else None
    every = {
        kind: list(rules(steps, kind[1], key_of(*kind), edge)) for kind in kinds(symmetry, hidden)
    }
    film = from_array(frames, how=Reading(True, 2))
    inquiry = Inquiry(film, Space("line-1", symmetry), boundary, gap, hidden=hidden)
    if not any(every.values()):
        with pytest.raises(ConfigError, match="proved"):
            identify(inquiry)
        return "refuted"
    found = identify(inquiry)
    space = found.space
    looks = space.looks_like or (0, 1)
    assert (looks == (0, 1)) == bool(every[symmetry, (0, 1), False])
    kind = space.symmetry, looks, space.private
    key = key_of(*kind)
    fitting = every[kind]
    private_fits = any(each for (*_, private), each in every.items() if private)
    assert space.private == (bool(space.looks_like) and private_fits)
    keys = [key(*cells) for cells in space.digits[:, space.examples].T.tolist()]
    complete = dict(zip(keys, found.complete[space.examples].tolist(), strict=True))
    assert any(complete.items() >= rule.items() for rule in fitting)
    assert not found.undecided.any()
    known = {key: state for key, state in complete.items() if found.determined[keys.index(key)]}
    groups = [[s for s, look in enumerate(looks) if look == each] for each in (0, 1)]
    orders = [
        dict(zip(chain(*groups), chain(*order), strict=True))
        for order in product(*map(permutations, groups))
    ][: None if edge is None else 1]  # an edge names the states
    for rule in fitting:
        forms = [renamed(rule, names, looks, key) for names in orders]
        assert any(each is not None and each.items() >= known.items() for each in forms)
    for entry in np.flatnonzero(found.open).tolist():
        assert not found.never_seen[entry]
        assert any(rule.get(keys[entry]) != complete[keys[entry]] for rule in fitting)
    if found.open.any():
        assert found.unique is False
        return "open"
    assert found.unique is (None if space.looks_like else True)
    return "determined" if space.looks_like else "plain"


def hidden_film(rng, states, shape):
    """A film of a random rule of a line, whose states above 1 look like 0 or 1."""
    table = rng.integers(0, states, (states,) * 3)
    cells = rng.integers(0, states, shape[1])
    frames = film(lambda c: table[np.roll(c, 1), c, np.roll(c, -1)], cells, shape[0])
    return np.append([0, 1], rng.integers(0, 2, states))[frames]


def drawn(seed):
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(3, 5)), int(rng.integers(3, 5))
    return rng.integers(0, 2, shape) if seed % 2 else hidden_film(rng, 3 + seed // 2 % 2, shape)


@pytest.mark.parametrize(
    ("rows", "symmetry", "how"),
    [
        ("0000 0101 0000 0000", "totalistic", {}),
        ("010 111 000", "totalistic", {}),
        ("010 101 111", "reflections", {"boundary": "zero"}),
        ("00 10 11", "outer-totalistic", {"gap": 2}),
        ("101 110 010 011", "none", {}),
        ("000 100 ?10", "none", {}),
    ],
)
def test_exchanging_states_does_not_keep_sums_edges_and_unseen_steps(rows, symmetry, how):
    compare(np.array([list(map("01".find, row)) for row in rows.split()]), symmetry, **how)


def test_names_of_hidden_states_leave_nothing_open():
    assert compare(np.array([[0, 1], [1, 0], [0, 0], [0, 0], [1, 1]]), "outer-totalistic") == (
        "determined"
    )


def test_an_entry_names_one_of_three_states_that_look_alike():
    frames = np.array([[1, 0], [0, 0], [1, 0], [0, 0], [1, 0], [0, 1]])
    compare(frames, "none", hidden=2)
    found = identify(Inquiry(from_array(frames, how=Reading(True)), Space("line-1"), hidden=2))
    assert found.determined.sum() == 2


@pytest.mark.once
@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_hidden_states_agree_with_all_rules(symmetry):
    said = [compare(drawn(seed), symmetry) for seed in range(30)]
    assert {*said} >= {"open", "plain"}
    assert said.count("plain") < 15
