"""Rules that remember one frame: found where they are, and only there; run there and back."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from difflogic.examples.assumptions import Assumptions
from difflogic.identification.identified import identify
from difflogic.inspection.reversal import reversal
from difflogic.library.conditions import Conditions
from difflogic.library.simplifying import simplify
from difflogic.library.simulating import simulate
from difflogic.system.errors import ConfigError
from tests.difflogic.identification import remembering
from tests.difflogic.identification.automata import HOODS, codes

CASES = [
    ("line-1", 2, (1, 60), 30),
    ("line-2", 2, (1, 90), 30),
    ("line-1", 3, (1, 90), 30),
    ("von-neumann", 3, (28, 30), 16),
    ("moore", 2, (40, 41), 12),
]


def recorded(seed, hood, states, kind, size, frames, boundary="periodic"):
    """A drawn rule, and a film of it."""
    rng = np.random.default_rng(seed)
    table = remembering.drawn(rng, hood, states, kind)
    return table, remembering.film(rng, table, hood, size, frames, boundary)


def by_code(rule):
    """A table as the plain automaton has it: by neighbourhood and state before."""
    return rule.complete.reshape(rule.space.states, -1).T


def found(film, hood, states, boundary="auto", **more):
    return identify(film, Assumptions(hood, boundary=boundary, states=states, **more), effort="low")


@pytest.mark.once
@pytest.mark.parametrize("boundary", ["periodic", "zero"])
@pytest.mark.parametrize("kind", ["general", "difference"])
@pytest.mark.parametrize(("hood", "states", "size", "frames"), CASES)
def test_drawn_rules_are_found(hood, states, size, frames, kind, boundary):
    table, film = recorded(len(hood) + states, hood, states, kind, size, frames, boundary)
    read = found(film, hood, states, boundary)
    rule = read.rule
    assert rule.space.memory
    seen = rule.table[rule.space.entry_of].reshape(states, -1).T
    assert ((seen == table) | (seen == -1)).all()
    assert (seen != -1).mean() > 0.95
    assert rule.determined.sum() == (rule.table != -1).sum()
    assert rule.reversible == (kind == "difference")
    assert "depends on the cell one frame earlier" in rule.remembers
    assert ("minus that state" in rule.remembers) == (kind == "difference")
    following = remembering.step(table, *film[-2:], hood, boundary)
    assert (read.predict().argmax(axis=0) == following).mean() > 0.95
    if kind == "difference":  # entries that were never seen follow from the others
        assert_array_equal(by_code(rule), table)
    if hood != "line-2":
        back = reversal(read.automaton.circuit)
        # States beyond the last of three do not matter.
        assert (back and back.states) == (states if kind == "difference" else None)


def bits_of(frames, states):
    """The bits of two frames, the later one first, (channels, height, width)."""
    many = (states - 1).bit_length()
    return np.concatenate([[frame >> bit & 1 for bit in range(many)] for frame in frames[::-1]])


@pytest.mark.once
@pytest.mark.parametrize("case", CASES)
def test_circuits_run_from_two_frames_and_back(tmp_path, case):
    hood, states, size, frames = case
    _, film = recorded(7, hood, states, "difference", size, frames, "zero")
    found(film, hood, states, "zero").save(path := tmp_path / "rule.json")
    np.save(tmp_path / "film.npy", film[:, 0] if size[0] == 1 else film)
    each = 2 if hood == "line-2" else 1
    many = frames - 2
    start = Conditions(start=tmp_path / "film.npy", frame=1, steps=many * each)
    run = simulate(path, start)
    made = run.automaton
    rows = [made.circuit.labels.index(label) for label in (*made.visible, *made.before)]
    assert_array_equal(run.grid.bits(rows), bits_of(film[-2:], states))
    small = simplify(path, "low").automaton
    assert_array_equal(
        simulate(small, start).grid.bits(small.visible_rows), run.grid.bits(made.visible_rows)
    )
    last = replace(start, frame="last")
    if hood == "line-2":
        with pytest.raises(ConfigError, match="start it from a film of the two last frames in the"):
            simulate(path, last, backwards=True)
        np.save(tmp_path / "back.npy", film[::-1, 0])
        back = simulate(path, replace(start, start=tmp_path / "back.npy"))
        assert_array_equal(back.grid.bits(rows), bits_of(film[1::-1], states))
        return
    back = simulate(path, last, backwards=True)
    assert_array_equal(back.grid.bits(), bits_of(film[:2], states))
    there = simulate(path, replace(start, steps=1000))
    there.save(tmp_path / "there.npz")
    home = Conditions(start=tmp_path / "there.npz", steps=1000, size=size)
    assert_array_equal(simulate(path, home, backwards=True).grid.bits(), bits_of(film[:2], states))
    assert there.step == 1000
    with pytest.raises(ConfigError, match="start from frame 1 or later"):
        simulate(path, replace(start, frame=0))


def test_memory_can_be_asked_for_and_ruled_out():
    table, film = recorded(0, "line-1", 2, "general", (1, 60), 30)
    assert found(film, "line-1", 2, memory=1).rule.space.memory
    with pytest.raises(ConfigError, match="entries are contradicted"):
        found(film, "line-1", 2, memory=0)
    flat = np.repeat(table[:, :1], 2, axis=1)  # of first order
    film = remembering.film(np.random.default_rng(0), flat, "line-1", (1, 60), 30)[1:]
    assert not found(film, "line-1", 2).rule.space.memory
    assert found(film, "line-1", 2, memory=1).rule.space.memory
    for options, says in (
        ({"noise": True}, "needs three frames"),
        ({"hidden": 1}, "needs three frames"),
        ({"gap": "auto"}, "give the steps from frame to frame"),
    ):
        with pytest.raises(ConfigError, match=says):
            found(film, "line-1", 2, memory=1, **options)


@pytest.mark.parametrize("symmetry", ["outer-totalistic", "isotropic", "auto"])
def test_symmetries_go_with_memory(symmetry):
    rng = np.random.default_rng(5)
    counts = rng.integers(0, 2, (2, 9))
    numbers = np.arange(512)
    around = np.array([bin(number & 0b111101111).count("1") for number in numbers])
    f = counts[numbers >> 4 & 1, around]
    table = (f[:, None] - np.arange(2)) % 2
    film = remembering.film(rng, table, "moore", (20, 20), 8)
    rule = found(film, "moore", 2, symmetry=symmetry).rule
    assert_array_equal(by_code(rule), table)
    assert rule.space.entries < 512
    assert rule.name is None or rule.name.endswith("R")


@pytest.mark.parametrize("case", ["unseen", "unknown", "gap"])
def test_unseen_cells_unknown_edges_and_gaps(case):
    table, film = recorded(1, "line-1", 2, "general", (1, 40), 20)
    options = {"memory": 1} if case == "gap" else {}
    if case == "unseen":
        film = np.where(np.random.default_rng(2).random(film.shape) < 0.05, -1, film)
    elif case == "unknown":
        options["boundary"] = "unknown"
    else:
        film = film[::2]
        options["gap"] = 2
    rule = found(film, "line-1", 2, **options).rule
    assert rule.method == "SAT"
    read = rule.table[rule.space.entry_of].reshape(2, -1).T
    sure = rule.determined[rule.space.entry_of].reshape(2, -1).T
    assert (read == table)[sure].all()
    assert sure.mean() > (0.4 if case == "gap" else 0.9)


def test_one_wrong_cell_leaves_nothing_determined():
    for kind in ("general", "difference"):
        _, film = recorded(2, "moore", 2, kind, (40, 40), 10)
        film[5, 20, 20] ^= 1
        with pytest.raises(ConfigError, match="entries are contradicted"):
            found(film, "moore", 2)


@pytest.mark.parametrize("hood", ["line-1", "line-2", "von-neumann"])
@pytest.mark.parametrize("seed", range(4))
def test_chance_is_not_memory(hood, seed):
    """Films by chance, and of first order with a wrong cell: read so, or refused."""
    rng = np.random.default_rng(seed)
    line = hood.startswith("line")
    for share in (0.0, 0.1, 0.5):
        size = (1, int(rng.integers(8, 50))) if line else tuple(rng.integers(6, 16, 2).tolist())
        tables = rng.integers(0, 2, (2, 2 ** len(HOODS[hood])))
        film = [rng.integers(0, 2, size)]
        for _ in range(int(rng.integers(3, 12))):
            tried = tables[:, codes(film[-1], hood)]
            film.append(np.where(rng.random(size) < share, tried[1], tried[0]))
        if not share:
            film[-2].flat[rng.integers(film[-2].size)] ^= 1
        try:
            read = found(np.array(film), hood, 2, "periodic")
        except ConfigError:
            continue
        assert not read.rule.space.memory
