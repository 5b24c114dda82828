"""Running a circuit on grids of any size until it settles, and the examples that it gets right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.live_part import live_part
from difflogic.circuit.specification import Cases
from difflogic.examples.encoding import Encoding, apply_rule
from difflogic.examples.pairs import SymbolGrid
from difflogic.proof.convergence.planes import Board, Network, Planes, pack
from difflogic.system.array_types import Bits
from difflogic.system.work import ignore

if TYPE_CHECKING:
    from difflogic.tasks.base import Task

MOST_TIMES = 8
"""Multiple of a training run's steps, scaled to the grid's size, after which the rest is cut, but
for the steps in which a front crosses the grid."""
SLOWEST = 2
"""Steps in which a front moves on by one cell, at most."""


@dataclass(frozen=True)
class Settled:
    """The visible channels of the last states of some runs."""

    shown: Bits
    """Shape (runs, visible channels, height, width)."""
    rests: bool
    """Whether the last state is a fixed point: no further step changes it."""


def settle(
    automaton: Automaton, starts: Bits, watch: Callable[[Board, Planes], object] = ignore
) -> Settled:
    """Run starts (runs, channels of training, height, width) for as long as training did, and on.

    Steps grow with the grid's longer side. The run ends at a fixed point, or after MOST_TIMES
    times as many steps and SLOWEST more for each cell of that side. All cells fire in each step.
    `watch` gets each state, the start first.
    """
    runs, _, height, width = starts.shape
    live, network = _live(automaton)
    board = Board(height, width, automaton.boundary, runs)
    state = pack(board, starts[:, list(live.circuit.labels)].swapaxes(0, 1))
    share = max(1.0, max(height, width) / max(automaton.height, automaton.width))
    least = round(automaton.steps * share)
    rests = False
    for _ in range(MOST_TIMES * least + SLOWEST * max(height, width)):
        watch(board, state)
        before, state = state, network.step(board, state)
        rests = before == state
        if rests:
            break
    planes = [board.unpack(state[row]).reshape(runs, height, width) for row in live.visible_rows]
    return Settled(np.stack(planes, axis=1), rests)


@lru_cache(maxsize=8)
def _live(automaton: Automaton) -> tuple[Automaton, Network]:
    """Return what matters of an automaton, ready to run: the same rule is settled on many grids."""
    live = live_part(automaton)
    return live, Network(live.circuit)


def right_pairs(automaton: Automaton, task: Task) -> dict[str, tuple[int, int]] | None:
    """Return how many examples a circuit gets right, and of how many, by their part.

    None if the task does not learn from examples.
    """
    found = outcomes(automaton, task)
    return {part: (sum(right), len(right)) for part, right in found.items()} or None


def answers(
    automaton: Automaton, encoding: Encoding, grids: Sequence[SymbolGrid]
) -> list[SymbolGrid]:
    """Return what becomes of grids of symbols once a circuit with this encoding has settled."""
    bits = len(encoding.features) + len(encoding.outputs)
    channels = max(bits, 1 + max(automaton.circuit.labels))
    return apply_rule(encoding, channels, grids, lambda starts: settle(automaton, starts).shown)


def outcomes(automaton: Automaton, task: Task) -> dict[str, list[bool]]:
    """Return which of a task's examples a circuit gets right, by their part."""
    found: dict[str, list[bool]] = {}
    for part, pairs in task.examples.items():
        assert task.encoding is not None, "a task with examples has an encoding"
        befores = [pair.before for pair in pairs]
        grids = answers(automaton, task.encoding, befores)
        found[part] = [np.array_equal(a, b.after) for a, b in zip(grids, pairs, strict=True)]
    return found


def lasts(automaton: Automaton, task: Task, cases: Cases) -> bool:
    """Whether all cases are right once they have settled; examples, on grids of their own sizes."""
    right = right_pairs(automaton, task)
    if right is not None:
        found, total = right["training"]
        return found == total
    shown = settle(automaton, cases.starts).shown
    return bool(((shown == cases.targets) | np.isnan(cases.targets)).all())
