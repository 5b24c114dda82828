"""Samples of lessons about wounds; `difflogic.tasks.wounds` says what they are.

Tests compare them with draws of NumPy's own, and what they teach of the board in
`checkerboard.py` with an oracle, cell by cell.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from difflogic.system.jit import borrowing_kernel, by_reference, part

RIGHT, ERASED, FIRED, NOISE, SHIFTED = range(5)
"""What a cell holds: its code; zeros; zeros, but it has fired; random bits; the code of a cell some
rows and columns away."""

KIND_SHARES = (1.0, 0.7, 0.4, 2.0, 0.4)
"""Concentrations of a Dirichlet distribution over the kinds of cells."""

FRACTIONAL = sum(1 << kind for kind, share in enumerate(KIND_SHARES) if share % 1)
"""A bit for each that is no whole number."""

SPRINKLED = 0.6
MOST_GAPS = 0.5
MOST_SQUARES = 4
MOST_SIDE = 8
"""Share of lessons in which each cell draws its kind alone, rather than in rectangles; most gaps
per row or column of cells; most rectangles, and their longest side."""

WOUNDED_SHARES = (0.2, 0.5, 0.8, 1.0, 1.0)
"""Shares of the cells of a rectangle that it wounds."""

LN2_HIGH = float.fromhex("0x1.62e42feep-1")
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
FACTORS = tuple(1 / math.factorial(n) for n in range(13, -1, -1))
"""As in `difflogic.system.elementary`, which kernels may not import: `system/jit/cache.py`."""

TELLS = 1
LIES = 2
FIRES = 4
"""What a cell shows its neighbours: its right code, another one, or that it has fired."""


@by_reference
class Lesson(NamedTuple):
    """A lesson, which the kernel draws."""

    words: npt.NDArray[np.int64]
    """Random words; their number is a power of two."""
    used: npt.NDArray[np.int64]
    """How many of them are used, and half a word that is left, or -1, shape (2,)."""
    plane: npt.NDArray[np.uint8]
    """Codes of a part of the plane, (code, rows, columns)."""
    rows: npt.NDArray[np.int64]
    """Each row's place in its small board; -1 is a gap."""
    columns: npt.NDArray[np.int64]
    shares: npt.NDArray[np.float64]
    """Of the kinds of cells, added up."""
    cells: npt.NDArray[np.int64]
    """Scratch, (rows + 2, columns + 2): zeros at the borders."""
    state: npt.NDArray[np.uint8]
    """Shape (code, rows, columns)."""
    target: npt.NDArray[np.float64]


@part
def word(lesson, number):
    """Return a word; if too few are given, one of those before."""
    return lesson.words[number & len(lesson.words) - 1]


@part
def fraction(lesson, number):
    """Return a word as a number from 0 to below 1."""
    return (word(lesson, number) >> 11 & 2**53 - 1) * 2.0**-53


@part
def take(lesson, count):
    """Use some words; return the number of the first."""
    first = lesson.used[0]
    lesson.used[0] += count
    return first


@part
def take_half(lesson):
    """Return the lower half of a word, and the upper one at the next call."""
    half = lesson.used[1]
    lesson.used[1] = -1
    if half < 0:
        half = word(lesson, take(lesson, 1))
        lesson.used[1] = half >> 32 & 2**32 - 1
    return half & 2**32 - 1


@part
def below(lesson, count):
    """Return a whole number from 0 to below `count`. Source: Lemire 2019."""
    while True:
        product = take_half(lesson) * count
        if product & 2**32 - 1 >= (2**32 - count) % count:
            return product >> 32


@part
def logarithm(lesson, number):
    """Return the logarithm of a number above 0 to 1, with the bits of `elementary.logarithm`."""
    m, n = math.frexp(1 - fraction(lesson, number))
    if m < 0.7071067811865476:
        m *= 2
        n -= 1
    s = (m - 1) / (m + 1)
    total = 0.0
    for odd in range(23, 0, -2):
        total = total * (s * s) + 1 / odd
    return n * LN2_HIGH + (2 * s * total + n * LN2_LOW)


@part
def exponential(x):
    """Return e to the x, from -700 to 0, with the bits of `elementary.exponential`."""
    n = round(x * (1 / 0.6931471805599453))
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    total = 0.0
    for factor in FACTORS:
        total = total * r + factor
    return math.ldexp(total, n)


@part
def draw_shares(lesson):
    """Draw shares of the kinds from a Dirichlet distribution, and add them up.

    They are independent gamma variables, divided by their sum. One of a whole concentration is a
    sum of exponential ones; the rest of another is drawn as in Jöhnk 1964.
    """
    shares = lesson.shares
    kinds = len(shares)
    shares[:] = 0
    for number in range(int(max(KIND_SHARES))):
        first = take(lesson, kinds)
        for kind in range(kinds):
            if number < KIND_SHARES[kind] // 1:
                shares[kind] -= logarithm(lesson, first + kind)
    left = FRACTIONAL
    while left and lesson.used[0] <= len(lesson.words):
        first = take(lesson, 3 * kinds)
        for kind in range(kinds):
            rest = KIND_SHARES[kind] % 1
            if left >> kind & 1:
                x = exponential(logarithm(lesson, first + kind) / rest)
                y = exponential(logarithm(lesson, first + kinds + kind) / (1 - rest))
                if x + y <= 1:
                    shares[kind] -= logarithm(lesson, first + 2 * kinds + kind) * x / (x + y)
                    left ^= 1 << kind
    # Not by sum(), whose kept code imports SciPy.
    whole = 0.0
    for kind in range(kinds):
        whole += shares[kind]
    total = 0.0
    for kind in range(kinds):
        total += shares[kind] / whole
        shares[kind] = total
    for kind in range(kinds):
        shares[kind] /= total


