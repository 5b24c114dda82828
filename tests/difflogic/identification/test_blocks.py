"""Rules by blocks, compared with a plain loop over blocks; and their circuits, run as any other."""

from __future__ import annotations

import numpy as np
import pytest

import difflogic
from difflogic import Assumptions, Conditions

NAMED = {
    "Critters": "15;14;13;3;11;5;6;1;7;9;10;2;12;4;8;0",
    "billiard balls": "0;8;4;3;2;5;9;7;1;6;10;11;12;13;14;15",
    "Tron": "15;1;2;3;4;5;6;7;8;9;10;11;12;13;14;0",
}
"""In the notation MS,D: what becomes of each block; its upper left cell is the lowest bit."""


def drawn(seed):
    return ";".join(map(str, np.random.default_rng(seed).integers(0, 16, 16)))


def after(cells, rule, top, left, periodic, seen):
    """Step a grid whose first cell has this place in its block; note which blocks are `seen`."""
    numbers, height, width = [*map(int, rule.split(";"))], *cells.shape
    found = np.zeros_like(cells)
    for y in range(-top, height, 2):
        for x in range(-left, width, 2):
            places = [(y, x), (y, x + 1), (y + 1, x), (y + 1, x + 1)]
            inside = [0 <= row < height and 0 <= column < width for row, column in places]
            places = [(row % height, column % width) for row, column in places]
            if periodic:
                inside = [True] * 4
            bits = [cells[place] * is_in for place, is_in in zip(places, inside, strict=True)]
            number = sum(int(bit) << n for n, bit in enumerate(bits))
            seen.setdefault(number, set()).update(n for n in range(4) if inside[n])
            for n, place in enumerate(places):
                if inside[n]:
                    found[place] = numbers[number] >> n & 1
    return found


def film(rule, size, corner=(0, 0), periodic=True, frames=6, seed=0, density=0.5):
    """Return frames, and which cells of which blocks' results they show."""
    frame, seen = (np.random.default_rng(seed).random(size) < density).astype(int), {}
    found = [frame]
    for step in range(frames - 1):
        top, left = ((each + step) % 2 for each in corner)
        found.append(after(found[-1], rule, top, left, periodic, seen))
    return np.stack(found), seen


def check(rule, size, corner, boundary, tmp_path, effort="low"):
    frames, seen = film(rule, size, corner, boundary == "periodic", seed=sum(size))
    found = difflogic.identify(frames, Assumptions("margolus", boundary=boundary), effort=effort)
    numbers = [*map(int, rule.split(";"))]
    explained = found.rule
    assert explained.corners == [corner]
    order = [int(f"{entry:04b}"[::-1], 2) for entry in range(16)]
    expected = [
        [
            numbers[order[entry]] >> n & 1 if n in seen.get(order[entry], ()) else -1
            for n in range(4)
        ]
        for entry in range(16)
    ]
    assert explained.cells.tolist() == expected
    whole = [len(seen.get(order[entry], ())) == 4 for entry in range(16)]
    assert explained.determined.tolist() == whole
    assert explained.never_seen.tolist() == [order[entry] not in seen for entry in range(16)]
    np.savez(tmp_path / "film.npz", frames=frames)
    for number in (0, 1, "last"):
        conditions = Conditions(start=tmp_path / "film.npz", frame=number, steps=3)
        run = difflogic.simulate(found.automaton, conditions, engine="interpreter")
        first = 5 if number == "last" else number
        complete, cells = explained.name.removeprefix("MS,D"), frames[first]
        for step in range(first, first + 3):
            top, left = ((each + step) % 2 for each in corner)
            cells = after(cells, complete, top, left, boundary == "periodic", {})
        assert (run.grid.bits([0])[0] == cells).all()
    return all(whole)


@pytest.mark.parametrize("boundary", ["periodic", "zero"])
@pytest.mark.parametrize("rule", [*NAMED.values(), drawn(0)])
def test_rules(rule, boundary, tmp_path):
    for corner in ((0, 0), (1, 1)):
        check(rule, (16, 12), corner, boundary, tmp_path)
