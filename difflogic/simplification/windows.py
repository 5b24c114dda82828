"""Large circuits made smaller, window by window.

A window is a group of gates whose values depend only on a few nodes, its leaves. The search has
exact truth tables within a window. It does not use that some values of the leaves never occur
together, so a result holds for every state.

Source: windowing around a node, as in Mishchenko and Brayton 2006, "Scalable logic synthesis
using a simple circuit structure".
"""

from __future__ import annotations

import numpy as np

from difflogic.simplification.annealing import anneal
from difflogic.simplification.kernels.nets import Net
from difflogic.simplification.kernels.windows import find_window, put_back
from difflogic.simplification.nets import cleaned, gates, window
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.work import may_cancel

FEWEST_GATES = 2
"""Fewest gates of a window worth searching."""
MOST_WINDOW_GATES = 160
"""Most gates of a window: the time of a move grows with the square of the gates."""
MOST_VISITS = 10**8
"""Nodes that all windows of a pass look at together; each looks at the whole net. A net of about
ten thousand gates gets a window for each gate; in a larger net only the last gates get one."""


def rewrite(
    net: Net, leaves: int, moves_per_gate: int, seed: int, deadline: Deadline = NEVER
) -> Net:
    """Return the net with the window around each gate made smaller, from the last to the first.

    Windows have at most `leaves` leaves. When `deadline` passes, the remaining windows stay
    unchanged.
    """
    net = cleaned(net, room=MOST_WINDOW_GATES)
    root = int(net.size[0]) - 1
    seen: set[bytes] = set()
    last = root - MOST_VISITS // int(net.size[0])
    while root > max(net.inputs, last) and not deadline.passed:
        better = _rewrite_at(net, root, leaves, moves_per_gate, seed + root, seen)
        if better is not None:
            net = better
            seen.clear()
        root = min(root - 1, int(net.size[0]) - 1)
        may_cancel()
    return net


def _rewrite_at(
    net: Net, root: int, limit: int, moves_per_gate: int, seed: int, seen: set[bytes]
) -> Net | None:
    """Return the net with a smaller window around `root`, or None if none was found."""
    nodes = int(net.size[0])
    marks = np.zeros((3, nodes), np.bool_)
    leaves = np.zeros(limit + 2 + nodes, np.int32)
    count = find_window(net, leaves, limit, root, marks)
    members = int(marks[1].sum())
    name = leaves[:count].tobytes()
    if not FEWEST_GATES <= members <= MOST_WINDOW_GATES or name in seen:
        return None
    seen.add(name)
    part = window(net, leaves, count, marks[1])
    smaller = anneal(part, moves_per_gate * members, seed)
    if gates(smaller) >= members:
        return None
    put_back(net, leaves, count, smaller)
    return cleaned(net, room=MOST_WINDOW_GATES)
