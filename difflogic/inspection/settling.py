"""Where an automaton gets to from its start on its own grid: a fixed point, a cycle, neither."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.firing import Firing
from difflogic.circuit.grid import OUTSIDE, neighbors
from difflogic.inspection.periods import Period, inside, on_torus
from difflogic.model.automaton import Automaton
from difflogic.system.deadline import Deadline
from difflogic.system.streams import Purpose, stream

STARTS = 64
"""Random starts that run side by side, one in each bit of a word."""

LONGEST_CYCLE = 256
"""Steps after the last in which a state is looked for again."""

_MOST_WORDS = 2**23  # of all rows of the cells whose circuits are computed at once: 64 MiB
_CELLS = 4096  # at most

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Settling:
    """What the states after the steps of training are, of all starts."""

    starts: int
    steps: int
    fixed: int
    """Starts whose state then is a fixed point; under any fire rate, it stays."""
    cycles: dict[int, int]
    """How many of the others come back to that state, by the steps that this takes, 2 or more."""
    unsettled: int
    """How many do not within `searched` steps."""
    searched: int
    """Steps in which a state was looked for again; one if asynchronous, for fixed points alone."""
    periods: dict[Period, int]
    """Starts by the period of what the visible channels show then, on this grid alone."""


def settle(automaton: Automaton, seed: int, seconds: float) -> Settling | None:
    """Run an automaton from its starts, and look at the states that it reaches.

    Random starts and fire masks are drawn from the streams of `seed`. Returns None if that takes
    longer than about `seconds`.
    """
    try:
        return _settle(automaton, seed, Deadline.after(seconds))
    except TimeoutError:
        return None


def _settle(automaton: Automaton, seed: int, deadline: Deadline) -> Settling:
    starts = 1 if automaton.start != "random" and automaton.fire_rate == 1 else STARTS
    lanes = np.uint64(2**starts - 1)
    reached = _run(automaton, _starts(automaton, seed), seed, deadline)
    cycles: Counter[int] = Counter()
    state, open_lanes = reached, lanes
    searched = LONGEST_CYCLE if automaton.fire_rate == 1 else 1
    for length in range(1, searched + 1):
        state = _step(automaton, state, deadline)
        differs = np.bitwise_or.reduce((state ^ reached).ravel())
        back = open_lanes & ~differs
        cycles[length] = int(back).bit_count()
        open_lanes &= differs
        if not open_lanes:
            break
    fixed = cycles.pop(1)
    shown = reached[list(automaton.visible_rows)]
    look = on_torus if automaton.boundary == "periodic" else inside
    periods = Counter(
        look((shown >> np.uint64(lane) & np.uint64(1)).astype(np.uint8)) for lane in range(starts)
    )
    return Settling(
        starts,
        automaton.steps,
        fixed,
        {k: n for k, n in cycles.items() if n},
        int(open_lanes).bit_count(),
        searched,
        dict(sorted(periods.items(), key=lambda item: -item[1])),
    )


def _starts(automaton: Automaton, seed: int) -> Words:
    """Return the states (C, height, width) that the starts begin with."""
    shape = (automaton.circuit.channels, automaton.height, automaton.width)
    if automaton.start == "random":
        rng = stream(seed, Purpose.EVALUATION_START)
        return rng.integers(0, 2**64, shape, dtype=np.uint64)
    state = np.zeros(shape, np.uint64)
    if automaton.start == "center":
        state[:, automaton.height // 2, automaton.width // 2] = ~np.uint64(0)
    return state


def _run(automaton: Automaton, state: Words, seed: int, deadline: Deadline) -> Words:
    shape = (automaton.height, automaton.width, 64)
    firing = Firing(automaton.fire_rate, shape, [stream(seed, Purpose.EVALUATION_MASK)])
    for _ in range(automaton.steps):
        after = _step(automaton, state, deadline)
        fires = firing.draw(1)
        if fires is not None:
            mask = np.packbits(fires[0, 0], axis=-1, bitorder="little").view(np.uint64)[..., 0]
            after = (after & mask) | (state & ~mask)
        state = after
    return state


def _step(automaton: Automaton, state: Words, deadline: Deadline) -> Words:
    """Return the state (C, height, width) after a step in which every cell fires."""
    circuit = automaton.circuit
    flat = state.reshape(circuit.channels, -1)
    places = neighbors(automaton.height, automaton.width, automaton.boundary)
    cells = max(1, min(_CELLS, _MOST_WORDS // circuit.rows))
    parts = []
    for first in range(0, flat.shape[1], cells):
        deadline.check()
        parts.append(_next_state(circuit, flat, places[:, first : first + cells]))
    return np.concatenate(parts, axis=1).reshape(state.shape)


def _next_state(circuit: Circuit, flat: Words, places: npt.NDArray[np.int64]) -> Words:
    seen = flat[:, places]
    seen[:, places == OUTSIDE] = 0
    return circuit.next_state(seen.transpose(1, 0, 2).reshape(circuit.inputs, -1))
