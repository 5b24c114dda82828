"""The search: annealing, whose moves may gain nothing."""

from __future__ import annotations

import numpy as np

from difflogic.simplification.kernels.substitution import draw
from difflogic.simplification.sharing.kernels.planes import clean, copy, is_right, simulate
from difflogic.simplification.sharing.kernels.structures import VIRTUAL
from difflogic.simplification.sharing.kernels.substitution import find_instances, substitute
from difflogic.system.jit import kernel


@kernel
def anneal(graph, best, spare, tried, work, moves, temperature, cooling):
    """Change `graph` at random; leave in `best` the smallest that was met.

    One that grows is kept with the probability of simulated annealing, at a temperature in gates
    that is multiplied by `cooling` before each move. The graph never outgrows the buffers.
    """
    room = graph.op.shape[0] - VIRTUAL
    simulate(graph, work.values)
    find_instances(graph, work)
    for _ in range(moves):
        temperature *= cooling
        gates = graph.size[0] - 1 - graph.inputs
        if gates == 0:
            return
        copy(graph, spare)
        if not substitute(spare, work, 1 + graph.inputs + draw(work.random, gates)):
            continue
        clean(spare, tried, work)
        if tried.size[0] > room:
            continue
        larger = tried.size[0] - graph.size[0]
        if larger > 0 and draw(work.random, 1 << 30) > (1 << 30) * np.exp(-larger / temperature):
            continue
        simulate(tried, work.values)
        if is_right(tried, work.values, work.wanted):
            copy(tried, graph)
            find_instances(graph, work)
            if graph.size[0] < best.size[0]:
                copy(graph, best)
        else:
            simulate(graph, work.values)
