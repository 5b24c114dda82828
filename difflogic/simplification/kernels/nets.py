"""A net and the buffers of a search; nets are simulated, folded, cleaned and copied."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.system.jit import by_reference, kernel

ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
NONE = np.uint64(0)

VIRTUAL = 24
"""Virtual gates, drawn for each move and not part of the net: they let a move add two gates."""


@by_reference
class Net(NamedTuple):
    """A circuit; `size[0]` counts its nodes. `sweep` and `anneal` need room for VIRTUAL more."""

    op: np.ndarray  # uint8 (nodes,)
    a: np.ndarray  # int32 (nodes,)
    b: np.ndarray  # int32 (nodes,)
    outputs: np.ndarray  # int32 (outputs,), literals
    size: np.ndarray  # int64 (1,)
    inputs: int


@by_reference
class NetMemory(NamedTuple):
    """Buffers of a search."""

    table: np.ndarray  # uint64 (nodes + VIRTUAL, words)
    flipped: np.ndarray  # uint64 (nodes, words): the tables if the target were inverted
    care: np.ndarray  # uint64 (3, words): cases where the target matters; matters and is 1; is 0
    after: np.ndarray  # bool (nodes,): which nodes depend on the target
    divisors: np.ndarray  # int32 (nodes + VIRTUAL,)
    literal: np.ndarray  # int32 (nodes,): each node's literal in the new net; or whether it is read
    stack: np.ndarray  # int32 (nodes,)
    level: np.ndarray  # int32 (nodes,)
    slots: np.ndarray  # int32 (power of two,): gates by the hash of what they read
    random: np.ndarray  # uint64 (1,)


@kernel
def gate_table(op, x, y, out):
    """Write the table of op(x, y) to `out`: as a polynomial over the field of two elements."""
    f00 = (op >> 3) & 1
    f01 = (op >> 2) & 1
    f10 = (op >> 1) & 1
    f11 = op & 1
    c0 = ALL_BITS if f00 else NONE
    c1 = ALL_BITS if f00 ^ f10 else NONE
    c2 = ALL_BITS if f00 ^ f01 else NONE
    c3 = ALL_BITS if f00 ^ f01 ^ f10 ^ f11 else NONE
    for word in range(out.shape[0]):
        out[word] = c0 ^ (c1 & x[word]) ^ (c2 & y[word]) ^ (c3 & x[word] & y[word])


@kernel
def simulate(net, table):
    """Write the tables of all gates; `table` already holds those of the inputs."""
    for node in range(1 + net.inputs, net.size[0]):
        gate_table(net.op[node], table[net.a[node]], table[net.b[node]], table[node])


@kernel
def invert_a(op):
    """Return the op that computes the same if its first input is inverted."""
    return ((op & 3) << 2) | (op >> 2)


@kernel
def invert_b(op):
    """Return the op that computes the same if its second input is inverted."""
    return ((op & 5) << 1) | ((op >> 1) & 5)


@kernel
def emit(new, work, op, x, y):
    """Return the literal of op(x, y) of two literals in `new`; add a gate if needed."""
    a = x >> 1
    b = y >> 1
    if x & 1:
        op = invert_a(op)
    if y & 1:
        op = invert_b(op)
    if a == 0:  # the first input is 0
        op = (op >> 2) * 5
    if b == 0:
        op = ((op >> 1) & 5) * 3
    if a == b:
        op = (op & 1) * 3 | (op >> 3) * 12
    inverted = 0
    if op & 8:  # make every gate 0 where both inputs are 0
        op, inverted = 15 - op, 1
    if op == 0:
        return inverted
    if op == 3:
        return 2 * a | inverted
    if op == 5:
        return 2 * b | inverted
    if a > b:
        a, b = b, a
        op = (op & 9) | (op & 2) << 1 | (op & 4) >> 1
    mask = work.slots.shape[0] - 1  # without slots, equal gates are not merged
    slot = (a * 40503 + b * 30011 + op * 977) & mask
    while mask >= 0 and work.slots[slot]:
        node = work.slots[slot]
        if new.op[node] == op and new.a[node] == a and new.b[node] == b:
            return 2 * node | inverted
        slot = (slot + 1) & mask
    node = new.size[0]
    new.op[node] = op
    new.a[node] = a
    new.b[node] = b
    new.size[0] = node + 1
    if mask >= 0:
        work.slots[slot] = node
    return 2 * node | inverted


@kernel
def clean(net, new, work):
    """Write to `new` the gates that the outputs of `net` need, folded, each once, in order.

    `net` need not be in topological order, but must have no cycle.
    """
    work.slots[:] = 0
    work.literal[: net.size[0]] = -1
    for node in range(1 + net.inputs):
        work.literal[node] = 2 * node
    new.size[0] = 1 + net.inputs
    for output in range(net.outputs.shape[0]):
        depth = 0
        work.stack[0] = net.outputs[output] >> 1
        while depth >= 0:
            node = work.stack[depth]
            if work.literal[node] >= 0:
                depth -= 1
                continue
            x = work.literal[net.a[node]]
            y = work.literal[net.b[node]]
            if x >= 0 and y >= 0:
                work.literal[node] = emit(new, work, np.int64(net.op[node]), x, y)
                depth -= 1
                continue
            depth += 1
            work.stack[depth] = net.a[node] if x < 0 else net.b[node]
        new.outputs[output] = work.literal[net.outputs[output] >> 1] ^ (net.outputs[output] & 1)
    drop_unread(new, work)


@kernel
def drop_unread(net, work):
    """Remove the gates that no output depends on, in place; the others keep their order."""
    first = 1 + net.inputs
    size = net.size[0]
    literal = work.literal
    literal[first:size] = 0
    for output in range(net.outputs.shape[0]):
        literal[net.outputs[output] >> 1] = 1
    for node in range(size - 1, first - 1, -1):
        if literal[node]:
            literal[net.a[node]] = literal[net.b[node]] = 1
    for node in range(first):
        literal[node] = node
    place = first
    for node in range(first, size):
        if literal[node]:
            literal[node] = place
            net.op[place] = net.op[node]
            net.a[place] = literal[net.a[node]]
            net.b[place] = literal[net.b[node]]
            place += 1
    net.size[0] = place
    for output in range(net.outputs.shape[0]):
        net.outputs[output] = 2 * literal[net.outputs[output] >> 1] | (net.outputs[output] & 1)


@kernel
def find_depth(net, level):
    """Return the number of gates on the longest path."""
    deepest = 0
    level[: 1 + net.inputs] = 0
    for node in range(1 + net.inputs, net.size[0]):
        level[node] = 1 + max(level[net.a[node]], level[net.b[node]])
    for output in range(net.outputs.shape[0]):
        deepest = max(deepest, level[net.outputs[output] >> 1])
    return deepest


@kernel
def copy(source, target):
    """Copy a net."""
    size = source.size[0]
    target.size[0] = size
    target.op[:size] = source.op[:size]
    target.a[:size] = source.a[:size]
    target.b[:size] = source.b[:size]
    target.outputs[:] = source.outputs
