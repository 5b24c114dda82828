"""The move of the search: a plane is made of two others that leave the next states alone.

Source: as of `simplification.kernels.substitution`.
"""

from __future__ import annotations

from difflogic.simplification.kernels.structures import NONE
from difflogic.simplification.kernels.substitution import VIRTUAL_OPS, draw, fits_one, fits_two
from difflogic.simplification.sharing.kernels.planes import (
    at,
    polynomial,
    simulate_gate,
    six,
    three,
)
from difflogic.simplification.sharing.kernels.structures import SIDE, VIRTUAL
from difflogic.system.jit import kernel


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
            op,
            work.values[first[0]],
            first[1],
            first[2],
            work.values[second[0]],
            second[1],
            second[2],
            work.seen[count + extra],
        )
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
