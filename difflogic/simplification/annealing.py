"""Nets of few inputs made small: a sweep over the gates, then simulated annealing."""

from __future__ import annotations

from difflogic.simplification.kernels.annealing import anneal as anneal_some
from difflogic.simplification.kernels.annealing import sweep
from difflogic.simplification.kernels.nets import copy
from difflogic.simplification.kernels.structures import VIRTUAL, Net
from difflogic.simplification.nets import cleaned, new_net, new_work
from difflogic.system.deadline import NEVER, Deadline

CHUNK = 4000
"""Moves per call of the kernel, which Ctrl-C cannot stop: about a tenth of a second…"""
CHUNK_NODES = 176
"""…in nets of up to this many nodes, and fewer moves in larger ones."""


HOT, COLD = 2.0, 0.3
"""First and last temperature, in gates. Of those tried on a trained Game of Life, 0.25 to 4 falling
to 0.1 to 1, these left about the fewest gates from most starts."""


def anneal(net: Net, moves: int, seed: int, deadline: Deadline = NEVER) -> Net:
    """Return the smallest form of a net that a sweep over its gates, and annealing, find.

    The net has few inputs: its truth tables take 2^inputs bits per gate. Deterministic, unless
    `deadline` passes: then it is the smallest until then.
    """
    net = cleaned(net, room=2 * VIRTUAL)
    room = len(net.op)
    work = new_work(room, net.inputs, seed)
    best, spare, tried = (new_net(net.inputs, len(net.outputs), room) for _ in range(3))
    share = min(1.0, (CHUNK_NODES / room) ** 2)  # the time of a move grows with the square
    target = int(net.size[0]) - 1
    while target > net.inputs and not deadline.passed:
        target = sweep(net, spare, tried, work, target, int(CHUNK_NODES * share) or 1)
    copy(net, best)
    temperature, cooling = HOT, (COLD / HOT) ** (1 / max(moves, 1))
    chunk = int(CHUNK * share) or 1
    for first in range(0, moves, chunk):
        if deadline.passed:
            break
        some = min(chunk, moves - first)
        anneal_some(net, best, spare, tried, work, some, temperature, cooling)
        temperature *= cooling**some
    return best
