"""Windows, a few gates around a root: taken out of a net and put back."""

from __future__ import annotations

import numpy as np

from difflogic.system.jit import kernel


@kernel
def find_window(net, leaves, limit, root, marks):
    """Find a window around a root: write its leaves to `leaves`; return how many they are.

    The leaves start at what the root reads and move towards the inputs where that adds the fewest
    leaves, up to `limit`. `marks` (3, nodes) tell the leaves, the members, which are gates that
    depend only on them, and what the leaves depend on. No leaf depends on a member.
    """
    leaf = marks[0]
    inside = marks[1]
    below = marks[2]
    size = net.size[0]
    first = 1 + net.inputs
    leaf[:size] = False
    below[:size] = False
    count = 0
    for node in (net.a[root], net.b[root]):
        if not leaf[node]:
            leaf[node] = True
            leaves[count] = node
            count += 1
    inside[:size] = False
    inside[root] = True
    while True:
        best = -1
        best_cost = 3
        found = -1
        for index in range(count):
            node = leaves[index]
            if node < first:
                continue
            cost = -1
            for read in (net.a[node], net.b[node]):
                if not (leaf[read] or inside[read]):
                    cost += 1
            if cost < best_cost or (cost == best_cost and node > best):
                best = node
                best_cost = cost
                found = index
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
    inside[:size] = False
    for node in range(first, size):
        if not (leaf[node] or below[node]):
            a = net.a[node]
            b = net.b[node]
            inside[node] = (leaf[a] or inside[a]) and (leaf[b] or inside[b])
    return count


@kernel
def extract(net, leaves, count, member, place, part):
    """Write the members of a window to the net `part`, whose inputs are the `count` leaves.

    Its outputs are the gates that are read from outside or are outputs; they are appended to
    `leaves`. `place` (nodes,) gets each node's place in `part`. Returns the number of outputs.
    """
    size = net.size[0]
    first = 1 + net.inputs
    read = np.zeros(size, np.bool_)
    for node in range(first, size):
        if not member[node]:
            read[net.a[node]] = True
            read[net.b[node]] = True
    for output in range(net.outputs.shape[0]):
        read[net.outputs[output] >> 1] = True
    for index in range(count):
        place[leaves[index]] = 1 + index
    node_in_part = 1 + count
    outputs = 0
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
    """Compute the outputs of a window by `part`; the net may lose its topological order."""
    first = net.size[0]
    inputs = part.inputs
    for node in range(1 + inputs, part.size[0]):
        new = net.size[0]
        net.op[new] = part.op[node]
        net.size[0] = new + 1
        a = part.a[node]
        b = part.b[node]
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
