"""Proves that a picture with places grows, and comes back after any of its cells are erased.

Take a cell's channels that others read. Some are constant; the others fall into groups that do not
read each other, such as flag and bits of the row. A group is *settled* if it has its final values,
and *blank* if all are 0. Erased cells have zeros everywhere.

Each cell is tried with each of the 2⁹ ways to erase some of its nine neighbours, itself included:
a step later its groups must be settled or blank, and blank if all nine were erased. Then, for each
group, all 2⁹ ways in which the nine can have it blank are tried: the cell's group must be settled
or blank a step later, and if it is blank, it must stay so when more neighbours are blank. So from
the second step on, more settled groups lead to more settled groups. Growth from zeros starts with
the fewest, none, so a picture with erased cells is never behind it, and is whole when that has
grown.
"""

from __future__ import annotations

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.grid import CENTER, NEIGHBORHOOD, OUTSIDE, neighbors
from difflogic.circuit.live_part import folded_part
from difflogic.proof.convergence.findings import Convergence
from difflogic.proof.convergence.methods import STEPS_PER_SIDE, is_right_after, read_channels
from difflogic.proof.convergence.planes import Network, Planes, unpack
from difflogic.system.array_types import Bits

WAYS = (np.arange(2**NEIGHBORHOOD) >> np.arange(NEIGHBORHOOD)[:, None] & 1).astype(np.uint8)
"""Which neighbours are erased, shape (neighbours, ways)."""


def right_from_erased(question: Convergence) -> int | None:
    """Return a step from which zeros, and the final state with any cells erased, show the target.

    None if that is not proved.
    """
    read = read_channels(question)
    if not read or not question.synchronous:
        return None
    part = folded_part(question.circuit, read)
    board = question.board
    network = Network(part)
    steps = 0
    state: Planes = (0,) * len(read)
    while (after := network.step(board, state)) != state:
        state, steps = after, steps + 1
        if steps > STEPS_PER_SIDE * (question.height + question.width):
            return None
    table = neighbors(question.height, question.width, question.boundary)
    rest = unpack(board, state).reshape(len(read), -1)
    seen = np.where(table == OUTSIDE, 0, rest[:, table]).astype(np.uint8)
    constant, groups = _groups(part)
    grows = all(_grows_back(part, seen, constant, group) for group in groups)
    return steps + 1 if grows and is_right_after(question, read, state) else None


def _groups(circuit: Circuit) -> tuple[set[int], list[set[int]]]:
    """Return the constant channels, and the others in groups that do not read each other."""
    reads = [
        {row % circuit.channels for row in circuit.cone(output) if row < circuit.inputs}
        for output in circuit.outputs.tolist()
    ]
    constant = {channel for channel, found in enumerate(reads) if not found}
    groups: list[set[int]] = []
    for channel in set(range(circuit.channels)) - constant:
        own = {channel} | reads[channel] - constant
        apart = [group for group in groups if not group & own]
        groups = [*apart, own.union(*(group for group in groups if group & own))]
    return constant, groups


def _grows_back(circuit: Circuit, seen: Bits, constant: set[int], group: set[int]) -> bool:
    """Return whether a group stays settled or blank, and more of it leads to more of it.

    `seen` are the final values around each cell, shape (channels, neighbours, cells).
    """
    own = sorted(constant | group)
    part = folded_part(circuit, own)
    in_group = np.array([channel in group for channel in own])
    flat = np.unique(seen[own].reshape(len(own) * NEIGHBORHOOD, -1), axis=1)
    around = flat.reshape(len(own), NEIGHBORHOOD, -1, 1).swapaxes(0, 1)
    for blanked in (np.ones_like(in_group), in_group):
        hidden = blanked[:, None, None] & WAYS[:, None, None]
        state = (around & 1 - hidden).astype(np.bool_)
        after = part.next_state(state.reshape(part.inputs, -1)).reshape(state.shape[1:])
        same = after == around[CENTER]
        settled = same[in_group].all(axis=0)
        is_kept = settled | ~after[in_group].any(axis=0)
        if not same[~in_group].all() or not is_kept.all():
            return False
        ways = settled.reshape(-1, *[2] * NEIGHBORHOOD)
        axes = range(1, ways.ndim)
        ahead = (ways.take(1, axis) & ~ways.take(0, axis) for axis in axes)
        if settled[:, -1].any() if blanked.all() else any(map(np.any, ahead)):
            return False
    return True
