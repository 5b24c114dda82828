"""The search: sweeps over gates, and annealing, which also accepts moves that gain nothing.

A move gives a gate another pair of inputs that leaves the net's outputs unchanged.

Sources: Cartesian genetic programming (Miller 2011), with simulated annealing; resubstitution with
observability don't-cares (Mishchenko, Brayton, Jiang and Jang 2011, "Scalable don't-care-based
logic optimization and resynthesis").
"""

from __future__ import annotations

import numpy as np

from difflogic.simplification.kernels.nets import (
    NONE,
    VIRTUAL,
    clean,
    copy,
    find_depth,
    gate_table,
    simulate,
)
from difflogic.system.jit import kernel
from difflogic.system.jit.arithmetic import exponential

TRIES = 8
"""Tries of a sweep at each gate, each with other virtual gates."""


@kernel
def sweep(net, spare, tried, work, target, gates):
    """Try `gates` gates, from `target` down to the inputs; keep a change if it is no larger.

    Returns the gate to go on with; an input means that all gates were tried.
    """
    simulate(net, work.table)
    for _ in range(gates):
        if target <= net.inputs:
            break
        for _ in range(TRIES):
            if target >= net.size[0]:
                break
            copy(net, spare)
            if substitute(spare, work, target):
                clean(spare, tried, work)
                if tried.size[0] <= net.size[0]:
                    copy(tried, net)
                    simulate(net, work.table)
        target = min(target, net.size[0]) - 1
    return target


@kernel
def anneal(net, best, spare, tried, work, schedule):
    """Change `net` at random; leave in `best` the smallest net met, and of these the flattest.

    `schedule` has the moves, the temperature in gates, and a factor for it before each move. A move
    that makes the net larger is kept with the probability of simulated annealing. The net never
    outgrows the buffers.
    """
    moves, temperature, cooling = schedule
    best_depth = find_depth(best, work.level)
    room = net.op.shape[0] - VIRTUAL
    simulate(net, work.table)
    for _ in range(moves):
        temperature *= cooling
        gates = net.size[0] - 1 - net.inputs
        if gates == 0:
            return
        copy(net, spare)
        if not substitute(spare, work, 1 + net.inputs + draw(work.random, gates)):
            continue
        clean(spare, tried, work)
        if tried.size[0] > room:
            continue
        larger = tried.size[0] - net.size[0]
        if larger > 0:
            kept = exponential(-larger / temperature)
            if draw(work.random, 1 << 30) > (1 << 30) * kept:
                continue
        copy(tried, net)
        simulate(net, work.table)
        if net.size[0] > best.size[0]:
            continue
        depth = find_depth(net, work.level)
        if net.size[0] < best.size[0] or depth < best_depth:
            copy(net, best)
            best_depth = depth


VIRTUAL_OPS = (1, 2, 4, 7, 6, 6)
"""Ops that virtual gates are drawn from. XOR stands twice: inverted inputs give no variants."""


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
    """Find the cases where the target's value matters to an output, and what depends on it."""
    table = work.table
    flipped = work.flipped
    after = work.after
    care = work.care
    after[: net.size[0]] = False
    after[target] = True
    for word in range(table.shape[1]):
        flipped[target, word] = ~table[target, word]
        care[0, word] = NONE
    for node in range(target + 1, net.size[0]):
        a = net.a[node]
        b = net.b[node]
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
    """Return 0 if this table can replace the target's, 1 if its inverse can, else -1."""
    direct = True
    inverse = True
    for word in range(table.shape[0]):
        on = care[1, word]
        off = care[2, word]
        x = table[word]
        if direct and ((on & ~x) | (off & x)):
            direct = False
        if inverse and ((on & x) | (off & ~x)):
            inverse = False
        if not (direct or inverse):
            return -1
    return 0 if direct else 1


@kernel
def fits_two(x, y, care):
    """Return for which values of (x, y) the target must be 1, and 0: 4 bits each, as in an op.

    Returns -1 if the target must be both for some values.
    """
    corners = 0
    for word in range(x.shape[0]):
        on = care[1, word]
        off = care[2, word]
        p = x[word]
        q = y[word]
        on_p = on & p
        off_p = off & p
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
    """Append virtual gates to the divisors and to the nodes, but leave the net's size."""
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
    """Give the target another random pair of inputs that leaves the outputs unchanged.

    Returns whether one was found. A single node that can replace the target is preferred. The nodes
    may no longer be in topological order. If virtual gates are used, the size includes them.
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
    seen = 0
    best_x = 0
    best_y = 0
    best_op = 0
    for first in range(1, count):
        x = work.divisors[first]
        for second in range(1, min(first, existing)):
            y = work.divisors[second]
            corners = fits_two(work.table[x], work.table[y], work.care)
            if corners < 0 or (min(x, y) == net.a[target] and max(x, y) == net.b[target]):
                continue
            seen += 1
            if draw(work.random, seen) == 0:
                # Fill at random the values that never matter.
                free = 15 & ~(corners | corners >> 4)
                best_x = x
                best_y = y
                best_op = (corners & 15) | (free & draw(work.random, 16))
    if seen == 0:
        return False
    net.op[target] = best_op
    net.a[target] = best_x
    net.b[target] = best_y
    if best_x >= net.size[0]:
        net.size[0] += VIRTUAL
    return True
