"""The compiled kernels of the search for small circuits, and nothing else.

A net is a circuit over few inputs: node 0 is constant 0, then come the inputs, then the gates in
topological order, each one of the 16 ops of two nodes. Outputs are literals: twice a node, plus
one if inverted. Beside each node stands its whole truth table, so that every test is exact.

Source: resubstitution with observability don't-cares (Mishchenko, Brayton, Jiang and Jang 2011,
"Scalable don't-care-based logic optimization and resynthesis"), as the move of a random walk that
also takes moves that gain nothing, as Cartesian genetic programming does (Miller 2011).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.engine.kernels import kernel

ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
NONE = np.uint64(0)

VIRTUAL = 24
"""Gates that do not exist, drawn anew for each move: with them a move may add two gates."""
TRIES = 8
"""Of a sweep at each gate, each with other virtual gates."""
VIRTUAL_OPS = (1, 2, 4, 7, 6, 6)
"""They are drawn from the ops that differ by more than inverters; XOR has no such variants."""


class Net(NamedTuple):
    """A circuit; `size[0]` counts its nodes. Before `sweep` and `walk` there must be room for
    VIRTUAL more.
    """

    op: np.ndarray  # uint8 (nodes,)
    a: np.ndarray  # int32 (nodes,)
    b: np.ndarray  # int32 (nodes,)
    outputs: np.ndarray  # int32 (outputs,), literals
    size: np.ndarray  # int64 (1,)
    inputs: int


class Work(NamedTuple):
    """Buffers of a walk."""

    table: np.ndarray  # uint64 (nodes + VIRTUAL, words)
    flipped: np.ndarray  # uint64 (nodes, words): the tables if the target were inverted
    care: np.ndarray  # uint64 (3, words): where the target matters, there 1, there 0
    after: np.ndarray  # bool (nodes,): whether it depends on the target
    divisors: np.ndarray  # int32 (nodes + VIRTUAL,)
    literal: np.ndarray  # int32 (nodes,): what a node has become, or whether it is read
    stack: np.ndarray  # int32 (nodes,)
    level: np.ndarray  # int32 (nodes,)
    slots: np.ndarray  # int32 (power of two,): gates by the hash of what they read
    random: np.ndarray  # uint64 (1,)


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
def gate_table(op, x, y, out):
    """Write the table of op(x, y) to `out`: as a polynomial over the field of two elements."""
    f00, f01, f10, f11 = (op >> 3) & 1, (op >> 2) & 1, (op >> 1) & 1, op & 1
    c0 = ALL if f00 else NONE
    c1 = ALL if f00 ^ f10 else NONE
    c2 = ALL if f00 ^ f01 else NONE
    c3 = ALL if f00 ^ f01 ^ f10 ^ f11 else NONE
    for word in range(out.shape[0]):
        out[word] = c0 ^ (c1 & x[word]) ^ (c2 & y[word]) ^ (c3 & x[word] & y[word])


@kernel
def simulate(net, table):
    """Write the tables of all gates; those of the inputs stand there."""
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
    """Return the literal of op(x, y) of two literals in `new`, which grows if it has to."""
    a, b = x >> 1, y >> 1
    if x & 1:
        op = invert_a(op)
    if y & 1:
        op = invert_b(op)
    if a == 0:  # what is left of the op if its first input is 0
        op = (op >> 2) * 5
    if b == 0:
        op = ((op >> 1) & 5) * 3
    if a == b:
        op = (op & 1) * 3 | (op >> 3) * 12
    inverted = 0
    if op & 8:  # so that every gate is 0 where both inputs are
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
    mask = work.slots.shape[0] - 1
    slot = (a * 40503 + b * 30011 + op * 977) & mask
    while work.slots[slot]:
        node = work.slots[slot]
        if new.op[node] == op and new.a[node] == a and new.b[node] == b:
            return 2 * node | inverted
        slot = (slot + 1) & mask
    node = new.size[0]
    new.op[node] = op
    new.a[node] = a
    new.b[node] = b
    new.size[0] = node + 1
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
            x, y = work.literal[net.a[node]], work.literal[net.b[node]]
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
    first, size, literal = 1 + net.inputs, net.size[0], work.literal
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
                net.op[node], flipped[a] if after[a] else table[a],
                flipped[b] if after[b] else table[b], flipped[node],
            )  # fmt: skip
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


@kernel
def sweep(net, spare, tried, work):
    """Try each gate some times, from the outputs to the inputs; keep what is no larger."""
    target = net.size[0] - 1
    simulate(net, work.table)
    while target > net.inputs:
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


@kernel
def walk(net, best, spare, tried, work, moves, temperature, cooling):
    """Walk at random from `net`; leave in `best` the smallest and then flattest that was met.

    A move gives a random gate other inputs. One that makes the net larger is kept with the
    probability of simulated annealing, at a temperature in gates that is multiplied by `cooling`
    before each move. The net never outgrows the buffers.
    """
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
        if larger > 0 and draw(work.random, 1 << 30) > (1 << 30) * np.exp(-larger / temperature):
            continue
        copy(tried, net)
        simulate(net, work.table)
        if net.size[0] > best.size[0]:
            continue
        depth = find_depth(net, work.level)
        if net.size[0] < best.size[0] or depth < best_depth:
            copy(net, best)
            best_depth = depth


@kernel
def find_window(net, leaves, limit, root, leaf, member, below):
    """Find the gates that a few nodes decide, around a root; return the number of these leaves.

    The leaves grow from what the root reads towards the inputs, where that adds least, up to
    `limit`. `leaf`, `member` and `below` (nodes,) say which nodes are leaves, which are decided
    by them, and which the leaves depend on; no leaf depends on a member.
    """
    size, first = net.size[0], 1 + net.inputs
    leaf[:size] = False
    below[:size] = False
    count = 0
    for node in (net.a[root], net.b[root]):
        if not leaf[node]:
            leaf[node] = True
            leaves[count] = node
            count += 1
    inside = member
    inside[:size] = False
    inside[root] = True
    while True:
        best, best_cost, found = -1, 3, -1
        for index in range(count):
            node = leaves[index]
            if node < first:
                continue
            cost = -1
            for read in (net.a[node], net.b[node]):
                if not (leaf[read] or inside[read]):
                    cost += 1
            if cost < best_cost or (cost == best_cost and node > best):
                best, best_cost, found = node, cost, index
        if found < 0 or count + best_cost > limit:
            break
        leaf[best] = False
        inside[best] = True
        count -= 1
        leaves[found] = leaves[count]
        for read in (net.a[best], net.b[best]):
            if not (leaf[read] or inside[read]):
                leaf[read] = True
                leaves[count] = read
                count += 1
    leaves[:count].sort()
    for node in range(size - 1, first - 1, -1):
        if leaf[node] or below[node]:
            below[net.a[node]] = True
            below[net.b[node]] = True
    member[:size] = False
    for node in range(first, size):
        if not (leaf[node] or below[node]):
            a, b = net.a[node], net.b[node]
            member[node] = (leaf[a] or member[a]) and (leaf[b] or member[b])
    return count


@kernel
def extract(net, leaves, count, member, place, part):
    """Write the members of a window to the net `part`, whose inputs are the `count` leaves.

    Its outputs are the gates that are read from outside or are outputs; `place` (nodes,) gets
    their node in `part`, and returned is how many they are.
    """
    size, first = net.size[0], 1 + net.inputs
    read = np.zeros(size, np.bool_)
    for node in range(first, size):
        if not member[node]:
            read[net.a[node]] = True
            read[net.b[node]] = True
    for output in range(net.outputs.shape[0]):
        read[net.outputs[output] >> 1] = True
    for index in range(count):
        place[leaves[index]] = 1 + index
    node_in_part, outputs = 1 + count, 0
    for node in range(first, size):
        if member[node]:
            part.op[node_in_part] = net.op[node]
            part.a[node_in_part] = place[net.a[node]]
            part.b[node_in_part] = place[net.b[node]]
            place[node] = node_in_part
            node_in_part += 1
            if read[node]:
                part.outputs[outputs] = 2 * place[node]
                leaves[count + outputs] = node
                outputs += 1
    part.size[0] = node_in_part
    return outputs


@kernel
def put_back(net, leaves, count, part):
    """Let the outputs of a window be computed by `part`; the net may lose its order."""
    first = net.size[0]
    inputs = part.inputs
    for node in range(1 + inputs, part.size[0]):
        new = net.size[0]
        net.op[new] = part.op[node]
        net.size[0] = new + 1
        a, b = part.a[node], part.b[node]
        net.a[new] = leaves[a - 1] if a <= inputs else first + a - 1 - inputs
        net.b[new] = leaves[b - 1] if b <= inputs else first + b - 1 - inputs
    for output in range(part.outputs.shape[0]):
        literal = part.outputs[output]
        node = literal >> 1
        old = leaves[count + output]
        net.op[old] = 12 if literal & 1 else 3
        if node == 0:
            read = 0
        elif node <= inputs:
            read = leaves[node - 1]
        else:
            read = first + node - 1 - inputs
        net.a[old] = read
        net.b[old] = read
