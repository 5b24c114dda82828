"""Films of a few cells: rules found, compared with every rule of their kind in plain NumPy.

With DCT_EVERY=1 these are all films of their sizes.
"""

import os
from functools import cache
from itertools import product

import numpy as np
import pytest

from difflogic.examples.film import Reading, from_array
from difflogic.identification import Space, identify
from difflogic.identification.inquiry import Inquiry
from difflogic.system.errors import ConfigError
from tests.difflogic.identification.automata import HOODS, codes

TURNED = {"line-1": [2, 1, 0], "von-neumann": [1, 4, 2, 0, 3]}
"""For each cell the one that is at its place after a turn."""


def patterns(hood, states=2):
    """All neighbourhoods in the order of their numbers, shape (patterns, cells)."""
    return np.array(list(product(range(states), repeat=len(HOODS[hood]))))


@cache
def kinds(hood, symmetry, states=2):
    """For each neighbourhood the number of those that a symmetry treats like it."""
    cells = patterns(hood, states)
    middle = len(cells[0]) // 2
    if symmetry == "rotations":
        turns = [cells]
        while len(turns) < 4:
            turns.append(turns[-1][:, TURNED[hood]])
        cells = [min(map(tuple, each)) for each in np.stack(turns, axis=1).tolist()]
    elif symmetry == "outer-totalistic":
        others = np.sort(np.delete(cells, middle, axis=1), axis=1)
        cells = np.column_stack([cells[:, middle], others])
    return np.unique(np.array(cells), axis=0, return_inverse=True)[1].reshape(-1)


def is_of_kind(table, hood, symmetry, states=2):
    """Whether a rule by pattern treats neighbourhoods alike as the symmetry says."""
    numbers = kinds(hood, symmetry, states)
    return len({*zip(numbers.tolist(), table.tolist(), strict=True)}) == numbers.max() + 1


def rules_of_kind(hood, symmetry):
    """All rules of two states, shape (rules, patterns)."""
    numbers = kinds(hood, symmetry)
    return np.arange(1 << numbers.max() + 1)[:, None] >> numbers & 1


def stepped(tables, cells, hood, boundary, states=2, edges=(0, 0)):
    """The next states of cells (…, height, width) under rules (…, patterns)."""
    number = codes(cells, hood, states, boundary, edges)
    flat = np.broadcast_to(tables, (*number.shape[:-2], tables.shape[-1]))
    return np.take_along_axis(flat, number.reshape(*number.shape[:-2], -1), -1).reshape(
        number.shape
    )


