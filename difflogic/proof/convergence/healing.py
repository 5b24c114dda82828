"""What becomes of a state after damage: whether the target comes back, and stays for ever.

All damages of a state run side by side, until each is in a state that is known to stay right. What
is not soon is followed alone until its state repeats, which decides it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from difflogic.proof.convergence.findings import Bits, Question
from difflogic.proof.convergence.orbits import Orbit, orbit, states
from difflogic.proof.convergence.planes import Board, Planes

NEVER = -1
"""Stands for the steps to a target that does not come back for ever, or is not known to."""

TOGETHER = 8
"""Sides of the grid, as steps: so long all damages run side by side."""

MOST_STATES = 32
"""States that are damaged: a run of a longer period is not tried."""

MOST_ALONE = 2**10
"""Steps in which the run of one damaged state has to repeat."""

Steps = npt.NDArray[np.int64]


def run_from(question: Question, start: Planes, found: Orbit, step: int) -> list[Planes]:
    """Return all states that the run of `start` comes to from a step on, each once."""
    last = max(found.first, step) + found.period
    return list(itertools.islice(states(question.network, question.board, start), step, last))


def steps_to_heal(question: Question, resting: Sequence[Planes], patches: Bits) -> Steps:
    """Return after how many steps the target is back for ever, shape (damages,), or NEVER.

    Each of `patches` (damages, height, width) is 1 where a cell is zeroed. `resting` is what a run
    comes to: each of these states is damaged, the most steps count, and all of them stay right.
    """
    found = np.zeros(len(patches), np.int64)
    alone: dict[Planes, int] = {}
    for state in resting:
        steps = _after_damage(question, resting, state, patches, alone)
        found = np.where((found == NEVER) | (steps == NEVER), NEVER, np.maximum(found, steps))
    return found


def _after_damage(
    question: Question,
    resting: Sequence[Planes],
    state: Planes,
    patches: Bits,
    alone: dict[Planes, int],
) -> Steps:
    board = Board(question.height, question.width, question.boundary, len(patches))
    kept = board.full ^ board.pack(patches)
    now = tuple(board.repeated(plane) & kept for plane in state)
    goals = [tuple(board.repeated(plane) for plane in goal) for goal in resting]
    wanted = [board.repeated(plane) for plane in question.wanted]

    def wrong() -> npt.NDArray[np.bool_]:
        return _copies_that_differ(board, [now[channel] for channel in question.shown], wanted)

    def astray() -> npt.NDArray[np.bool_]:
        return np.logical_and.reduce([_copies_that_differ(board, now, goal) for goal in goals])

    back = wrong().astype(np.int64)
    most = TOGETHER * max(question.height, question.width)
    for step in range(1, most + 1):
        now = question.network.step(board, now)
        missed = wrong()
        back[missed] = step + 1
        if not missed.any() and not astray().any():
            return back
    one = question.board.full
    for copy in np.flatnonzero(astray()).tolist():
        own = tuple(plane >> copy * board.cells & one for plane in now)
        later = _alone(question, own, alone)
        if later:  # 0 is right from the first of these on, and adds nothing
            back[copy] = NEVER if later == NEVER else most + later
    return back


def _copies_that_differ(
    board: Board, planes: Sequence[int], others: Sequence[int]
) -> npt.NDArray[np.bool_]:
    """Return which copies of a board differ in some plane, shape (copies,)."""
    differing = 0
    for plane, other in zip(planes, others, strict=True):
        differing |= plane ^ other
    if not differing:
        return np.zeros(board.copies, np.bool_)
    cells = board.unpack(differing).reshape(board.copies, -1)
    return np.asarray(cells.any(axis=1))


def _alone(question: Question, state: Planes, known: dict[Planes, int]) -> int:
    """Return after how many steps from `state` on the target is shown for ever, or NEVER."""
    if state not in known:
        found = orbit(question, state, most=MOST_ALONE)
        if found is None:
            known[state] = NEVER
        else:
            known[state] = NEVER if found.right_from is None else found.right_from
            # Other damages end in the same states, mostly.
            for each in run_from(question, state, found, found.first):
                known.setdefault(each, NEVER if found.right_from is None else 0)
    return known[state]
