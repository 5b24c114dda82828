"""Rules by blocks, compared with a plain loop over blocks; and their circuits, run as any other."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import difflogic
from difflogic import Assumptions, Conditions
from difflogic.identification import explanation
from difflogic.system.errors import CircuitError, ConfigError
from tests.marks import exhaustive
from tests.paths import DOCS

NAMED = {
    "critters": "15;14;13;3;11;5;6;1;7;9;10;2;12;4;8;0",
    "billiard-balls": "0;8;4;3;2;5;9;7;1;6;10;11;12;13;14;15",
    "tron": "15;1;2;3;4;5;6;7;8;9;10;11;12;13;14;0",
}
"""In the notation MS,D: what becomes of each block; its upper left cell is the lowest digit."""


def drawn(seed, states=2):
    return ";".join(map(str, np.random.default_rng(seed).integers(0, states**4, states**4)))


def after(cells, rule, corner, boundary, states=2, seen=None):
    """Step a grid whose first cell has this place in its block; note what of blocks is `seen`."""
    numbers = [*map(int, rule.split(";"))]
    (height, width) = cells.shape
    found, seen = np.zeros_like(cells), {} if seen is None else seen
    for y in range(-corner[0], height, 2):
        for x in range(-corner[1], width, 2):
            places = [(y, x), (y, x + 1), (y + 1, x), (y + 1, x + 1)]
            inside = [0 <= row < height and 0 <= column < width for row, column in places]
            if boundary == "periodic":
                places, inside = [(row % height, column % width) for row, column in places], [1] * 4
            around = [cells[at] if here else 0 for at, here in zip(places, inside, strict=True)]
            number = sum(int(state) * states**n for n, state in enumerate(around))
            if boundary != "unknown" or all(inside):
                seen.setdefault(number, set()).update(np.flatnonzero(inside).tolist())
            for n in np.flatnonzero(inside):
                found[places[n]] = numbers[number] // states**n % states
    return found


def film(rule, size, corner, boundary="periodic", states=2):
    """Return six frames of random cells; with an unknown boundary, cut out of a larger torus."""
    large = tuple(side + 4 + side % 2 for side in size) if boundary == "unknown" else size
    edge = boundary.replace("unknown", "periodic")
    frames = []
    frame = np.random.default_rng(sum(size)).integers(0, states, large)
    for step in range(6):
        frames.append(frame)
        frame = after(frame, rule, [(each + step) % 2 for each in corner], edge, states)
    start = 2 if boundary == "unknown" else 0
    return np.stack(frames)[:, start : start + size[0], start : start + size[1]]


def check(rule, size, corner, boundary, tmp_path, states=2):
    """Compare what is found with what is seen, and three runs from frames with a plain loop."""
    frames = film(rule, size, corner, boundary, states)
    seen = {}
    phases = [[(each + step) % 2 for each in corner] for step in range(9)]
    for frame, phase in zip(frames[:-1], phases, strict=False):
        after(frame, rule, phase, boundary, states, seen)
    assumed = Assumptions("margolus", boundary=boundary, states=states)
    found = difflogic.identify(frames, assumed, effort="low")
    mine = found.rule
    numbers = [*map(int, rule.split(";"))]
    order = [int(np.base_repr(n, states).zfill(4)[::-1], states) for n in range(states**4)]
    cells = [
        [numbers[n] // states**k % states if k in seen.get(n, ()) else -1 for k in range(4)]
        for n in order
    ]
    assert (mine.corners, mine.cells.tolist()) == ([corner], cells)
    assert mine.determined.tolist() == [len(seen.get(n, ())) == 4 for n in order]
    assert mine.never_seen.tolist() == [n not in seen for n in order]
    whole = ";".join(str(order[mine.complete[n]]) for n in order)
    assert states > 2 or mine.name == f"MS,D{whole}"
    np.savez(tmp_path / "film.npz", frames=frames)
    edge = found.automaton.boundary
    for number in (0, 1, "last"):
        start = Conditions(start=tmp_path / "film.npz", frame=number, steps=3)
        run = difflogic.simulate(found.automaton, start, engine="interpreter")
        first = 5 if number == "last" else number
        cells = frames[first]
        for phase in phases[first : first + 3]:
            cells = after(cells, whole, phase, edge, states)
        bits = run.grid.bits(range(mine.space.bits)).astype(int)
        assert (sum(bit << n for n, bit in enumerate(bits)) == cells).all()


@pytest.mark.parametrize("boundary", ["periodic", "zero", "unknown"])
@pytest.mark.parametrize("number", range(4))
def test_rules(number, boundary, tmp_path):
    rule = [*NAMED.values(), drawn(0)][number]
    size = (16, 12) if boundary == "periodic" else (16 - number // 2, 12 - number % 2)
    check(rule, size, divmod(number, 2), boundary, tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("states", [3, exhaustive(4)])
def test_rules_of_several_states(states, tmp_path):
    check(drawn(states, states), (24, 22), (0, 1), "zero", tmp_path, states)


def test_a_circuit_that_differs_is_noticed(monkeypatch):
    found = difflogic.identify(film(NAMED["tron"], (8, 8), (0, 0)), Assumptions("margolus"))
    circuit = found.circuit
    for gate in range(circuit.gates):
        op = circuit.op.copy()
        op[gate] ^= 1
        wrong = SimpleNamespace(circuit=replace(circuit, op=op))
        monkeypatch.setattr(explanation, "simplify", lambda *given, wrong=wrong: wrong)
        with pytest.raises(CircuitError, match="differs from the table"):
            found.rule.circuit()


@pytest.mark.parametrize("name", ["critters", "billiard-balls"])
def test_shipped_films_and_larger_grids(name, tmp_path):
    found = difflogic.identify(DOCS / f"{name}.gif", Assumptions("margolus"))
    assert (found.rule.unique, found.rule.properties["reversible"]) == (True, True)
    assert found.rule.name == f"MS,D{NAMED[name]}"
    found.save(tmp_path / "rule.json")
    conditions = Conditions(start=DOCS / f"{name}.gif", frame=3, steps=0, size=(38, 34))
    start = difflogic.simulate(tmp_path / "rule.json", conditions).grid.bits()
    own = difflogic.simulate(found.automaton, replace(conditions, size=None)).grid.bits()
    assert (start[:, 3:35, 1:33] == own).all()  # places, too
    with pytest.raises(CircuitError, match="even number of rows"):
        difflogic.simulate(found.automaton, Conditions(size=(31, 32)))


def test_starts_of_all_kinds_have_places(tmp_path):
    found = difflogic.identify(film(NAMED["tron"], (8, 6), (0, 1)), Assumptions("margolus"))
    places = np.stack(np.indices((8, 6)) + np.array([0, 1])[:, None, None]) % 2
    for start in ("random", "center", "zeros", np.ones((3, 3), int)):
        run = difflogic.simulate(found.automaton, Conditions(start=start, steps=0))
        assert (run.grid.bits([1, 2]) == places).all()
    later = difflogic.simulate(found.automaton, Conditions(steps=3))
    later.save(tmp_path / "state.npz")
    further = Conditions(start=tmp_path / "state.npz", steps=2)
    once = difflogic.simulate(found.automaton, Conditions(steps=5)).grid.bits()
    assert (difflogic.simulate(found.automaton, further).grid.bits() == once).all()


def test_what_a_film_leaves_open():
    still = np.zeros((3, 4, 4), int)
    found = difflogic.identify(still, Assumptions("margolus")).rule
    assert (len(found.corners), found.unique, found.determined.sum()) == (4, True, 1)
    still[:, 1, 1] = 1
    found = difflogic.identify(still, Assumptions("margolus")).rule
    assert (len(found.corners), found.unique, found.open.sum()) == (4, False, 2)
    assert (found.complete == np.arange(16)).all()
    found = difflogic.identify([[[1, 1], [1, 1]], [[1, 0], [0, 0]]], Assumptions("margolus")).rule
    assert (found.unique, found.determined.any(), found.open.sum()) == (False, False, 1)
    assert not any(has for name, has in found.properties.items() if "symmetric" in name)


REFUSED = {
    "leave out --noise": {"noise": True},
    "leave out --symmetry": {"symmetry": "rotations"},
    "and --gap": {"gap": 2},
    "up to 4$": {"states": 5},
    "odd side": {"boundary": "periodic"},
    r"\d+ or more of 16 become several, such as .* after frame [01]": {},
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_refused(words):
    frames = np.random.default_rng(0).integers(0, 2, (3, 8, 8 + (words == "odd side")))
    with pytest.raises(ConfigError, match=words):
        difflogic.identify(frames, Assumptions("margolus", **REFUSED[words]))
