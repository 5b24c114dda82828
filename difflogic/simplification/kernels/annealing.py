"""The search: sweeps over gates, and annealing, whose moves may gain nothing.

Source of the latter: Cartesian genetic programming (Miller 2011), with simulated annealing.
"""

from __future__ import annotations

import numpy as np

from difflogic.simplification.kernels.nets import clean, copy, find_depth, simulate
from difflogic.simplification.kernels.structures import VIRTUAL
from difflogic.simplification.kernels.substitution import draw, substitute
from difflogic.system.jit import kernel

TRIES = 8
"""Of a sweep at each gate, each with other virtual gates."""


@kernel
def sweep(net, spare, tried, work, target, gates):
    """Try `gates` gates, from `target` down to the inputs; keep what is no larger.

    Returns the gate to go on with; none is left at an input.
    """
    simulate(net, work.table)
    for _ in range(gates):
        if target <= net.inputs:
            break
        for _ in range(TRIES):
            if target >= net.size[0]:
                break
            copy(net, spare)
            if substitute(spare, work, target):
                clean(spare, tried, work)
                if tried.size[0] <= net.size[0]:
                    copy(tried, net)
                    simulate(net, work.table)
        target = min(target, net.size[0]) - 1
    return target


@kernel
def anneal(net, best, spare, tried, work, moves, temperature, cooling):
    """Change `net` at random; leave in `best` the smallest and then flattest that was met.

    A move gives a random gate other inputs. One that makes the net larger is kept with the
    probability of simulated annealing, at a temperature in gates that is multiplied by `cooling`
    before each move. The net never outgrows the buffers.
    """
    best_depth = find_depth(best, work.level)
    room = net.op.shape[0] - VIRTUAL
    simulate(net, work.table)
    for _ in range(moves):
        temperature *= cooling
        gates = net.size[0] - 1 - net.inputs
        if gates == 0:
            return
        copy(net, spare)
        if not substitute(spare, work, 1 + net.inputs + draw(work.random, gates)):
            continue
        clean(spare, tried, work)
        if tried.size[0] > room:
            continue
        larger = tried.size[0] - net.size[0]
        if larger > 0 and draw(work.random, 1 << 30) > (1 << 30) * np.exp(-larger / temperature):
            continue
        copy(tried, net)
        simulate(net, work.table)
        if net.size[0] > best.size[0]:
            continue
        depth = find_depth(net, work.level)
        if net.size[0] < best.size[0] or depth < best_depth:
            copy(net, best)
            best_depth = depth
