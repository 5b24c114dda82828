"""Lessons about wounds: against a plain oracle, cell by cell, and the rule written by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.circuit.grid import NEIGHBORS, OFFSETS
from difflogic.config import load_config
from difflogic.system.errors import ConfigError
from difflogic.tasks import make_task
from difflogic.tasks.wounds import CODE, Wounds
from tests.examples import examples


def lessons(side: int = 9) -> Wounds:
    sizes = [f"task.height={side}", f"task.width={side}"]
    found = make_task(load_config("checkerboard-tough", sizes)).lessons
    assert isinstance(found, Wounds)
    return found


def code_at(y: int, x: int) -> list[int]:
    """Return the code of a cell, from the colours of its neighbours."""
    own, right, lower, diagonal = (
        ((y + dy) // 2 + (x + dx) // 2) % 2 for dy, dx in product((0, 1), repeat=2)
    )
    return [own, 1 - own, right, 1 - right, lower, 1 - lower, diagonal, 1]


def expected(state: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the target of a lesson, one cell after the other."""
    height = len(rows)
    width = len(columns)
    target = np.full((CODE, height, width), np.nan)

    def kind(y: int, x: int) -> tuple[str, bool]:
        if not (0 <= y < height and 0 <= x < width) or min(rows[y], columns[x]) < 0:
            return "silent", False
        bits = state[:, y, x].tolist()
        if bits == code_at(rows[y], columns[x]):
            return "right", True
        return "lying" if any(bits[:-1]) else "silent", bool(bits[-1])

    for y, x in product(range(height), range(width)):
        if min(rows[y], columns[x]) < 0:
            continue
        seen = {
            name: kind(y + dy, x + dx) for name, (dy, dx) in zip(NEIGHBORS, OFFSETS, strict=True)
        }
        is_ = {name: what for name, (what, _) in seen.items()}
        if (
            all(seen[name] == ("silent", False) for name in ("NW", "N", "W", "NE", "SW"))
            and (seen["C"][1])
        ):
            # a corner, or like one
            known = rows[y] == columns[x] == 0
            blank = False
        else:
            leaders = [is_[name] for name in ("N", "W")]
            blank = set(is_.values()) == {"silent"}
            if set(leaders) == {"silent"}:
                known = "right" in is_.values() and "lying" not in is_.values()
            else:
                votes = [*leaders, is_["C"]]
                alone = leaders.count("silent") == 1 and "right" in leaders
                known = votes.count("right") >= 2 or alone
        if rows[y] == columns[x] == 0 and seen["C"][1]:
            known = True
        if known:
            target[:, y, x] = code_at(rows[y], columns[x])
        elif blank:
            target[:, y, x] = [0] * (CODE - 1) + [1]
    return target


@given(st.integers(0, 2**32))
@examples(60)
def test_a_lesson_says_what_each_cell_can_know(seed: int) -> None:
    task = lessons()
    start, target = task.sample(np.random.default_rng(seed))
    again = np.random.default_rng(seed)
    for _ in range(99):
        state, rows, columns = task._draw_wounded(again)
        found = expected(state, rows, columns)
        if not np.isnan(found).all():
            break
    assert np.array_equal(start, state)
    assert np.array_equal(target, found, equal_nan=True)


def test_an_intact_board_stays() -> None:
    task = lessons()
    places = np.arange(9)
    code = task._codes(places, places)
    corner = (places == 0)[:, None] & (places == 0)
    known, blank = task.knowledge(code, code, corner)
    assert known.all()
    assert not blank.any()
    board = make_task(load_config("checkerboard", ["task.height=9", "task.width=9"]))
    assert np.array_equal(code[0], board.find_lasting_target()[0])


@pytest.mark.parametrize(
    "change",
    [
        "automaton.channels=9",
        "task.square=4",
        "automaton.boundary=periodic",
        "task.loss_channels=[1]",
    ],
)
def test_what_cannot_be_taught_is_refused(change: str) -> None:
    gates = ["update.gates=[256,128,64,32,16,9]"] if "channels=9" in change else []
    with pytest.raises(ConfigError, match=r"\[task\] wounds: teaching needs 8 channels"):
        load_config("checkerboard-tough", [change, *gates])
    load_config("checkerboard-tough", [change, *gates, "task.wounds=none"])
