"""What is done with a graph: simulated, folded, cleaned, copied.

That planes are equal up to a translation is structural hashing of nodes whose offsets are part of
what they read.
"""

from __future__ import annotations

import numpy as np

from difflogic.simplification.kernels.nets import invert_a, invert_b
from difflogic.simplification.kernels.structures import ALL, NONE
from difflogic.system.jit import kernel


@kernel
def three(row):
    """Return three numbers."""
    return np.int64(row[0]), np.int64(row[1]), np.int64(row[2])


@kernel
def six(row):
    """Return six numbers."""
    return (
        np.int64(row[0]),
        np.int64(row[1]),
        np.int64(row[2]),
        np.int64(row[3]),
        np.int64(row[4]),
        np.int64(row[5]),
    )


@kernel
def at(rows, row, y, x):
    """Return a row of a plane as it is seen y rows further down and x columns further right."""
    word = rows[(row + y) & (rows.shape[0] - 1)]
    if x > 0:
        return (word >> np.uint64(x)) | (word << np.uint64(64 - x))
    if x < 0:
        return (word << np.uint64(-x)) | (word >> np.uint64(64 + x))
    return word


@kernel
def polynomial(op):
    """Return the coefficients of an op over the field of two elements, as words."""
    f00, f01, f10, f11 = (op >> 3) & 1, (op >> 2) & 1, (op >> 1) & 1, op & 1
    return (
        ALL if f00 else NONE,
        ALL if f00 ^ f10 else NONE,
        ALL if f00 ^ f01 else NONE,
        ALL if f00 ^ f01 ^ f10 ^ f11 else NONE,
    )


@kernel
def simulate_gate(op, first, ay, ax, second, by, bx, out):
    """Write the values of a gate that reads two planes at offsets."""
    c0, c1, c2, c3 = polynomial(op)
    for row in range(out.shape[0]):
        x, y = at(first, row, ay, ax), at(second, row, by, bx)
        out[row] = c0 ^ (c1 & x) ^ (c2 & y) ^ (c3 & x & y)


@kernel
def simulate(graph, values):
    """Write the values of all gates; those of the channels stand there."""
    for node in range(1 + graph.inputs, graph.size[0]):
        a, ay, ax, b, by, bx = six(graph.reads[node])
        simulate_gate(graph.op[node], values[a], ay, ax, values[b], by, bx, values[node])


@kernel
def is_right(graph, values, wanted):
    """Return whether all outputs are as they should be."""
    for output in range(wanted.shape[0]):
        literal, y, x = three(graph.outputs[output])
        inverse = ALL if literal & 1 else NONE
        for row in range(wanted.shape[1]):
            if at(values[literal >> 1], row, y, x) ^ inverse != wanted[output, row]:
                return False
    return True


@kernel
def emit(new, work, op, x, ay, ax, y, by, bx):
    """Return a literal of `new`, which grows if it has to, and its offset, for op(x, y)."""
    a, b = x >> 1, y >> 1
    if x & 1:
        op = invert_a(op)
    if y & 1:
        op = invert_b(op)
    if a == 0:
        op = (op >> 2) * 5
    if b == 0:
        op = ((op >> 1) & 5) * 3
    if a == b and ay == by and ax == bx:
        op = (op & 1) * 3 | (op >> 3) * 12
    inverted = 0
    if op & 8:  # so that every gate is 0 where both inputs are
        op, inverted = 15 - op, 1
    if op == 0:
        return inverted, 0, 0
    if op == 3:
        return 2 * a | inverted, ay, ax
    if op == 5:
        return 2 * b | inverted, by, bx
    if a > b or (a == b and (ay > by or (ay == by and ax > bx))):
        a, ay, ax, b, by, bx = b, by, bx, a, ay, ax
        op = (op & 9) | (op & 2) << 1 | (op & 4) >> 1
    top, left = min(ay, by), min(ax, bx)
    ay, ax, by, bx = ay - top, ax - left, by - top, bx - left
    mask = work.slots.shape[0] - 1
    slot = (a * 40503 + b * 30011 + op * 977 + ay * 131 + ax * 37 + by * 17 + bx) & mask
    while work.slots[slot]:
        node = work.slots[slot]
        reads = new.reads[node]
        if (
            new.op[node] == op
            and reads[0] == a
            and reads[3] == b
            and reads[1] == ay
            and reads[2] == ax
            and reads[4] == by
            and reads[5] == bx
        ):
            return 2 * node | inverted, top, left
        slot = (slot + 1) & mask
    node = new.size[0]
    new.op[node] = op
    reads = new.reads[node]
    reads[0], reads[1], reads[2] = a, ay, ax
    reads[3], reads[4], reads[5] = b, by, bx
    new.box[node, 0] = max(ay + new.box[a, 0], by + new.box[b, 0])
    new.box[node, 1] = max(ax + new.box[a, 1], bx + new.box[b, 1])
    new.size[0] = node + 1
    work.slots[slot] = node
    return 2 * node | inverted, top, left


