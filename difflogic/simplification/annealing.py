"""Nets of few inputs made small: a sweep over the gates, then simulated annealing."""

from __future__ import annotations

from dataclasses import dataclass

from difflogic.simplification.kernels.annealing import anneal as anneal_some
from difflogic.simplification.kernels.annealing import sweep
from difflogic.simplification.kernels.nets import copy
from difflogic.simplification.kernels.structures import VIRTUAL, Net
from difflogic.simplification.nets import cleaned, new_net, new_work
from difflogic.system.deadline import NEVER, Deadline

CHUNK = 4000
"""Moves per call of the kernel, which Ctrl-C cannot stop: about a tenth of a second…"""
CHUNK_NODES = 176
"""…in nets of up to so many nodes, and fewer moves in larger ones."""


@dataclass(frozen=True)
class Annealing:
    """How long it lasts, its place in the streams of chance, and its temperatures."""

    moves: int
    seed: int = 0
    hot: float = 2.0
    cold: float = 0.3
    """Temperatures in gates. Of those tried on a trained Game of Life, 0.25 to 4 falling to 0.1
    to 1, these left about the fewest gates from most starts."""


def anneal(net: Net, schedule: Annealing, deadline: Deadline = NEVER) -> Net:
    """Return the smallest form of a net that a sweep over its gates, and annealing, find.

    The net has few inputs: its truth tables take 2^inputs bits per gate. Deterministic, unless
    `deadline` passes: then it is the smallest until then.
    """
    net = cleaned(net, room=2 * VIRTUAL)
    room = len(net.op)
    work = new_work(room, net.inputs, schedule.seed)
    best, spare, tried = (new_net(net.inputs, len(net.outputs), room) for _ in range(3))
    share = min(1.0, (CHUNK_NODES / room) ** 2)  # the time of a move grows with the square
    target = int(net.size[0]) - 1
    while target > net.inputs and not deadline.passed:
        target = sweep(net, spare, tried, work, target, int(CHUNK_NODES * share) or 1)
    copy(net, best)
    temperature, cooling = (
        schedule.hot,
        (schedule.cold / schedule.hot) ** (1 / max(schedule.moves, 1)),
    )
    chunk = int(CHUNK * share) or 1
    for first in range(0, schedule.moves, chunk):
        if deadline.passed:
            break
        moves = min(chunk, schedule.moves - first)
        anneal_some(net, best, spare, tried, work, moves, temperature, cooling)
        temperature *= cooling**moves
    return best
