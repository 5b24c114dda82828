"""Nets of few inputs made smaller: a sweep over the gates, then simulated annealing.

A small circuit is annealed whole, from several starts: the circuit itself, and circuits built from
its truth tables. The better half of the starts goes on for twice as long, until one is left.

Source: multi-start local search with successive halving (Jamieson and Talwalkar 2016).
"""

from __future__ import annotations

import numpy as np

from difflogic.simplification.kernels import annealing as kernels
from difflogic.simplification.kernels.nets import VIRTUAL, Net, copy, simulate
from difflogic.simplification.kernels.windows import put_back
from difflogic.simplification.nets import cleaned, from_xag, gates, new_net, new_work, window
from difflogic.simplification.resynthesis import starts
from difflogic.system.array_types import Int32s
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.elementary import exponential, logarithm, power
from difflogic.system.work import may_cancel

CHUNK = 4000
"""Moves per call of the kernel, which Ctrl-C cannot interrupt: about a tenth of a second for nets
of up to CHUNK_NODES nodes. Larger nets get fewer moves."""
CHUNK_NODES = 176

HOT = 2.0
COLD = 0.3
"""First and last temperature, in gates. Tried on a trained Game of Life with 0.25 to 4 falling to
0.1 to 1: these left about the fewest gates from most starts."""

MOVES_PER_GATE = 2000
"""Most moves of a tiny circuit, per gate."""

MOST_ANNEALED_GATES = 500
"""Most gates of a circuit that is annealed whole: a sweep over more takes seconds, and cannot be
interrupted."""


def anneal(net: Net, moves: int, seed: int, deadline: Deadline = NEVER) -> Net:
    """Return the smallest equivalent net found by a sweep over the gates and `moves` of annealing.

    The net has few inputs: its truth tables take 2^inputs bits per gate. The result depends only
    on the arguments, unless `deadline` passes: then it is the smallest net found until then.
    """
    net = cleaned(net, room=2 * VIRTUAL)
    room = len(net.op)
    work = new_work(room, net.inputs, seed)
    best, spare, tried = (new_net(net.inputs, len(net.outputs), room) for _ in range(3))
    share = min(1.0, (CHUNK_NODES / room) ** 2)  # the time of a move grows with the square
    target = int(net.size[0]) - 1
    while target > net.inputs and not deadline.passed:
        target = kernels.sweep(net, spare, tried, work, target, int(CHUNK_NODES * share) or 1)
    copy(net, best)
    temperature = HOT
    cooling = float(exponential(logarithm(COLD / HOT) / max(moves, 1)))
    chunk = int(CHUNK * share) or 1
    for first in range(0, moves, chunk):
        if deadline.passed:
            break
        count = min(chunk, moves - first)
        kernels.anneal(net, best, spare, tried, work, (count, temperature, cooling))
        temperature *= power(cooling, count)
    return best


def search(
    net: Net, most_inputs: int, most_moves: int, last_runs: int, deadline: Deadline = NEVER
) -> Net:
    """Anneal a whole circuit; return the smallest net found, or `net` itself if it is too large.

    Each start is annealed with at most `most_moves` moves, which double with each halving. The best
    circuit is then annealed `last_runs` more times.
    """
    inputs = _read_inputs(net)
    if not 0 < len(inputs) <= most_inputs or not 0 < gates(net) <= MOST_ANNEALED_GATES:
        return net
    part, leaves = _without_other_inputs(net, inputs)
    moves = min(most_moves, MOVES_PER_GATE * gates(part))
    built = (from_xag(*start) for start in starts(_tables(part), part.inputs))
    found = [part, *(start for start in built if gates(start) <= MOST_ANNEALED_GATES)]
    while True:
        for place, start in enumerate(found):
            found[place] = anneal(start, moves, place, deadline)
            may_cancel()
        found.sort(key=gates)
        if len(found) == 1:
            break
        found, moves = found[: len(found) // 2], 2 * moves
    best = found[0]
    for seed in range(last_runs):
        best = min(best, anneal(found[0], moves, 1 + seed, deadline), key=gates)
        may_cancel()
    if gates(best) >= gates(net):
        return net
    net = cleaned(net, room=gates(best))
    put_back(net, leaves, len(inputs), best)
    return cleaned(net)


def _read_inputs(net: Net) -> Int32s:
    """Return the input nodes that a gate or an output reads, ascending."""
    own = slice(1 + net.inputs, net.size[0])
    read = np.unique(np.concatenate([net.a[own], net.b[own], net.outputs >> 1]))
    return read[(read > 0) & (read <= net.inputs)]


def _without_other_inputs(net: Net, inputs: Int32s) -> tuple[Net, Int32s]:
    """Return the net over the inputs that it reads, with gates as outputs; and its leaves."""
    nodes = int(net.size[0])
    member = np.zeros(nodes, np.bool_)
    member[1 + net.inputs :] = True
    leaves = np.zeros(nodes + len(inputs), np.int32)
    leaves[: len(inputs)] = inputs
    return window(net, leaves, len(inputs), member), leaves


def _tables(net: Net) -> list[int]:
    """Return the outputs' truth tables as integers; case i is bit i."""
    work = new_work(len(net.op), net.inputs)
    simulate(net, work.table)
    every = (1 << (1 << net.inputs)) - 1
    found = []
    for output in net.outputs.tolist():
        table = int.from_bytes(work.table[output >> 1].tobytes(), "little") & every
        found.append(table ^ every if output & 1 else table)
    return found
