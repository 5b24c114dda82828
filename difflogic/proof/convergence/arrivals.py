"""When what is known arrives, and how late it may come so that it comes by the same rule.

On sets, a channel of a cell is unknown up to a step of its own, and then known for ever. A grid's
run is a table of such *arrivals*. To hold some of them back makes others later, never earlier: the
table still says what is known at least.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.proof.convergence import sets
from difflogic.proof.convergence.findings import Question
from difflogic.proof.convergence.planes import unpack
from difflogic.proof.convergence.sets import Sets

NEVER = 2**30
"""The arrival of what stays unknown."""

MOST_ROUNDS = 16
"""In which arrivals that are held back have to come to rest."""

Array = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Arrivals:
    """When which value of each channel and cell is known, on one grid."""

    steps: Array
    """Shape (channels, height, width)."""
    values: Array
    """The same shape; 0 where nothing is known."""


@dataclass(frozen=True)
class Repeat:
    """Rows, or columns, `at` - 1 and `at` are those `period` before, `delay` steps later.

    A negative delay is earlier: then knowledge comes from the other side.
    """

    at: int
    period: int
    delay: int


def arrivals(question: Question, earliest: Array) -> Arrivals:
    """Run on sets from everything, and hold each channel of each cell back up to a step.

    `earliest` has the shape (channels, height, width); 0 holds nothing back.
    """
    board, channels = question.board, len(earliest)
    released = [
        {int(step): board.pack(rows == step) for step in np.unique(rows) if step < NEVER}
        for rows in earliest
    ]
    last = max((max(plan, default=0) for plan in released), default=0)
    free = [plan.get(0, 0) for plan in released]
    state = sets.everything(channels, board)
    steps, step = np.full(earliest.shape, NEVER, np.int64), 0
    while True:
        step += 1
        free = [plane | plan.get(step, 0) for plane, plan in zip(free, released, strict=True)]
        after = sets.step(question.network, board, state)
        after = Sets(
            tuple(low & plane for low, plane in zip(after.least, free, strict=True)),
            tuple(high | board.full ^ plane for high, plane in zip(after.most, free, strict=True)),
        )
        for channel, (was, now) in enumerate(zip(state.unknown, after.unknown, strict=True)):
            if was != now:
                steps[channel][board.unpack(was ^ now) == 1] = step
        if after == state and step > last:
            break
        state = after
    return Arrivals(steps, np.where(steps == NEVER, 0, unpack(board, state.least)))


def repeating(question: Question, rows: Repeat, columns: Repeat, latest: int) -> Arrivals | None:
    """Hold arrivals back until rows and columns repeat as is asked for; None if they do not.

    A channel that is not visible and whose values do not repeat is left unknown for ever. What
    is visible has to be known by step `latest`.
    """
    shown = list(question.shown)
    earliest = np.zeros((question.circuit.channels, question.height, question.width), np.int64)
    for _ in range(MOST_ROUNDS):
        found = arrivals(question, earliest)
        if (found.steps[shown] > latest).any():
            return None
        later = found.steps.copy()
        _hold_back(later, rows)
        _hold_back(later.transpose(0, 2, 1), columns)
        unlike = _unlike(found.values, rows) | _unlike(found.values.transpose(0, 2, 1), columns)
        if unlike[shown].any():
            return None
        later[unlike] = NEVER
        if (later == found.steps).all():
            return found
        earliest = later
    return None


def _hold_back(steps: Array, repeat: Repeat) -> None:
    """Raise arrivals (channels, rows, columns) in place, so that the rows are as far apart."""
    for row in (repeat.at - 1, repeat.at):
        now, before = steps[:, row], steps[:, row - repeat.period]
        never = (now >= NEVER) | (before >= NEVER)
        now[:] = np.where(never, NEVER, np.maximum(now, before + repeat.delay))
        before[:] = np.where(never, NEVER, np.maximum(before, now - repeat.delay))


def _unlike(values: Array, repeat: Repeat) -> npt.NDArray[np.bool_]:
    """Return which channels have rows that differ in values."""
    now, before = (slice(row - 1, row + 1) for row in (repeat.at, repeat.at - repeat.period))
    found: npt.NDArray[np.bool_] = (values[:, now] != values[:, before]).any(axis=(1, 2))
    return found
