"""Case distinction: an unknown bit is 0 or it is 1, and what follows in both cases is known.

Let every state from step j on lie in X. Then so does its state m steps later, and that is reached
either from a state of X with the bit 0, or from one with the bit 1: both are run for m steps, and
what they agree on holds from step j + m on. All unknown bits are tried side by side.

Source: the dilemma rule (Sheeran and Stålmarck 2000, "A tutorial on Stålmarck's proof procedure
for propositional logic").
"""

from __future__ import annotations

import numpy as np

from difflogic.proof.convergence.findings import Question
from difflogic.proof.convergence.planes import Board
from difflogic.proof.convergence.sets import Sets, step
from difflogic.system.deadline import NEVER, Deadline

MOST_BITS = 2**21
"""Of a plane with all cases side by side: a quarter of a megabyte, some milliseconds a step."""


def distinguish(
    question: Question, from_step: int, state: Sets, steps: int, deadline: Deadline = NEVER
) -> tuple[int, Sets]:
    """Return a later step and what every state from then on lies in, as far as cases tell.

    `state` holds all states from `from_step` on. Cases are run for up to `steps` steps, again
    after whatever they brought. Ends where the question is answered, nothing more is found, or
    the deadline passes.
    """
    while not question.is_known(state):
        better = _once(question, state, steps, deadline)
        if better is None:
            break
        later, state = better
        from_step += later
        # What is known now may have consequences without any distinction.
        run = list(descend_within(question, state))
        from_step, state = from_step + len(run) - 1, run[-1]
    return from_step, state


def descend_within(question: Question, state: Sets) -> list[Sets]:
    """Return the sets step by step, each within the one before, until they stay as they are."""
    found = [state]
    while True:
        after = step(question.network, question.board, found[-1]).within(found[-1])
        if after == found[-1]:
            return found
        found.append(after)


def _once(
    question: Question, state: Sets, steps: int, deadline: Deadline
) -> tuple[int, Sets] | None:
    """Return after how many steps a case distinction tells more than `state`, and what."""
    cells = question.board.cells
    unknown = [
        (channel, cell)
        for channel, plane in enumerate(state.unknown)
        for cell in range(cells)
        if plane >> cell & 1
    ]
    unknown = unknown[: MOST_BITS // (2 * cells)]
    if not unknown:
        return None
    board = Board(question.height, question.width, question.boundary, 2 * len(unknown))
    cases = _side_by_side(board, state, unknown)
    for later in range(1, steps + 1):
        if deadline.passed:
            return None
        cases = step(question.network, board, cases)
        found = _agreed(board, cases).within(state)
        if found != state:
            return later, found
    return None


def _side_by_side(board: Board, state: Sets, unknown: list[tuple[int, int]]) -> Sets:
    """Return the sets with each bit, of a channel and a cell, once 0 and once 1."""
    least, most = [], []
    copies = np.arange(len(unknown))
    channels, cells = np.array(unknown).T
    for channel, planes in enumerate(zip(state.least, state.most, strict=True)):
        marks = np.zeros((2, len(unknown), 2, board.cells), np.uint8)
        own = channels == channel
        marks[0, copies[own], 1, cells[own]] = 1
        marks[1, copies[own], 0, cells[own]] = 1
        ones, zeros = (board.pack(mark) for mark in marks)
        least.append(board.repeated(planes[0]) | ones)
        most.append(board.repeated(planes[1]) & ~zeros)
    return Sets(tuple(least), tuple(most))


def _agreed(board: Board, cases: Sets) -> Sets:
    """Return what holds in both cases of some bit; cases stand side by side in pairs."""
    one = Board(board.height, board.width, board.boundary)

    def gathered(plane: int, both: bool) -> int:
        bits = board.unpack(plane).reshape(-1, 2, board.height, board.width)
        # The least member is 1 if it is in both cases; the greatest is 0 if it is in both.
        return one.pack(bits.min(axis=1).max(axis=0) if both else bits.max(axis=1).min(axis=0))

    return Sets(
        tuple(gathered(plane, True) for plane in cases.least),
        tuple(gathered(plane, False) for plane in cases.most),
    )
