"""Small circuits as one window: annealed as they are, and from others, built from tables.

The more promising half of the starts goes on for twice as long, until one is left.

Source: multi-start local search with successive halving (Jamieson and Talwalkar 2016).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from difflogic.simplification.annealing import anneal
from difflogic.simplification.effort import Effort
from difflogic.simplification.kernels.nets import simulate
from difflogic.simplification.kernels.structures import Net
from difflogic.simplification.kernels.windows import extract, put_back
from difflogic.simplification.nets import cleaned, from_xag, gates, new_net, new_work
from difflogic.simplification.resynthesis import starts
from difflogic.system.deadline import NEVER, Deadline

MOVES_PER_GATE = 2000
"""Tiny circuits need no more moves than these."""

MOST_GATES = 500
"""Of a circuit that is one window: a sweep over more takes seconds, and is not interrupted."""


def read_inputs(net: Net) -> np.ndarray:
    """Return the input nodes that some gate or output reads, ascending."""
    read = np.zeros(int(net.size[0]), np.bool_)
    first = 1 + net.inputs
    read[net.a[first : net.size[0]]] = True
    read[net.b[first : net.size[0]]] = True
    read[net.outputs >> 1] = True
    return np.flatnonzero(read[1:first]) + 1


def search(
    net: Net,
    effort: Effort,
    progress: Callable[[], object] = lambda: None,
    deadline: Deadline = NEVER,
) -> Net:
    """Return the smallest net that was found; `net` itself if it is too large to be one window."""
    inputs = read_inputs(net)
    if not 0 < len(inputs) <= effort.whole_inputs or not 0 < gates(net) <= MOST_GATES:
        return net
    part, leaves = _without_other_inputs(net, inputs)
    moves = min(effort.whole_moves, MOVES_PER_GATE * gates(part))
    built = (from_xag(*start) for start in starts(tables(part), part.inputs))
    found = [part, *(start for start in built if gates(start) <= MOST_GATES)]
    while True:
        for place, start in enumerate(found):
            found[place] = anneal(start, moves, place, deadline)
            progress()
        found.sort(key=gates)
        if len(found) == 1:
            break
        found, moves = found[: len(found) // 2], 2 * moves
    best = found[0]
    for seed in range(effort.last_runs):
        best = min(best, anneal(found[0], moves, 1 + seed, deadline), key=gates)
        progress()
    if gates(best) >= gates(net):
        return net
    net = cleaned(net, room=gates(best))
    put_back(net, leaves, len(inputs), best)
    return cleaned(net)


def _without_other_inputs(net: Net, inputs: np.ndarray) -> tuple[Net, np.ndarray]:
    """Return the net over the inputs that it reads; its outputs are gates. And its leaves."""
    nodes = int(net.size[0])
    member = np.zeros(nodes, np.bool_)
    member[1 + net.inputs :] = True
    leaves = np.zeros(nodes + len(inputs), np.int32)
    leaves[: len(inputs)] = inputs
    part = new_net(len(inputs), gates(net), gates(net))
    outputs = extract(net, leaves, len(inputs), member, np.zeros(nodes, np.int32), part)
    return part._replace(outputs=part.outputs[:outputs]), leaves


def tables(net: Net) -> list[int]:
    """Return the outputs' truth tables as integers; case i is bit i."""
    work = new_work(len(net.op), net.inputs)
    simulate(net, work.table)
    every = (1 << (1 << net.inputs)) - 1
    found = []
    for output in net.outputs.tolist():
        table = int.from_bytes(work.table[output >> 1].tobytes(), "little") & every
        found.append(table ^ every if output & 1 else table)
    return found
