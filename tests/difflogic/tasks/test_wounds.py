"""Lessons about wounds: against an oracle that teaches cell by cell."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from difflogic.circuit.grid import NEIGHBORS, OFFSETS
from difflogic.config import load_config
from difflogic.tasks import make_task
from difflogic.tasks.wounds import CODE, Wounds
from tests.examples import examples


def lessons(side: int = 9) -> Wounds:
    sizes = [f"task.height={side}", f"task.width={side}"]
    found = make_task(load_config("checkerboard-tough", sizes)).lessons
    assert isinstance(found, Wounds)
    return found


LEADING = ("NW", "N", "W", "NE", "SW")


def code_at(y: int, x: int) -> list[int]:
    """Return the code of a cell, from the colours of its neighbours."""
    own, right, lower, diagonal = (
        ((y + dy) // 2 + (x + dx) // 2) % 2 for dy, dx in product((0, 1), repeat=2)
    )
    return [own, 1 - own, right, 1 - right, lower, 1 - lower, diagonal, 1]


def expected(state: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the target of a lesson, one cell after the other."""
    target = np.full(state.shape, np.nan)
    kinds = {}
    fired = {}
    for y, x in np.ndindex(state.shape[1:]):
        if min(rows[y], columns[x]) >= 0:
            *code, fired[y, x] = bits = state[:, y, x].tolist()
            wrong = "lying" if any(code) else "silent"
            kinds[y, x] = "right" if bits == code_at(rows[y], columns[x]) else wrong
    for y, x in kinds:
        around = [(y + dy, x + dx) for dy, dx in OFFSETS]
        what = dict(zip(NEIGHBORS, [kinds.get(at, "silent") for at in around], strict=True))
        leading = [at for at, name in zip(around, NEIGHBORS, strict=True) if name in LEADING]
        like_a_corner = fired[y, x] and not any(fired.get(at) for at in leading)
        like_a_corner &= {what[name] for name in LEADING} == {"silent"}
        blank = {*what.values()} == {"silent"} and not like_a_corner
        leaders = [what["N"], what["W"]]
        votes = [*leaders, what["C"]].count("right")
        known = votes >= 2 or sorted(leaders) == ["right", "silent"]
        if leaders == ["silent", "silent"]:
            known = "right" in what.values() and "lying" not in what.values()
        at_corner = rows[y] == columns[x] == 0
        if fired[y, x] and (at_corner or like_a_corner):
            known = at_corner
        if known:
            target[:, y, x] = code_at(rows[y], columns[x])
        elif blank:
            target[:, y, x] = [0] * (CODE - 1) + [1]
    return target


@given(st.integers(0, 2**32), st.sampled_from([2, 9, 16]))
@examples(60)
def test_a_lesson_says_what_each_cell_can_know(seed: int, side: int) -> None:
    # Of 2 by 2 cells, lessons take more words than are drawn at first.
    lesson = lessons(side).draw_lesson(np.random.default_rng(seed))
    assert lesson.used[0] <= len(lesson.words) == len({*lesson.words})
    for places in (lesson.rows, lesson.columns):
        last = -1
        for place in places:
            assert place in (-1, last + 1)
            last = place
    target = expected(lesson.state, lesson.rows, lesson.columns)
    assert not np.isnan(target).all()
    assert np.array_equal(lesson.target, target, equal_nan=True)


def test_lessons_have_cells_of_each_kind() -> None:
    """The draws themselves have digests."""
    found: Counter[str] = Counter()
    for seed in range(50):
        lesson = lessons().draw_lesson(np.random.default_rng(seed))
        for y, x in product(range(9), repeat=2):
            *code, fired = bits = lesson.state[:, y, x].tolist()
            row = lesson.rows[y]
            column = lesson.columns[x]
            if min(row, column) < 0:
                assert not any(bits)
            elif any(code):
                found["right" if bits == code_at(row, column) else "wrong"] += 1
            else:
                found["fired" if fired else "erased"] += 1
    assert min(found.values()) > 0.05 * found.total()
    assert len(found) == 4


def test_the_first_bit_of_a_code_is_the_board() -> None:
    board = make_task(load_config("checkerboard", ["task.height=9", "task.width=9"]))
    code = [[code_at(y, x)[0] for x in range(9)] for y in range(9)]
    assert np.array_equal(code, board.find_lasting_target()[0])
