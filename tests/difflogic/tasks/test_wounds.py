"""Lessons about wounds: against draws of NumPy's own, and an oracle that teaches cell by cell."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from difflogic.circuit.grid import NEIGHBORS, OFFSETS
from difflogic.config import load_config
from difflogic.system.elementary import exponential, logarithm
from difflogic.tasks import make_task
from difflogic.tasks.kernels import lessons as k
from difflogic.tasks.wounds import CODE_CHANNELS, Wounds
from tests.examples import any_seed, examples
from tests.marks import compiled


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
            target[:, y, x] = [0] * (CODE_CHANNELS - 1) + [1]
    return target


def shares(rng: np.random.Generator) -> np.ndarray:
    """Draw shares of the kinds from a Dirichlet distribution, by gamma variables as Jöhnk's."""
    whole, rest = np.divmod(k.KIND_SHARES, 1)
    found = np.zeros(len(rest))
    for number in range(int(whole.max())):
        found -= (number < whole) * logarithm(1 - rng.random(len(rest)))
    left = rest > 0
    rest[~left] = 0.5
    while left.any():
        one, other, scale = logarithm(1 - rng.random((3, len(rest))))
        x = exponential(one / rest)
        y = exponential(other / (1 - rest))
        drawn = left & (x + y <= 1)
        found -= drawn * (scale * x / (x + y))
        left &= ~drawn
    return found / found.sum()


def kinds_of(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Draw what each cell of a lesson holds."""
    if rng.random() < k.SPRINKLED:
        return rng.choice(5, shape, p=shares(rng))
    kinds = np.zeros(shape, np.int64)
    for _ in range(rng.integers(1, k.MOST_SQUARES + 1)):
        sides = rng.integers(1, k.MOST_SIDE + 1, 2)
        first = rng.integers(1 - sides, shape)
        block = kinds[tuple(map(slice, np.maximum(first, 0), first + sides))]
        hit = rng.random(block.shape) < rng.choice(k.WOUNDED_SHARES)
        block[hit] = rng.integers(k.ERASED, 5)
    return kinds


def drawn(rng: np.random.Generator, side: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a lesson's state, and each row's and column's place in its small board."""
    gaps = rng.random() * k.MOST_GAPS
    places = []
    for gap in rng.random((2, side)) < gaps:
        line = np.arange(side)
        places.append(line - np.maximum.accumulate(np.where(gap, line, -1)) - 1)
    kinds = kinds_of(rng, (side, side))
    moved = rng.integers(0, 4, 2)
    state = rng.integers(0, 2, (CODE_CHANNELS, side, side), np.uint8)
    rows, columns = places
    for y, x in product(range(side), repeat=2):
        shown = {
            k.RIGHT: code_at(rows[y], columns[x]),
            k.SHIFTED: code_at(y + moved[0], x + moved[1]),
            k.ERASED: [0] * CODE_CHANNELS,
            k.FIRED: [0] * (CODE_CHANNELS - 1) + [1],
        }
        state[:, y, x] = shown.get(kinds[y, x], state[:, y, x])
        state[:, y, x] *= min(rows[y], columns[x]) >= 0
    return state, rows, columns


@given(any_seed, st.sampled_from([2, 9, 16]))
@examples(60)
def test_a_lesson_says_what_each_cell_can_know(seed: int, side: int) -> None:
    # Of 2 by 2 cells, lessons take more words than are drawn at first.
    start, target = lessons(side).sample(np.random.default_rng(seed))
    again = np.random.default_rng(seed)
    found = np.array(np.nan)
    while np.isnan(found).all():
        state, rows, columns = drawn(again, side)
        found = expected(state, rows, columns)
    assert np.array_equal(start, state)
    assert np.array_equal(target, found, equal_nan=True)


@compiled
def test_what_is_compiled_before_is_what_lessons_call() -> None:
    k.load_kernels()
    lessons().sample(np.random.default_rng(0))
    assert len(k.draw.signatures) == 1


def test_the_first_bit_of_a_code_is_the_board() -> None:
    board = make_task(load_config("checkerboard", ["task.height=9", "task.width=9"]))
    code = [[code_at(y, x)[0] for x in range(9)] for y in range(9)]
    assert np.array_equal(code, board.find_lasting_target()[0])
