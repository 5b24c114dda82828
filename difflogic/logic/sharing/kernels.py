"""The compiled kernels of the search for circuits whose cells share what they compute.

A *plane* is a value at every cell of an endless grid; a gate makes one of two others, each read at
an offset. Node 0 is constant 0, then come the channels, then the gates in topological order. A
node's *origin* is the top left of all cells that it reads, so offsets are never negative once a
graph is clean. Beside each node stand its values on a torus of random states, a row of 64 cells to
a word, with as many rows as a power of two: every test is one on these samples.

Source of the moves: as in `simplification.kernels.substitution`. That planes are equal up to a
translation is structural hashing of nodes whose offsets are part of what they read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.jit import kernel
from difflogic.logic.simplification.kernels.nets import invert_a, invert_b
from difflogic.logic.simplification.kernels.structures import ALL, NONE
from difflogic.logic.simplification.kernels.substitution import (
    VIRTUAL_OPS,
    draw,
    fits_one,
    fits_two,
)

VIRTUAL = 16
"""Gates that do not exist, drawn anew for each move: with them a move may add two gates."""
SIDE = 3
"""Cells of a neighbourhood in each direction: no next state depends on more."""


class Graph(NamedTuple):
    """Planes, and which of them are next states; `size[0]` counts its nodes."""

    op: np.ndarray  # uint8 (nodes,)
    reads: np.ndarray  # int32 (nodes, 6): a node, rows down, columns right; and another
    box: np.ndarray  # int32 (nodes, 2): rows and columns that a node reads of the channels
    outputs: np.ndarray  # int32 (outputs, 3): literal, rows down, columns right of the cell
    size: np.ndarray  # int64 (1,)
    inputs: int


class Work(NamedTuple):
    """Buffers of a search."""

    values: np.ndarray  # uint64 (nodes + VIRTUAL, rows)
    wanted: np.ndarray  # uint64 (outputs, rows): what the outputs are to be
    literal: np.ndarray  # int32 (nodes, 3): what a node has become, and where
    stack: np.ndarray  # int32 (nodes,)
    slots: np.ndarray  # int32 (power of two,): gates by the hash of what they read
    after: np.ndarray  # bool (nodes,): whether a node depends on the target
    instance: np.ndarray  # bool (nodes, 9): at which places of a neighbourhood a node is read
    flagged: np.ndarray  # bool (nodes, 9): whether an instance depends on the target's
    flipped: np.ndarray  # uint64 (nodes, 9, rows): its values if that were inverted
    divisors: np.ndarray  # int32 (most, 3): nodes and offsets that a target may read
    seen: np.ndarray  # uint64 (most, rows): their values there
    care: np.ndarray  # uint64 (3, rows): where the target matters, there 1, there 0
    random: np.ndarray  # uint64 (1,)


@kernel
def three(row):
    """Return three numbers."""
    return np.int64(row[0]), np.int64(row[1]), np.int64(row[2])


@kernel
def six(row):
    """Return six numbers."""
    return (
        np.int64(row[0]), np.int64(row[1]), np.int64(row[2]),
        np.int64(row[3]), np.int64(row[4]), np.int64(row[5]),
    )  # fmt: skip


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
        ALL if f00 else NONE, ALL if f00 ^ f10 else NONE, ALL if f00 ^ f01 else NONE,
        ALL if f00 ^ f01 ^ f10 ^ f11 else NONE,
    )  # fmt: skip


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
            new.op[node] == op and reads[0] == a and reads[3] == b
            and reads[1] == ay and reads[2] == ax and reads[4] == by and reads[5] == bx
        ):  # fmt: skip
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
    new.box[0] = 0
    for node in range(1 + graph.inputs):
        literal[node, 0], literal[node, 1], literal[node, 2] = 2 * node, 0, 0
        if node:
            new.box[node] = 1
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
                    new, work, np.int64(graph.op[node]),
                    np.int64(literal[a, 0]), ay + literal[a, 1], ax + literal[a, 2],
                    np.int64(literal[b, 0]), by + literal[b, 1], bx + literal[b, 2],
                )  # fmt: skip
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
def find_instances(graph, work):
    """Find at which places of a neighbourhood each node is read; 4 is the cell itself."""
    instance = work.instance
    instance[: graph.size[0]] = False
    for output in range(graph.outputs.shape[0]):
        literal, y, x = three(graph.outputs[output])
        instance[literal >> 1, SIDE * (y + 1) + x + 1] = True
    for node in range(graph.size[0] - 1, graph.inputs, -1):
        a, ay, ax, b, by, bx = six(graph.reads[node])
        for place in range(SIDE * SIDE):
            if instance[node, place]:
                instance[a, place + SIDE * ay + ax] = True
                instance[b, place + SIDE * by + bx] = True


@kernel
def instance_row(work, node, place, row):
    """Return a row of a node's instance, with the target's instance inverted."""
    if work.flagged[node, place]:
        return work.flipped[node, place, row]
    return at(work.values[node], row, place // SIDE - 1, place % SIDE - 1)


@kernel
def find_care(graph, work, target):
    """Find where the target's value matters, one instance at a time, and what depends on it."""
    values, flagged, care, after = work.values, work.flagged, work.care, work.after
    size, rows = graph.size[0], values.shape[1]
    care[0] = NONE
    after[:size] = False
    after[target] = True
    for node in range(target + 1, size):
        after[node] = after[graph.reads[node, 0]] or after[graph.reads[node, 3]]
    for chosen in range(SIDE * SIDE):
        if not work.instance[target, chosen]:
            continue
        flagged[:size] = False
        down, right = chosen // SIDE - 1, chosen % SIDE - 1
        for row in range(rows):
            work.flipped[target, chosen, row] = ~at(values[target], row, down, right)
        flagged[target, chosen] = True
        for node in range(target + 1, size):
            if not after[node]:
                continue
            a, ay, ax, b, by, bx = six(graph.reads[node])
            c0, c1, c2, c3 = polynomial(graph.op[node])
            for place in range(SIDE * SIDE):
                if not work.instance[node, place]:
                    continue
                left, right_ = place + SIDE * ay + ax, place + SIDE * by + bx
                if flagged[a, left] or flagged[b, right_]:
                    for row in range(rows):
                        x = instance_row(work, a, left, row)
                        y = instance_row(work, b, right_, row)
                        work.flipped[node, place, row] = c0 ^ (c1 & x) ^ (c2 & y) ^ (c3 & x & y)
                    flagged[node, place] = True
        # What differs in a cell's next state lies there; the target's value lies at its offset.
        difference = care[1]
        difference[:] = NONE
        for output in range(graph.outputs.shape[0]):
            literal, y, x = three(graph.outputs[output])
            node, place = literal >> 1, SIDE * (y + 1) + x + 1
            if flagged[node, place]:
                for row in range(rows):
                    difference[row] |= work.flipped[node, place, row] ^ at(values[node], row, y, x)
        for row in range(rows):
            care[0, row] |= at(difference, row, -down, -right)
    for row in range(rows):
        care[1, row] = care[0, row] & values[target, row]
        care[2, row] = care[0, row] & ~values[target, row]


