"""Decides whether damage stays local: which cells a wound can make wrong, and for how long.

A square of cells is *wounded*: its bits become zeros, or anything. Let S be the settled state, as
sets of values. The least X that contains S, the wound and F(X) is what the wound can *reach*:
whatever cells fire in whatever order, the state never leaves X. So after n rounds it lies in Fⁿ(X).
If all cells fire at each step, the state after n steps lies in Fⁿ(S with the wound).

Only *windows* are computed: the square within a frame of `reach` + 2 cells, whose outermost ring
keeps S. If nothing ever changes in the next ring, the cells beyond it see only S; and as F(S) lies
in S, they keep it. So the same happens on the whole grid, and the result depends on nothing but S
in the window.

Grids of all sizes have few different windows, and each of them is computed. For the settled states
of large grids are those of small ones with rows and columns repeated (`every_size.py`). In a grid
with many repeats, a window cannot touch both the first and the last one. Take out the one that it
does not touch: the smaller grid has the same window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import islice, product
from operator import or_
from typing import NamedTuple

import numpy as np

from difflogic.proof.answer import TIME_IS_UP, Confinement, Witness
from difflogic.proof.convergence import sets
from difflogic.proof.convergence.every_size import NO_ARRIVAL, Table
from difflogic.proof.convergence.findings import Convergence
from difflogic.proof.convergence.orbits import cycle, plain_step, states
from difflogic.proof.convergence.planes import Board, Planes, pack, unpack
from difflogic.proof.convergence.sets import UNKNOWN, Sets
from difflogic.proof.question import Wound
from difflogic.proof.verdict import Verdict
from difflogic.system.array_types import Bits, Flags, Int64s, Words
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.errors import OutOfTimeError
from difflogic.system.work import ignore

BEYOND_EDGE = 3
"""Stands for a cell beyond the edge, beside 0, 1 and UNKNOWN."""

ANY_ORDER = 0.5
"""A fire rate that asks about every fair schedule, as all below 1 do."""

BITS_AT_ONCE = 2**20
MOST_BITS = 2**25
"""Bits of a plane of the windows that are computed together, and of all of them."""

ROUNDS_PER_ROW = 8
"""Rounds, or steps, that a wound has to close, per row of its window."""

FEWER = 4
"""One in this many windows is followed first, where that refuses most circuits."""

TRIED = 4
CONTENTS = 16
"""Windows to look for a witness in, and starts and contents of each wound."""

SETTLING = 16
"""Steps per row and column in which such a start must repeat its state."""

BoardLines = tuple[int, ...]
"""The board's rows, or columns, that a grid or a window consists of; -1 is beyond the edge."""

Numbers = Int64s


@dataclass(frozen=True, eq=False)
class Ground:
    """Sets that hold the settled states of one grid, or of all grids."""

    board: Bits
    """0, 1 or UNKNOWN, shape (channels, rows, columns)."""
    table: Table | None = None
    """The proof for all grids, if the board is that of the small ones."""
    start: Bits | None = None
    """The only start, shape (channels, rows, columns); None if every state is one."""

    @classmethod
    def of(cls, table: Table) -> Ground:
        """Return the settled states of all grids."""
        found = table.arrivals
        return cls(np.where(found.steps < NO_ARRIVAL, found.values, np.uint8(UNKNOWN)), table)

    def sides(self, size: int) -> list[list[BoardLines]]:
        """Return the rows of grids that have all windows of a size, small ones first, and columns.

        Each height goes with each width. Equal rows of the board have the same number.
        """
        found = []
        for cells in (self.board.swapaxes(0, 1), self.board.transpose(2, 0, 1)):
            _, first, same = np.unique(
                cells.reshape(len(cells), -1), axis=0, return_index=True, return_inverse=True
            )
            numbers = first[same.ravel()]
            lines = [np.arange(len(cells))]
            if self.table is not None:
                grids = self.table.grids
                most = size + grids.sides[-1] + 2 * grids.period
                lines = [grids.lines(side) for side in range(1, most + 1)]
            found.append([tuple(numbers[line].tolist()) for line in lines])
        return found

    @cached_property
    def _within(self) -> Bits:
        """The board, and what is beyond its edge at last."""
        return np.pad(self.board, ((0, 0), (0, 1), (0, 1)), constant_values=BEYOND_EDGE)

    def part(self, rows: BoardLines, columns: BoardLines) -> Bits:
        """Return a grid, or a window, shape (channels, rows, columns)."""
        return self._within[:, rows][:, :, columns]