@kernel
def clean(graph, new, work):
    """Write to `new` the planes that the outputs need, folded, each once up to translation.

    `graph` need not be in topological order, but must have no cycle.
    """
    work.slots[:] = 0
    literal = work.literal
    literal[: graph.size[0], 0] = -1
    for node in range(1 + graph.inputs):
        literal[node, 0], literal[node, 1], literal[node, 2] = 2 * node, 0, 0
        new.box[node] = graph.box[node]
    new.size[0] = 1 + graph.inputs
    for output in range(graph.outputs.shape[0]):
        wanted, y, x = three(graph.outputs[output])
        depth = 0
        work.stack[0] = wanted >> 1
        while depth >= 0:
            node = work.stack[depth]
            if literal[node, 0] >= 0:
                depth -= 1
                continue
            a, ay, ax, b, by, bx = six(graph.reads[node])
            if literal[a, 0] >= 0 and literal[b, 0] >= 0:
                made, top, left = emit(
                    new,
                    work,
                    np.int64(graph.op[node]),
                    np.int64(literal[a, 0]),
                    ay + literal[a, 1],
                    ax + literal[a, 2],
                    np.int64(literal[b, 0]),
                    by + literal[b, 1],
                    bx + literal[b, 2],
                )
                literal[node, 0], literal[node, 1], literal[node, 2] = made, top, left
                depth -= 1
                continue
            depth += 1
            work.stack[depth] = a if literal[a, 0] < 0 else b
        node = wanted >> 1
        new.outputs[output, 0] = literal[node, 0] ^ (wanted & 1)
        new.outputs[output, 1] = y + literal[node, 1]
        new.outputs[output, 2] = x + literal[node, 2]
    drop_unread(new, work)


@kernel
def drop_unread(graph, work):
    """Remove the gates that no output depends on, in place; the others keep their order."""
    first, size, place_of = 1 + graph.inputs, graph.size[0], work.literal
    place_of[first:size, 0] = 0
    for output in range(graph.outputs.shape[0]):
        place_of[graph.outputs[output, 0] >> 1, 0] = 1
    for node in range(size - 1, first - 1, -1):
        if place_of[node, 0]:
            place_of[graph.reads[node, 0], 0] = place_of[graph.reads[node, 3], 0] = 1
    for node in range(first):
        place_of[node, 0] = node
    place = first
    for node in range(first, size):
        if place_of[node, 0]:
            place_of[node, 0] = place
            graph.op[place] = graph.op[node]
            graph.reads[place] = graph.reads[node]
            graph.reads[place, 0] = place_of[graph.reads[node, 0], 0]
            graph.reads[place, 3] = place_of[graph.reads[node, 3], 0]
            graph.box[place] = graph.box[node]
            place += 1
    graph.size[0] = place
    for output in range(graph.outputs.shape[0]):
        literal = graph.outputs[output, 0]
        graph.outputs[output, 0] = 2 * place_of[literal >> 1, 0] | (literal & 1)


@kernel
def copy(source, target):
    """Copy a graph."""
    size = source.size[0]
    target.size[0] = size
    target.op[:size] = source.op[:size]
    target.reads[:size] = source.reads[:size]
    target.box[:size] = source.box[:size]
    target.outputs[:] = source.outputs
