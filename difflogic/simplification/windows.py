"""Large circuits, made smaller window by window.

A window is a set of gates that a few nodes decide, its leaves. Within it the search has exact
truth tables; what leaves can never be together is not used, so a result holds for every state.

Source: windowing around a node, as in Mishchenko and Brayton 2006, "Scalable logic synthesis
using a simple circuit structure".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from difflogic.simplification.annealing import anneal
from difflogic.simplification.kernels.structures import Net
from difflogic.simplification.kernels.windows import extract, find_window, put_back
from difflogic.simplification.nets import cleaned, gates, new_net
from difflogic.system.deadline import NEVER, Deadline

FEWEST_GATES = 2
"""Of a window that is worth a look."""
MOST_GATES = 160
"""The time of a move grows with the square of the gates."""
MOST_VISITS = 10**8
"""Nodes that all windows of a pass look at together: each looks at the whole net. Some ten
thousand gates get a window each, of a larger net only the last ones do."""


def rewrite(
    net: Net,
    leaves: int,
    moves_per_gate: int,
    seed: int,
    progress: Callable[[], object] = lambda: None,
    deadline: Deadline = NEVER,
) -> Net:
    """Return the net with the window around each gate made smaller, from the last to the first.

    Windows have at most `leaves` leaves. `progress` is called after each; those that are left
    when `deadline` passes stay as they are.
    """
    net = cleaned(net, room=MOST_GATES)
    root = int(net.size[0]) - 1
    seen: set[bytes] = set()
    last = root - MOST_VISITS // int(net.size[0])
    while root > max(net.inputs, last) and not deadline.passed:
        better = _rewrite_at(net, root, leaves, moves_per_gate, seed + root, seen)
        if better is not None:
            net = better
            seen.clear()
        root = min(root - 1, int(net.size[0]) - 1)
        progress()
    return net


def _rewrite_at(
    net: Net, root: int, limit: int, moves_per_gate: int, seed: int, seen: set[bytes]
) -> Net | None:
    nodes = int(net.size[0])
    marks = np.zeros((3, nodes), np.bool_)
    leaves = np.zeros(limit + 2 + nodes, np.int32)
    count = find_window(net, leaves, limit, root, *marks)
    members = int(marks[1].sum())
    name = leaves[:count].tobytes()
    if not FEWEST_GATES <= members <= MOST_GATES or name in seen:
        return None
    seen.add(name)
    part = new_net(count, members, members)
    outputs = extract(net, leaves, count, marks[1], np.zeros(nodes, np.int32), part)
    part = part._replace(outputs=part.outputs[:outputs])
    smaller = anneal(part, moves_per_gate * members, seed)
    if gates(smaller) >= members:
        return None
    put_back(net, leaves, count, smaller)
    return cleaned(net, room=MOST_GATES)