class Window(NamedTuple):
    """A part of a grid around a wound."""

    state: Bits
    """Shape (channels, size, size)."""
    margin: int
    """Cells from the square to the nearest edge; those of the frame if none is nearer."""
    rows: BoardLines
    """A grid in which it occurs, and where the square begins."""
    row: int
    columns: BoardLines
    column: int


def confine(
    question: Convergence, wound: Wound, ground: Ground, deadline: Deadline = NEVER
) -> Confinement:
    """Decide by sets of values whether damage stays local; if not, look for a run that refutes it.

    Of the question, only circuit, visible channels, fire rate and boundary count: round a torus, a
    wound comes back, which no window shows.
    """
    _, height, width = ground.board.shape
    where = "every grid" if ground.table is not None else f"{height}×{width} cells"
    answer = Confinement(wound, Verdict.open, where=where, synchronous=question.synchronous)
    if question.boundary == "periodic":
        return replace(answer, reason="only grids with zeros beyond their edges are tried")
    try:
        windows = windows_of(ground, wound, deadline)
        answer = replace(answer, windows=len(windows))
        if not windows:
            return answer
        most = max(1, BITS_AT_ONCE // wound.size**2)
        parts = (windows[first : first + most] for first in range(0, len(windows), most))
        found = [follow(question, wound, part, deadline=deadline) for part in parts]
    except OutOfTimeError:
        return replace(answer, reason=TIME_IS_UP)
    spread, reach, rounds = map(np.concatenate, zip(*found, strict=True))
    failed = (spread > wound.reach) | (rounds < 0)
    margins = np.array([window.margin for window in windows])
    least = max(wound.margin, int(margins[failed].max(initial=-1)) + 1)
    kept = margins >= min(least, wound.frame)
    if kept.any() and not failed[kept].any():
        most_rounds = int(rounds[kept].max())
        answer = replace(answer, margin=least, reach=int(reach[kept].max()), rounds=most_rounds)
    if not failed.any():
        return replace(answer, verdict=Verdict.proved)
    for place in sorted(np.flatnonzero(failed), key=lambda place: -windows[place].margin)[:TRIED]:
        witness = _witness(question, wound, ground, windows[place], deadline)
        if witness is not None:
            return replace(answer, verdict=Verdict.refuted, witness=witness)
    return replace(answer, reason=TIME_IS_UP) if deadline.passed else answer


def windows_of(ground: Ground, wound: Wound, deadline: Deadline = NEVER) -> list[Window]:
    """Return all different windows with squares far enough from the edges; none if too many.

    Raises OutOfTimeError.
    """
    found: dict[bytes, Window] = {}
    sides = [_places(lines, wound).items() for lines in ground.sides(wound.size)]
    if len(sides[0]) * len(sides[1]) * wound.size**2 > MOST_BITS:
        return []
    for (rows, down), (columns, across) in product(*sides):
        deadline.check()
        state = ground.part(rows, columns)
        margin = min(down[0], across[0])
        found.setdefault(state.tobytes(), Window(state, margin, *down[1:], *across[1:]))
    return list(found.values())


def _places(
    sides: Iterable[BoardLines], wound: Wound
) -> dict[BoardLines, tuple[int, BoardLines, int]]:
    """Return the lines of each window, with a margin, and a side and a place where it occurs.

    A square on a side that is shorter covers all of it.
    """
    found: dict[BoardLines, tuple[int, BoardLines, int]] = {}
    beyond = (-1,) * wound.frame
    for side in sides:
        lines = beyond + side + (-1,) * max(0, wound.side - len(side)) + beyond
        for place in range(len(lines) - wound.size + 1):
            margin = max(0, min(place, len(side) - place - wound.side, wound.frame))
            if margin >= min(wound.margin, wound.frame):
                found.setdefault(lines[place : place + wound.size], (margin, side, place))
    return found


def follow(
    question: Convergence,
    wound: Wound,
    windows: Sequence[Window],
    until_closed: bool = True,
    deadline: Deadline = NEVER,
    on_step: Callable[[Board, Words, Sets, Sets], object] = ignore,
) -> tuple[Numbers, Numbers, Numbers]:
    """Return how far from each wound a bit ever changes, how far a cell is wrong, and how long.

    That is rounds, or steps; -1 if it is not known, or if S changes by itself. Unless followed
    `until_closed`, ends after the first. `on_step` gets each step from what is reached on: board,
    free cells, and the sets before and after. Raises OutOfTimeError.
    """
    size = wound.size
    count = len(windows)
    board = Board(size, size, "zero", count)
    distances = wound.distances(size, size, wound.frame, wound.frame)
    channels = np.stack([window.state for window in windows], axis=1)
    (inside,) = board.words(channels[:1] != BEYOND_EDGE)
    square, rim = (
        board.words(np.tile(distances == far, (1, count, 1, 1)))[0] for far in (0, wound.frame)
    )
    still = sets.between(board, channels == 1, (channels == 1) | (channels == UNKNOWN))
    free = inside & ~rim

    def step(state: Sets) -> Sets:
        """Return the next sets; beyond the edge stay zeros, and the rim stays."""
        deadline.check()
        after = sets.step(question.network, board, state)
        following: Sets = after & free | still & rim
        return following

    def differ(state: Sets, rows: Sequence[int]) -> Words:
        """Return in which cells bits may differ from the settled ones."""
        found = still[0] & ~state[0] | state[1] & ~still[1]
        changed: Words = np.bitwise_or.reduce(found[list(rows)], axis=0)
        return changed

    def cells(plane: Words) -> Numbers:
        return board.bits(plane[None]).reshape(count, size, size).astype(np.int64)

    anything = np.zeros_like(square) if wound.zeros else square & inside
    state = np.stack([still[0] & ~square, still[1] & ~square | anything])
    while not question.synchronous:
        after = step(state)
        more = np.stack([state[0] & after[0], state[1] | after[1]])
        if np.array_equal(more, state):
            break
        state = more
    every = range(len(channels))
    rounds = np.zeros(count, np.int64)
    spread = np.zeros_like(square)
    reach = np.zeros_like(square)
    for number in range(1, ROUNDS_PER_ROW * size + 2 if until_closed else 2):
        off = differ(state, every)
        wrong = differ(state, question.visible_places)
        spread, reach = spread | off, reach | wrong
        rounds[cells(wrong).any(axis=(1, 2))] = number
        after = step(state)
        on_step(board, free, state, after)
        if not question.synchronous or np.array_equal(after, state):
            off = wrong  # sets only shrink, so what is right stays right
        if not off.any() or np.array_equal(after, state):
            break
        state = after
    rounds[cells(off | differ(step(still), every)).any(axis=(1, 2))] = -1
    far, seen = ((cells(plane) * distances).max(axis=(1, 2)) for plane in (spread, reach))
    return far, seen, rounds


def follow_some(
    table: Table, wound: Wound, stride: int, on_step: Callable[[Board, Words, Sets, Sets], object]
) -> bool:
    """Follow each `stride`-th window of all grids in any order; return whether wounds stay local.

    `on_step` gets each step, as from `follow`. One in FEWER windows is tried before.
    """
    question = table.question
    windows = windows_of(Ground.of(table), wound)[::stride]
    asked = replace(question, fire_rate=ANY_ORDER)
    few, _, _ = follow(asked, wound, windows[::FEWER], until_closed=False)
    if few.max() > wound.reach:
        return False
    spread, _, _ = follow(asked, wound, windows, on_step=on_step)
    return int(spread.max()) <= wound.reach


def _witness(
    question: Convergence, wound: Wound, ground: Ground, window: Window, deadline: Deadline
) -> Witness | None:
    """Look for a run that makes a cell wrong too far away, and repeat it by the plain interpreter.

    It begins at a start and settles first: sets may hold states that no start reaches. If cells may
    fire in any order, an adversary fires healthy cells that this makes wrong, and some of those
    that it keeps wrong.
    """
    _, _, rows, row, columns, column = window
    rest = ground.part(rows, columns)
    height = len(rows)
    width = len(columns)
    shown = list(question.visible_places)
    asked = replace(question, height=height, width=width, boundary="zero", target=rest[shown])
    board = asked.board
    network = asked.network
    distances = wound.distances(height, width, row, column)
    far, square = (board.pack(found) for found in (distances > wound.reach, distances == 0))
    known = pack(board, rest[shown] != UNKNOWN)
    wanted = pack(board, rest[shown] == 1)
    rng = np.random.default_rng(0)
    steps = 4 * (height + width)
    for number in range(1 if wound.zeros and ground.start is not None else CONTENTS):
        start = ground.start
        if start is None:
            start = rng.integers(0, 2, rest.shape, np.uint8)
        begin = pack(board, start)
        most = SETTLING * (height + width)
        found = cycle(network, board, begin, deadline, most)
        if found is None:
            continue
        calm = next(islice(states(network, board, begin), found[0], None))
        content = rng.integers(0, 1 if wound.zeros or not number else 2, rest.shape, np.uint8)
        pairs = zip(pack(board, content), calm, strict=True)
        wounded = state = tuple(new & square | old & ~square for new, old in pairs)
        fired: list[int] = []
        while len(fired) < 2 * steps and state != calm and not deadline.passed:
            seen = zip((state[place] for place in shown), wanted, known, strict=True)
            wrong = far & reduce(or_, ((bits ^ right) & sure for bits, right, sure in seen))
            if wrong:
                cell = divmod((wrong & -wrong).bit_length() - 1, width)
                masks = np.array([board.unpack(fire) for fire in fired], np.uint8)
                masks = masks.reshape(-1, height, width)
                hurt = unpack(board, wounded)
                witness = Witness(start, found[0], hurt, row, column, masks, cell)
                return _repeated(asked, witness, distances > 0)
            after = network.step(board, state)
            fire = board.full
            if not asked.synchronous:
                fire = board.pack(rng.random((height, width)) < 0.5)
                if len(fired) < steps:  # afterwards each cell gets its chance
                    fire = (fire | board.full ^ _differ(state, calm)) & _differ(after, calm)
            fired.append(fire)
            state = tuple(new & fire | old & ~fire for new, old in zip(after, state, strict=True))
    return None


def _differ(state: Planes, other: Planes) -> int:
    return reduce(or_, (a ^ b for a, b in zip(state, other, strict=True)))


def _repeated(question: Convergence, witness: Witness, outside: Flags) -> Witness:
    """Return a witness. Raises RuntimeError if the plain interpreter disagrees.

    Cells `outside` the square are not wounded.
    """
    state = witness.start
    shown = list(question.visible_places)
    for _ in range(witness.settled):
        state = plain_step(question, state)
    calm = state[shown]
    others = (state != witness.wounded)[:, outside]
    state = witness.wounded
    for mask in witness.fired:
        state = np.where(mask, plain_step(question, state), state)
    if others.any() or (state[shown] == calm)[:, *witness.cell].all():
        raise RuntimeError("the plain interpreter disagrees with a wound")
    return witness