@kernel
def find_divisors(graph, work, target):
    """List what the target may read: nodes at offsets that stay within each neighbourhood."""
    least_y, most_y, least_x, most_x = SIDE, 0, SIDE, 0
    for place in range(SIDE * SIDE):
        if work.instance[target, place]:
            least_y, most_y = min(least_y, place // SIDE), max(most_y, place // SIDE)
            least_x, most_x = min(least_x, place % SIDE), max(most_x, place % SIDE)
    count = 0
    for node in range(graph.size[0]):
        if work.after[node]:
            continue
        for y in range(-least_y, SIDE - most_y - graph.box[node, 0] + 1):
            for x in range(-least_x, SIDE - most_x - graph.box[node, 1] + 1):
                if count == work.divisors.shape[0] - VIRTUAL or (node == 0 and count):
                    break
                divisor = work.divisors[count]
                divisor[0], divisor[1], divisor[2] = node, y, x
                for row in range(work.seen.shape[1]):
                    work.seen[count, row] = at(work.values[node], row, y, x)
                count += 1
    return count


@kernel
def draw_virtual(graph, work, count):
    """Append gates that do not exist to the divisors, and to the nodes, but not to the size."""
    size = graph.size[0]
    for extra in range(VIRTUAL):
        node = size + extra
        first = work.divisors[draw(work.random, count)]
        second = work.divisors[draw(work.random, count)]
        op = VIRTUAL_OPS[draw(work.random, len(VIRTUAL_OPS))]
        graph.op[node] = op
        reads = graph.reads[node]
        reads[0], reads[1], reads[2] = first[0], first[1], first[2]
        reads[3], reads[4], reads[5] = second[0], second[1], second[2]
        simulate_gate(
            op, work.values[first[0]], first[1], first[2],
            work.values[second[0]], second[1], second[2], work.seen[count + extra],
        )  # fmt: skip
        divisor = work.divisors[count + extra]
        divisor[0], divisor[1], divisor[2] = node, 0, 0
    return count + VIRTUAL


@kernel
def substitute(graph, work, target):
    """Let the target read another pair of planes that fits wherever one instance matters.

    Returns whether there is any. Several instances may matter together where none does alone: the
    outputs are to be compared. The order may be no topological one afterwards; virtual gates that
    are used count to the size.
    """
    find_care(graph, work, target)
    count = find_divisors(graph, work, target)
    reads = graph.reads[target]
    for index in range(count):
        inverted = fits_one(work.seen[index], work.care)
        if inverted >= 0:
            graph.op[target] = 12 if inverted else 3
            reads[:3] = work.divisors[index]
            reads[3:] = work.divisors[index]
            return True
    existing = count
    if draw(work.random, 2):
        count = draw_virtual(graph, work, count)
    found, best_first, best_second, best_op = 0, 0, 0, 0
    for first in range(1, count):
        for second in range(1, min(first, existing)):
            corners = fits_two(work.seen[first], work.seen[second], work.care)
            if corners < 0:
                continue
            found += 1
            if draw(work.random, found) == 0:
                # Corners that never matter are filled by chance.
                free = 15 & ~(corners | corners >> 4)
                best_first, best_second = first, second
                best_op = (corners & 15) | (free & draw(work.random, 16))
    if found == 0:
        return False
    graph.op[target] = best_op
    reads[:3] = work.divisors[best_first]
    reads[3:] = work.divisors[best_second]
    if work.divisors[best_first, 0] >= graph.size[0]:
        graph.size[0] += VIRTUAL
    return True


@kernel
def copy(source, target):
    """Copy a graph."""
    size = source.size[0]
    target.size[0] = size
    target.op[:size] = source.op[:size]
    target.reads[:size] = source.reads[:size]
    target.box[:size] = source.box[:size]
    target.outputs[:] = source.outputs


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
