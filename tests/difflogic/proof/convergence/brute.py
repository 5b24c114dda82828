"""Tries all starts of small grids."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np
from hypothesis import strategies as st

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.grid import Boundary
from difflogic.proof.convergence.findings import Convergence
from difflogic.proof.convergence.orbits import LASTING
from difflogic.system.array_types import Bits
from tests.difflogic.circuit.circuits import circuits, naive
from tests.examples import any_boundary

GRIDS = ((2, 3), (1, 4), (3, 2), (3, 1), (2, 2))


def all_states(channels: int, height: int, width: int) -> Bits:
    """Return all states, shape (states, channels, height, width)."""
    bits = channels * height * width
    numbers = np.arange(2**bits)[:, None] >> np.arange(bits) & 1
    return numbers.reshape(-1, channels, height, width).astype(np.uint8)


def zeros(height: int, width: int) -> Bits:
    """Return a picture of zeros, (1, height, width)."""
    return np.zeros((1, height, width), np.uint8)


@lru_cache(maxsize=512)
def successors(circuit: Circuit, height: int, width: int, boundary: Boundary) -> np.ndarray:
    """Return the number of each state's successor when all cells fire."""
    states = all_states(circuit.channels, height, width)
    after = step_all(circuit, states, boundary).reshape(len(states), -1).astype(np.int64)
    return (after << np.arange(after.shape[1])).sum(axis=1)


def step_all(circuit: Circuit, states: Bits, boundary: Boundary) -> Bits:
    """Return the successors of states (states, channels, height, width), the plain way."""
    height, width = states.shape[2:]
    rows = np.arange(-1, height + 1) % height
    columns = np.arange(-1, width + 1) % width
    padded = states[:, :, rows[:, None], columns]
    if boundary == "zero":
        padded[:, :, [0, -1]] = padded[..., [0, -1]] = 0
    seen = np.stack(
        [
            padded[:, c, dy : dy + height, dx : dx + width]
            for dy in range(3)
            for dx in range(3)
            for c in range(circuit.channels)
        ]
    )
    after = naive(circuit, seen.reshape(circuit.inputs, -1).astype(bool))
    shape = (circuit.channels, len(states), height, width)
    return after.reshape(shape).swapaxes(0, 1).astype(np.uint8)


def settling(after: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return for each state the step from which its run stays right, or LASTING."""
    safe = right
    while (safe != (safe := right & safe[after])).any():
        pass
    steps = np.where(safe, 0, LASTING)
    while (late := (steps == LASTING) & (steps[after] != LASTING)).any():
        steps[late] = steps[after][late] + 1
    return steps


def settling_of(question: Convergence) -> np.ndarray:
    """Return the same for all states of a question's grid."""
    circuit = question.circuit
    grid = (question.height, question.width)
    states = all_states(circuit.channels, *grid)
    right = (states[:, list(question.visible_places)] == question.target).all(axis=(1, 2, 3))
    return settling(successors(circuit, *grid, question.boundary), right)


def right_from(question: Convergence) -> int | None:
    """Return the step from which every start stays right; None if there is none."""
    steps = settling_of(question)
    return None if LASTING in steps else int(steps.max())


def number(state: Bits) -> int:
    """Return a state's place in `all_states`."""
    return int((state.reshape(-1).astype(np.int64) << np.arange(state.size)).sum())


def rounds(
    circuit: Circuit,
    height: int,
    width: int,
    boundary: Boundary,
    together: bool = False,
    starts: np.ndarray | None = None,
) -> Iterator[np.ndarray]:
    """Yield which states can occur after 0, 1, … rounds or later, whichever cells fire when.

    `starts` says which states may be the first; by default, all.
    """
    cells = height * width
    after = successors(circuit, height, width, boundary)
    units, whole = (1, (1 << cells) - 1) if together else (cells, 1)
    spread = sum(whole << channel * cells for channel in range(circuit.channels))
    now = np.ones(len(after), bool) if starts is None else starts
    while True:
        # By the cells that have fired in this round.
        met = np.zeros((1 << units, len(after)), bool)
        met[0] = now
        new = met
        while new.any():
            fired, state = np.nonzero(new)
            found = np.zeros_like(met)
            for group in range(1, 1 << units):
                mask = group * spread
                found[fired | group, state & ~mask | after[state] & mask] = True
            new = found & ~met
            met |= new
        yield met.any(axis=0)
        now = met[-1]


def shows(
    made: Automaton, lines: Sequence[Sequence[int]], wanted: object, steps: Iterable[int]
) -> bool:
    """Return whether lines of numbers, from the right, show bits at all of these steps."""
    numbers = np.array(lines)[:, None, None, ::-1]
    (shown,) = made.visible_rows
    state = numbers >> np.array(made.circuit.labels)[:, None, None] & 1
    for step in range(max(steps) + 1):
        if step in steps and (state[:, shown, 0, ::-1] != wanted).any():
            return False
        state = step_all(made.circuit, state, made.boundary)
    return True


@st.composite
def questions(draw: st.DrawFn, grids: Sequence[tuple[int, int]] = GRIDS) -> Convergence:
    """Draw a circuit, a grid, and a target that the circuit may reach."""
    height, width = draw(st.sampled_from(grids))
    boundary: Boundary = draw(any_boundary)
    circuit = draw(circuits(2, 1, 8))
    visible = draw(st.sampled_from([(0,), (1,), (0, 1)]))
    state = np.zeros((1, 2, height, width), np.uint8)
    for _ in range(draw(st.integers(60, 61))):
        after = step_all(circuit, state, boundary)
        if (after == state).all():
            break
        state = after
    return Convergence(circuit, visible, height, width, boundary, state[0, list(visible)])
