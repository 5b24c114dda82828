"""What wounds do: from all settled states with all contents."""

from collections.abc import Sequence
from itertools import islice, product

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.grid import Boundary
from difflogic.proof.answer import Confinement
from difflogic.proof.convergence.findings import Convergence
from difflogic.proof.question import Wound
from difflogic.proof.verdict import Verdict
from difflogic.system.array_types import Bits
from tests.difflogic.proof.convergence.brute import all_states, rounds, step_all, successors

LONGEST = 40
"""Rounds to look at."""


def distances(shape: tuple[int, int], side: int, row: int, column: int) -> np.ndarray:
    """Return each cell's distance from a square, cell by cell."""
    found = np.zeros(shape, int)
    square = list(product(range(row, row + side), range(column, column + side)))
    for y, x in product(*map(range, shape)):
        found[y, x] = min(max(abs(y - j), abs(x - i)) for j, i in square)
    return found


def places(shape: tuple[int, int], side: int) -> list[tuple[int, int, int]]:
    """Return where squares begin, and how far each is from the edges."""
    downs, acrosses = (range(max(1, length - side + 1)) for length in shape)
    return [
        (y, x, max(0, min(y, x, shape[0] - y - side, shape[1] - x - side)))
        for y, x in product(downs, acrosses)
    ]


def replay(question: Convergence, found: Confinement, start: Bits | None = None) -> None:
    """Check by the plainest interpreter that a witness refutes; `start` is the only one."""
    wound = found.wound
    run = found.witness
    boundary = "zero"
    assert found.verdict is Verdict.refuted
    state = run.start
    shown = list(question.visible_places)
    assert start is None or (state == start).all()
    for _ in range(run.settled):
        state = step_all(question.circuit, state[None], boundary)[0]
    calm = later = state
    for _ in range(LONGEST):
        later = step_all(question.circuit, later[None], boundary)[0]
        assert (later[shown] == calm[shown]).all()
    far = distances(state.shape[1:], wound.side, run.row, run.column)
    state = run.wounded
    assert ((state == calm) | (far == 0)).all()
    assert not (wound.zeros and state[:, far == 0].any())
    assert not question.synchronous or run.fired.all()
    for mask in run.fired:
        state = np.where(mask, step_all(question.circuit, state[None], boundary)[0], state)
    assert (state[shown] != calm[shown])[:, *run.cell].any()
    assert far[run.cell] > wound.reach


def settled(
    circuit: Circuit, size: tuple[int, int], start: int | None, boundary: Boundary, together: bool
) -> np.ndarray:
    """Return which states a start, or every start, is in after many rounds, whatever fires when."""
    count = 2 ** (circuit.channels * size[0] * size[1])
    starts = np.arange(count) == start if start is not None else np.ones(count, bool)
    if together:
        after = successors(circuit, *size, boundary)
        now = starts
        for _ in range(count):
            now = np.isin(np.arange(count), after[now])
        return now if start is None else _cycle(after, np.flatnonzero(now)[0])
    seen = rounds(circuit, *size, boundary, False, starts)
    return next(islice(seen, LONGEST, None))


def _cycle(after: np.ndarray, state: int) -> np.ndarray:
    found = np.zeros(len(after), bool)
    while not found[state]:
        found[state] = True
        state = after[state]
    return found


def harm(
    circuit: Circuit,
    shown: Sequence[int],
    target: Bits,
    wound: Wound,
    calm: np.ndarray,
    boundary: Boundary = "zero",
    together: bool = False,
) -> tuple[int, int]:
    """Return how far from any wound a cell is ever wrong, and after how many rounds none is.

    `calm` says which states are settled. LONGEST if some stay wrong.
    """
    size = target.shape[1:]
    states = all_states(circuit.channels, *size)
    wrong = (states[:, list(shown)] != target).any(axis=1)
    weights = 1 << np.arange(states[0].size)
    reach = last = 0
    for row, column, margin in places(size, wound.side):
        if margin < wound.margin:
            continue
        far = distances(size, wound.side, row, column)
        outside = (states * (far > 0)).reshape(len(states), -1).astype(np.int64) @ weights
        starts = np.isin(outside, outside[calm])
        if wound.zeros:
            starts &= outside == np.arange(len(states))
        seen = rounds(circuit, *size, boundary, together, starts)
        for number, met in enumerate(islice(seen, LONGEST)):
            reach = max(reach, int((wrong[met] * far).max(initial=0)))
            if not wrong[met].any():
                break
            last = max(last, number + 1)
    return reach, last