def explain(tables, frames, hood, boundary, gap=1, states=2):
    """Which rules make each frame (height, width) from the one before; -1 is unseen."""
    steps = gap * (len(frames) - 1)
    right = np.zeros(tables.shape[:-1], bool)
    starts = [[cell] if cell >= 0 else range(states) for cell in frames[0].ravel().tolist()]
    beyond = [range(states if boundary == "unknown" else 1)] * (2 * steps)
    for *start, edges in product(*starts, list(product(*beyond))):
        cells = np.array(start).reshape(frames[0].shape)
        cells, fits = np.broadcast_to(cells, (*right.shape, *cells.shape)), ~np.zeros_like(right)
        for step in range(steps):
            cells = stepped(tables, cells, hood, boundary, states, edges[2 * step :][:2])
            if (step + 1) % gap == 0:
                frame = frames[(step + 1) // gap]
                fits &= ((cells == frame) | (frame < 0)).all(axis=(-1, -2))
        right |= fits
    return right


def films(frames, height, width, states=2):
    every = product(range(states), repeat=frames * height * width)
    return np.array(list(every)).reshape(-1, frames, height, width)


def some(every, most):
    return every[:: 1 if "DCT_EVERY" in os.environ else -(-len(every) // most)]


KINDS = [
    ("line-1", "outer-totalistic", "periodic", (2, 1, 4), 2),
    ("line-1", "rotations", "zero", (3, 1, 3), 2),
    ("line-1", "rotations", "periodic", (2, 1, 3), 3),
    ("von-neumann", "rotations", "zero", (2, 2, 2), 2),
    ("von-neumann", "outer-totalistic", "zero", (2, 2, 2), 2),
    ("line-1", "none", "periodic", (3, 1, 4), 1),
    ("line-1", "none", "unknown", (2, 1, 4), 2),
]


@pytest.mark.once
@pytest.mark.parametrize("unseen", [None, 0, -1])
@pytest.mark.parametrize(("hood", "symmetry", "boundary", "shape", "gap"), KINDS)
def test_rules_are_of_the_kind_asked_for(hood, symmetry, boundary, shape, gap, unseen):
    rules = rules_of_kind(hood, symmetry)
    space = Space(hood, symmetry)
    for film in some(films(*shape), 12):
        if unseen is not None:
            film[unseen, 0, 0] = -1
        right = rules[explain(rules, film, hood, boundary, gap)]
        if not len(right):
            with pytest.raises(ConfigError, match=r"no rule explains|contradicted"):
                identify(Inquiry(from_array(film), space, boundary, gap))
            continue
        found = identify(Inquiry(from_array(film), space, boundary, gap))
        assert is_of_kind(found.complete, hood, symmetry)
        assert explain(found.complete, film, hood, boundary, gap)
        assert not found.undecided.any()
        assert not found.open.any() or found.second is not None
        assert (found.complete[space.examples] == found.table)[~found.never_seen].all()
        for entry, example in enumerate(space.examples):
            values = set(right[:, example].tolist())
            assert not found.determined[entry] or values == {int(found.table[entry])}
            assert not (found.open[entry] or found.never_seen[entry]) or values == {0, 1}
        frame = found.next_frame()
        if boundary == "unknown":
            continue
        assert frame is not None or not found.open.any() or found.never_seen.any()
        if frame is not None:
            second = np.where(found.second < 0, found.table, found.second)[space.entry_of]
            assert is_of_kind(second, hood, symmetry)
            assert explain(second, film, hood, boundary, gap)
            ends = [frame, frame]
            for _ in range(gap):
                ends = [
                    stepped(table, end, hood, boundary)
                    for table, end in zip((found.complete, second), ends, strict=True)
                ]
            assert (ends[0] != ends[1]).any()


@pytest.mark.parametrize("states", [3, 4])
@pytest.mark.parametrize("symmetry", ["outer-totalistic", "rotations"])
@pytest.mark.parametrize("hood", ["line-1", "von-neumann"])
def test_free_entries_of_several_states_are_filled_whole(hood, symmetry, states):
    space = Space(hood, symmetry, states)
    rng = np.random.default_rng(states)
    for share in (0.05, 0.3, 0.9):
        table = rng.integers(0, states, space.entries)
        film = [rng.integers(0, states, (5, 5) if hood != "line-1" else (1, 12))]
        for _ in range(3):
            film.append(stepped(table[space.entry_of], film[-1], hood, "periodic", states))
        film = np.stack(film)
        film[rng.random(film.shape) < share * (np.arange(4) > 0)[:, None, None]] = -1
        found = identify(Inquiry(from_array(film, how=Reading(states=states)), space))
        assert is_of_kind(found.complete, hood, symmetry, states)
        assert explain(found.complete, film, hood, "periodic", states=states)


NOISY = [
    ("line-1", "none", "zero", (3, 1, 3), 2),
    ("line-1", "rotations", "zero", (2, 1, 4), 2),
    ("line-1", "none", "zero", (3, 1, 2), 3),
    ("line-1", "none", "periodic", (4, 1, 2), 2),
    ("von-neumann", "none", "zero", (2, 2, 2), 2),
    ("moore", "outer-totalistic", "zero", (2, 2, 2), 2),
]


@pytest.mark.once
@pytest.mark.parametrize(("hood", "symmetry", "boundary", "shape", "states"), NOISY)
def test_a_rule_makes_the_film_without_the_wrong_cells(hood, symmetry, boundary, shape, states):
    every = films(*shape, states=states)
    space = Space(hood, symmetry, states)
    numbers = space.entry_of[codes(every[:, :-1], hood, states, boundary)]

    def has_a_rule(entries, after):
        """Whether equal neighbourhoods have one next state."""
        rule = {}
        pairs = zip(entries.ravel().tolist(), after.ravel().tolist(), strict=True)
        return all(rule.setdefault(entry, state) == state for entry, state in pairs)

    possible = every[[*map(has_a_rule, numbers, every[:, 1:])]]
    for film in some(every, 16):
        found = identify(
            Inquiry(from_array(film, how=Reading(states=states)), space, boundary, noise=True)
        )
        differs = possible != film
        assert len(found.flipped) == differs.sum(axis=(1, 2, 3)).min()
        wrong = np.zeros(film.shape, bool)
        wrong[tuple(found.flipped[:, 1:].T)] = True
        corrected = possible[(differs == wrong).all(axis=(1, 2, 3))]
        tables = [explain(found.complete, each, hood, boundary, 1, states) for each in corrected]
        assert any(tables), film.tolist()


@pytest.mark.once
@pytest.mark.parametrize("hidden", [0, 1])
def test_many_unseen_steps(hidden):
    """500 rows of which two are seen, or all with a hidden state; frames 64 steps apart."""
    space = Space("line-1", "outer-totalistic")
    rng = np.random.default_rng(0)
    if hidden:
        film = np.tile(np.arange(500)[:, None, None] % 3 == 1, (1, 1, 5))
        found = identify(Inquiry(from_array(film), space, hidden=1))
        assert found.space.states == 3
        return
    rule = rules_of_kind("line-1", "outer-totalistic")[22]
    film = [rng.integers(0, 2, (1, 5))]
    for _ in range(499):
        film.append(stepped(rule, film[-1], "line-1", "periodic"))
    film = np.stack(film)
    masked = film.copy()
    masked[1:-1] = -1
    for frames, gap in ((masked, 1), (film[[0, 499]], 499), (film[[0, 64, 128]], 64)):
        frames = frames.copy()
        frames[1, 0, 0] = -1
        found = identify(Inquiry(from_array(frames), space, gap=gap))
        assert explain(found.complete, frames, "line-1", "periodic", gap)
