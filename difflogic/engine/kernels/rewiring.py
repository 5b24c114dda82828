"""Rewiring: changes of one gate, of its op or of what it reads, that keep a circuit within limits.

A *case* is a neighbourhood in which each bit is a set, {0}, {1} or {0, 1}. A row has two planes of
cases: where it may be 1, and where it may be 0. The limits say in which cases an output may not be
1, or 0. A change is tried on few cases first, and only where values differ from the circuit's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.engine.kernels.hard import reads
from difflogic.engine.kernels.llvm.words import GateOnSets, sets_gate
from difflogic.engine.kernels.structures import WORDS
from difflogic.system.jit import borrowing_kernel, by_reference, part

FIRST = WORDS
MORE = 8
"""Words of cases to try a change on first, since most changes fail there, and how many times as
many each further try takes."""

TIDY = 256
"""Changes tried before dead gates are dropped, and the order is drawn again."""

DRAWS = 5
"""Random numbers for each change."""

ZEROS = np.uint64(0)


@by_reference
class RewiredNet(NamedTuple):
    """A circuit whose gates may read all rows before their own, the inputs first.

    The number of words is a multiple of WORDS.
    """

    gates: np.ndarray  # int64 (1,): number of gates in use
    op: np.ndarray  # int64 (gates,)
    a: np.ndarray  # uint32 (gates,): rows; indices without a sign may not count from the end
    b: np.ndarray  # uint32 (gates,)
    outputs: np.ndarray  # int64 (channels,): rows
    planes: np.ndarray  # uint64 (2, rows, 2, words): the circuit's values, and a candidate's
    refused: np.ndarray  # uint64 (channels, 2, words): where outputs may not be 1, and not 0
    differs: np.ndarray  # int64 (rows,): 1 if the candidate's values are others
    live: np.ndarray  # bool (rows,)
    links: np.ndarray  # int64 (rows,): scratch
    readers: np.ndarray  # int64 (3, gates): lists of what reads a gate: first ones, next ones
    waits: np.ndarray  # int64 (gates,): scratch
    ready: np.ndarray  # int64 (gates,): scratch
    moved: np.ndarray  # int64 (3, gates): scratch


@part
def with_inverted(op, first, second):
    """Return the op that computes the same where some inputs are inverted."""
    if first:
        op = (op & 3) << 2 | op >> 2
    if second:
        op = (op & 5) << 1 | op >> 1 & 5
    return op


@part
def evaluate(net, gate, side, end):
    """Write a gate's values in the first words to a side of the planes.

    Returns whether they differ from the circuit's, as a number.
    """
    rows = net.planes.shape[1]
    words = net.planes.shape[3]
    row = rows - len(net.op) + gate
    a = net.a[gate]
    b = net.b[gate]
    a += net.differs[a] * rows
    b += net.differs[b] * rows
    size = 2 * words
    to = side * rows + row
    here = GateOnSets(a * size, b * size, row * size, to * size, net.op[gate], words, end)
    return min(1, sets_gate((net.planes,), here))


@part
def count_live(net):
    """Mark the rows that outputs depend on; return how many are gates with two inputs."""
    live = net.live
    inputs = len(net.live) - len(net.op)
    found = 0
    live[:] = False
    for c in range(len(net.outputs)):
        live[net.outputs[c]] = True
    for gate in range(net.gates[0] - 1, -1, -1):
        if live[inputs + gate]:
            first = reads(net.op[gate], False)
            second = reads(net.op[gate], True)
            live[net.a[gate]] |= first
            live[net.b[gate]] |= second
            found += first and second
    return found


@part
def follow(net, gate, end):
    """Evaluate a changed gate and what depends on it in the first words.

    Returns whether the outputs are within the limits.
    """
    inputs = len(net.live) - len(net.op)
    net.differs[inputs + gate] = evaluate(net, gate, 1, end)
    for other in range(gate + 1, net.gates[0]):
        if net.differs[net.a[other]] | net.differs[net.b[other]]:
            net.differs[inputs + other] = evaluate(net, other, 1, end)
    for c in range(len(net.outputs)):
        row = net.outputs[c]
        wrong = ZEROS
        if net.differs[row]:
            for w in range(end):
                wrong |= net.refused[c, 0, w] & net.planes[1, row, 0, w]
                wrong |= net.refused[c, 1, w] & net.planes[1, row, 1, w]
        if wrong != ZEROS:
            return False
    return True


@part
def tidy(net, draws, at):
    """Fold gates that pass an input on into their readers, drop dead ones, and draw an order."""
    inputs = len(net.live) - len(net.op)
    gates = net.gates[0]
    links = net.links
    for row in range(inputs + gates):
        links[row] = 2 * row
    for gate in range(gates):
        first = links[net.a[gate]]
        second = links[net.b[gate]]
        op = with_inverted(net.op[gate], first & 1, second & 1)
        net.op[gate] = op
        net.a[gate] = first >> 1
        net.b[gate] = second >> 1
        if reads(op, False) != reads(op, True):
            links[inputs + gate] = (first if reads(op, False) else second) & ~1 | op >> 3
    for c in range(len(net.outputs)):
        if not links[net.outputs[c]] & 1:
            net.outputs[c] = links[net.outputs[c]] >> 1
    count_live(net)
    waiting = 0
    kept = 0
    first = net.readers[0]
    following = net.readers[1:]
    net.waits[:] = 0
    first[:] = -1
    for gate in range(gates - 1, -1, -1):
        for side in range(2):
            row = (net.b if side else net.a)[gate]
            is_read = reads(net.op[gate], side == 1)
            if net.live[inputs + gate] and is_read and row >= inputs:
                net.waits[gate] += 1
                following[side, gate] = first[row - inputs]
                first[row - inputs] = 2 * gate + side
    for gate in range(gates):
        if net.live[inputs + gate] and net.waits[gate] == 0:
            net.ready[waiting] = gate
            waiting += 1
    while waiting:
        place = draws[(at + kept) % len(draws), DRAWS - 1] % waiting
        gate = net.ready[place]
        row, waiting = inputs + gate, waiting - 1
        net.ready[place] = net.ready[waiting]
        links[row] = inputs + kept
        op = net.op[gate]
        a = net.a[gate]
        b = net.b[gate]
        net.moved[0, kept] = op
        net.moved[1, kept] = links[a] if reads(op, False) and a >= inputs else a % inputs
        net.moved[2, kept] = links[b] if reads(op, True) and b >= inputs else b % inputs
        for side in range(2):
            for w in range(net.planes.shape[3]):
                net.planes[1, inputs + kept, side, w] = net.planes[0, row, side, w]
        kept += 1
        reader = first[gate]
        while reader >= 0:
            other = reader >> 1
            net.waits[other] -= 1
            if net.waits[other] == 0:
                net.ready[waiting] = other
                waiting += 1
            reader = following[reader & 1, other]
    for c in range(len(net.outputs)):
        if net.outputs[c] >= inputs:
            net.outputs[c] = links[net.outputs[c]]
    net.gates[0] = kept
    for gate in range(kept):
        net.op[gate], net.a[gate] = net.moved[0, gate], net.moved[1, gate]
        net.b[gate] = net.moved[2, gate]
        take(net, inputs + gate)


@part
def take(net, row):
    """Make a candidate's values of a row the circuit's."""
    for side in range(2):
        for w in range(net.planes.shape[3]):
            net.planes[0, row, side, w] = net.planes[1, row, side, w]


@part
def propose(net, gate, draws):
    """Change a gate: it passes any earlier row on, or reads another one, or has another op."""
    row = len(net.live) - len(net.op) + gate
    kind = draws[1] % 20
    other = draws[2] % row
    bits = draws[3]
    if kind < 5:
        net.op[gate] = 12 if bits & 1 else 3
        net.a[gate] = other
    elif kind < 7:
        net.op[gate] = bits % 16
    elif kind < 13:
        net.op[gate], net.a[gate] = with_inverted(net.op[gate], bits & 1, 0), other
    elif kind < 19:
        net.op[gate], net.b[gate] = with_inverted(net.op[gate], 0, bits & 1), other
    else:
        net.op[gate] = bits % 16
        net.a[gate] = other
        net.b[gate] = draws[4] % row


@borrowing_kernel
def load(net):
    """Evaluate all gates, and lift the limits that the circuit does not keep."""
    words = net.planes.shape[3]
    net.differs[:] = 0
    for gate in range(net.gates[0]):
        evaluate(net, gate, 0, words)
    for c in range(len(net.outputs)):
        for w in range(words):
            row = net.outputs[c]
            wrong = net.refused[c, 0, w] & net.planes[0, row, 0, w]
            wrong |= net.refused[c, 1, w] & net.planes[0, row, 1, w]
            net.refused[c, 0, w] &= ~wrong
            net.refused[c, 1, w] &= ~wrong


@borrowing_kernel
def rewire(net, draws):
    """Try a change for each row of `draws`, (changes, DRAWS); keep those that add no gate.

    Ends tidied.
    """
    inputs = len(net.live) - len(net.op)
    words = net.planes.shape[3]
    gate = 0
    most = count_live(net)
    for at in range(len(draws)):
        if at % TIDY == 0:
            tidy(net, draws, at)
        if net.gates[0] == 0:
            return
        gate = draws[at, 0] % net.gates[0]
        op = net.op[gate]
        a = net.a[gate]
        b = net.b[gate]
        propose(net, gate, draws[at])
        kept = True
        end = FIRST
        while kept and end < MORE * words:
            kept = follow(net, gate, min(end, words))
            end *= MORE
        count = count_live(net) if kept else most + 1
        if count > most:
            net.op[gate] = op
            net.a[gate] = a
            net.b[gate] = b
        else:
            most = count
        for row in range(inputs + gate, inputs + net.gates[0]):
            if net.differs[row] and count <= most:
                take(net, row)
        net.differs[inputs + gate : inputs + net.gates[0]] = 0
    tidy(net, draws, 0)
