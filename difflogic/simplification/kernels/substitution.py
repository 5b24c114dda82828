"""The move of the search: another pair of inputs for a gate that leaves the outputs alone.

Source: resubstitution with observability don't-cares (Mishchenko, Brayton, Jiang and Jang 2011,
"Scalable don't-care-based logic optimization and resynthesis").
"""

from __future__ import annotations

import numpy as np

from difflogic.simplification.kernels.nets import gate_table
from difflogic.simplification.kernels.structures import NONE, VIRTUAL
from difflogic.system.jit import kernel

VIRTUAL_OPS = (1, 2, 4, 7, 6, 6)
"""They are drawn from the ops that differ by more than inverters; XOR has no such variants."""


@kernel
def draw(random, below):
    """Return a number from 0 to below - 1, by xorshift (Marsaglia 2003)."""
    state = random[0]
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    random[0] = state
    return np.int64((state >> np.uint64(11)) % np.uint64(below))


@kernel
def find_care(net, work, target):
    """Find where the target's value matters to an output, and what depends on the target."""
    table, flipped, after, care = work.table, work.flipped, work.after, work.care
    after[: net.size[0]] = False
    after[target] = True
    for word in range(table.shape[1]):
        flipped[target, word] = ~table[target, word]
        care[0, word] = NONE
    for node in range(target + 1, net.size[0]):
        a, b = net.a[node], net.b[node]
        if after[a] or after[b]:
            after[node] = True
            gate_table(
                net.op[node],
                flipped[a] if after[a] else table[a],
                flipped[b] if after[b] else table[b],
                flipped[node],
            )
    for output in range(net.outputs.shape[0]):
        node = net.outputs[output] >> 1
        if after[node]:
            for word in range(table.shape[1]):
                care[0, word] |= flipped[node, word] ^ table[node, word]
    for word in range(table.shape[1]):
        care[1, word] = care[0, word] & table[target, word]
        care[2, word] = care[0, word] & ~table[target, word]


@kernel
def fits_one(table, care):
    """Return 0 if the literal of this table can stand for the target, 1 if inverted, else -1."""
    direct, inverse = True, True
    for word in range(table.shape[0]):
        on, off, x = care[1, word], care[2, word], table[word]
        if direct and ((on & ~x) | (off & x)):
            direct = False
        if inverse and ((on & x) | (off & ~x)):
            inverse = False
        if not (direct or inverse):
            return -1
    return 0 if direct else 1


@kernel
def fits_two(x, y, care):
    """Return which corners of (x, y) the target has as 1 and as 0: 4 bits each; -1 if it is both.

    The bits are those of an op.
    """
    corners = 0
    for word in range(x.shape[0]):
        on, off, p, q = care[1, word], care[2, word], x[word], y[word]
        on_p, off_p = on & p, off & p
        on, off = on & ~p, off & ~p
        if on_p & q:
            corners |= 1
        if on_p & ~q:
            corners |= 2
        if on & q:
            corners |= 4
        if on & ~q:
            corners |= 8
        if off_p & q:
            corners |= 16
        if off_p & ~q:
            corners |= 32
        if off & q:
            corners |= 64
        if off & ~q:
            corners |= 128
        if corners & (corners >> 4) & 15:
            return -1
    return corners


@kernel
def draw_virtual(net, work, count):
    """Append gates that do not exist to the divisors, and to the nodes, but not to the size."""
    size = net.size[0]
    for extra in range(VIRTUAL):
        node = size + extra
        first = work.divisors[draw(work.random, count)]
        second = work.divisors[draw(work.random, count)]
        op = VIRTUAL_OPS[draw(work.random, len(VIRTUAL_OPS))]
        net.op[node] = op
        net.a[node] = first
        net.b[node] = second
        gate_table(op, work.table[first], work.table[second], work.table[node])
        work.divisors[count + extra] = node
    return count + VIRTUAL


@kernel
def substitute(net, work, target):
    """Give the target another pair of inputs that leaves the outputs as they are, at random.

    Returns whether there is any. A single node that can stand for it is taken first. The order of
    nodes may be no topological one afterwards; virtual gates that are used count to the size.
    """
    find_care(net, work, target)
    count = 0
    for node in range(net.size[0]):
        if not work.after[node]:
            work.divisors[count] = node
            count += 1
    for index in range(count):
        node = work.divisors[index]
        inverted = fits_one(work.table[node], work.care)
        if inverted >= 0:
            net.op[target] = 12 if inverted else 3
            net.a[target] = net.b[target] = node
            return True
    existing = count
    if draw(work.random, 2):
        count = draw_virtual(net, work, count)
    seen, best_x, best_y, best_op = 0, 0, 0, 0
    for first in range(1, count):
        x = work.divisors[first]
        for second in range(1, min(first, existing)):
            y = work.divisors[second]
            corners = fits_two(work.table[x], work.table[y], work.care)
            if corners < 0 or (min(x, y) == net.a[target] and max(x, y) == net.b[target]):
                continue
            seen += 1
            if draw(work.random, seen) == 0:
                # Corners that never matter are filled by chance.
                free = 15 & ~(corners | corners >> 4)
                best_x, best_y = x, y
                best_op = (corners & 15) | (free & draw(work.random, 16))
    if seen == 0:
        return False
    net.op[target] = best_op
    net.a[target] = best_x
    net.b[target] = best_y
    if best_x >= net.size[0]:
        net.size[0] += VIRTUAL
    return True
