"""Finds where an automaton settles on its own grid: in a fixed point, a cycle, or neither."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.firing import Firing
from difflogic.circuit.grid import OUTSIDE, neighbors
from difflogic.inspection.fixed_points import Period, inside, on_torus
from difflogic.system.deadline import Deadline
from difflogic.system.streams import Purpose, stream

STARTS = 64
"""Random starts that run side by side, one per bit of a word."""

LONGEST_CYCLE = 256
"""Longest cycle to look for, in steps."""

_MOST_WORDS, _CELLS = 2**23, 4096
"""Most words of all rows together (64 MiB), and most cells, to compute at once."""

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Settling:
    """The states after the steps of training."""

    starts: int
    steps: int
    fixed: int
    """Starts that reach a fixed point. It stays under any fire rate."""
    cycles: dict[int, int]
    """Other starts whose state repeats, counted by the period, 2 or more."""
    unsettled: int
    """Starts whose state does not repeat within `searched` steps."""
    searched: int
    """Steps in which to look for a repeat; 1 for asynchronous rules, which may only be fixed."""
    periods: dict[Period, int]
    """Starts by the spatial period of the visible channels, on this grid only."""


def settle(automaton: Automaton, seed: int, seconds: float) -> Settling | None:
    """Run an automaton from its starts, and examine the states that it reaches.

    Random starts and fire masks come from the streams of `seed`. Returns None if this takes longer
    than about `seconds`.
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
    """Return the starts (C, height, width), one per bit."""
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
    """Return the state (C, height, width) after every cell fires once."""
    circuit = automaton.circuit
    flat = state.reshape(circuit.channels, -1)
    places = neighbors(automaton.height, automaton.width, automaton.boundary)
    cells = max(1, min(_CELLS, _MOST_WORDS // circuit.rows))
    parts = []
    for first in range(0, flat.shape[1], cells):
        deadline.check()
        around = places[:, first : first + cells]
        seen = flat[:, around]
        seen[:, around == OUTSIDE] = 0
        parts.append(circuit.next_state(seen.transpose(1, 0, 2).reshape(circuit.inputs, -1)))
    return np.concatenate(parts, axis=1).reshape(state.shape)