@part
def draw_kinds(lesson):
    """Draw what each cell holds."""
    kinds = lesson.cells[1:-1, 1:-1]
    (height, width) = kinds.shape
    lesson.cells[:] = RIGHT
    if fraction(lesson, take(lesson, 1)) < SPRINKLED:
        draw_shares(lesson)
        first = take(lesson, height * width)
        for y in range(height):
            for x in range(width):
                number = fraction(lesson, first + y * width + x)
                for share in lesson.shares:
                    kinds[y, x] += share <= number
        return
    for _ in range(1 + below(lesson, MOST_SQUARES)):
        rows = 1 + below(lesson, MOST_SIDE)
        columns = 1 + below(lesson, MOST_SIDE)
        top = 1 - rows + below(lesson, height + rows - 1)
        left = 1 - columns + below(lesson, width + columns - 1)
        block = kinds[max(top, 0) : top + rows, max(left, 0) : left + columns]
        first = take(lesson, block.size)
        share = WOUNDED_SHARES[below(lesson, len(WOUNDED_SHARES))]
        kind = ERASED + below(lesson, SHIFTED)
        for y in range(block.shape[0]):
            for x in range(block.shape[1]):
                if fraction(lesson, first + y * block.shape[1] + x) < share:
                    block[y, x] = kind


@part
def draw_state(lesson, period):
    """Draw small boards and what is wounded, and write what each cell shows to its neighbours."""
    state = lesson.state
    gaps = fraction(lesson, take(lesson, 1)) * MOST_GAPS
    for places in (lesson.rows, lesson.columns):
        place = -1
        for line in range(len(places)):
            gap = fraction(lesson, take(lesson, 1)) < gaps
            place = -1 if gap else place + 1
            places[line] = place
    draw_kinds(lesson)
    down = below(lesson, period)
    right = below(lesson, period)
    half = 0
    for at in range(state.size):
        # NumPy makes four bytes of half a word, and a bit of each.
        half = half >> 8 if at % 4 else take_half(lesson)
        state.flat[at] = half >> 7 & 1
    last = len(state) - 1
    for y in range(len(lesson.rows)):
        for x in range(len(lesson.columns)):
            row = lesson.rows[y]
            column = lesson.columns[x]
            kind = lesson.cells[1 + y, 1 + x]
            tells = row >= 0 and column >= 0
            inside = tells
            loud = False
            for c in range(len(state)):
                code = lesson.plane[c, row, column]
                if kind == RIGHT:
                    state[c, y, x] = code
                elif kind == SHIFTED:
                    state[c, y, x] = lesson.plane[c, down + y, right + x]
                elif kind != NOISE:
                    state[c, y, x] = kind == FIRED and c == last
                state[c, y, x] *= inside
                tells &= state[c, y, x] == code
                loud |= state[c, y, x] > 0 and c < last
            shown = TELLS if tells else LIES * loud
            lesson.cells[1 + y, 1 + x] = shown | FIRES * state[last, y, x]


@part
def teach(lesson):
    """Write the target: what cells can know after one step, zeros for those that see no code.

    Returns whether any cell is taught.
    """
    cells = lesson.cells
    last = len(lesson.target) - 1
    taught = False
    lesson.target[:] = np.nan
    for y in range(1, len(cells) - 1):
        for x in range(1, len(cells[0]) - 1):
            row = lesson.rows[y - 1]
            column = lesson.columns[x - 1]
            if row < 0 or column < 0:
                continue
            north = cells[y - 1, x]
            west = cells[y, x - 1]
            own = cells[y, x]
            leading = north | west | cells[y - 1, x - 1] | cells[y - 1, x + 1] | cells[y + 1, x - 1]
            around = leading | own | cells[y, x + 1] | cells[y + 1, x] | cells[y + 1, x + 1]
            silent = int(north & 3 == 0) + int(west & 3 == 0)
            tell = (north & TELLS) + (west & TELLS)
            # The majority of two neighbours and the cell itself: Toom 1980.
            known = tell + (own & TELLS) >= 2 or (tell + silent == 2 and tell)
            known = known or (silent == 2 and around & 3 == TELLS)
            as_corner = own & FIRES and not leading
            if own & FIRES and (row == column == 0 or not leading):
                known = row == column == 0
            if known or (around & 3 == 0 and not as_corner):
                taught = True
                for c in range(last + 1):
                    code = lesson.plane[c, row, column]
                    lesson.target[c, y - 1, x - 1] = code if known else c == last
    return taught


@borrowing_kernel
def draw(lesson, period):
    """Draw a lesson on a plane with this period: a right one, unless it uses too many words."""
    lesson.used[0] = 0
    lesson.used[1] = -1
    taught = False
    while not taught and lesson.used[0] <= len(lesson.words):
        draw_state(lesson, period)
        taught = teach(lesson)


def new_lesson(plane: npt.NDArray[np.uint8], height: int, width: int) -> Lesson:
    """Return a lesson on a part of the plane, before any word is drawn."""
    return Lesson(
        words=np.empty(0, np.int64),
        used=np.ones(2, np.int64),
        plane=plane,
        rows=np.empty(height, np.int64),
        columns=np.empty(width, np.int64),
        shares=np.empty(len(KIND_SHARES)),
        cells=np.empty((height + 2, width + 2), np.int64),
        state=np.empty((len(plane), height, width), np.uint8),
        target=np.empty((len(plane), height, width)),
    )


def load_kernels() -> None:
    """Compile or load the kernel, which is the same for all boards."""
    lesson = new_lesson(np.zeros((1, 2, 2), np.uint8), 1, 1)
    draw(lesson._replace(words=np.full(1, -1)), 1)
