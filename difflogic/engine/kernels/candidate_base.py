"""The circuit that candidates of a search differ from: its gates, its readers, all its values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.engine.kernels.hard import ones
from difflogic.jit import kernel

ABSENT = -1
"""Stands for a node that is not there."""


class Base(NamedTuple):
    """The circuit that candidates differ from, as far as any of them can matter.

    Its nodes are the inputs that are read, then gates in topological order. A gate that passes an
    input on shares the values of the node that it passes on, its `slot`; readers name that node
    directly, so that values never travel through chains of pass-throughs.
    """

    a: np.ndarray  # int32 (nodes,): the node that the first input's value comes from; inputs: 0
    b: np.ndarray  # int32 (nodes,)
    op: np.ndarray  # uint8 (nodes,)
    outputs: np.ndarray  # int32 (channels,): the node of the next state; ABSENT for dead channels
    slot: np.ndarray  # int32 (nodes,): row of its values
    passes: np.ndarray  # bool (nodes,): whether it is a gate that passes an input on
    cells: np.ndarray  # int32 (inputs,): which neighbour each input is
    channels: np.ndarray  # int32 (inputs,): and which channel of it
    live: np.ndarray  # bool (nodes,): whether counted channels depend on it, through wires and ops
    live_channels: np.ndarray  # bool (channels,)
    reader_start: np.ndarray  # int32 (nodes + 1,): gates whose op reads a node, through chains
    readers: np.ndarray  # int32
    wire_start: np.ndarray  # int32 (nodes + 1,): gates wired to a node, pass-throughs included,
    wires: np.ndarray  # int32: twice the gate, and one more where it is its second input
    exit_start: np.ndarray  # int32 (nodes + 1,): channels whose output is wired to a node
    exits: np.ndarray  # int32
    use_start: np.ndarray  # int32 (parameters + 1,): gates that a parameter is used in
    uses: np.ndarray  # int32


class History(NamedTuple):
    """All values of the base, as packed words, and how wrong it is."""

    values: np.ndarray  # uint64 (steps, slots, words)
    states: np.ndarray  # uint64 (steps + 1, channels, pad + words + pad)
    wrong: np.ndarray  # int64 (counts, loss channels): bits that differ from the target


@kernel
def needed_rows(a, b, param, outputs, inputs, ops, changeable, live, needed):
    """Set `needed` (rows,) for all that some candidate's counted bits may depend on.

    A gate that may be changed (`changeable`, (parameters,)) needs both of its inputs, whatever
    its op. Channels that are read come to life in `live` (channels,).
    """
    gates, channels = len(a), len(outputs)
    growing = True
    while growing:
        growing = False
        for c in range(channels):
            if live[c]:
                needed[outputs[c]] = True
        for g in range(gates - 1, -1, -1):
            if needed[inputs + g]:
                op, free = ops[param[g]], changeable[param[g]]
                if free or (op >> 2) != (op & 3):
                    needed[a[g]] = True
                if free or ((op >> 1) & 5) != (op & 5):
                    needed[b[g]] = True
        for row in range(inputs):
            if needed[row] and not live[row % channels]:
                live[row % channels] = True
                growing = True


@kernel
def table(keys, values, size):
    """Return (starts (size + 1,), values by key), those of a key in their order."""
    start = np.zeros(size + 1, np.int32)
    for key in keys:
        start[key + 1] += 1
    for key in range(size):
        start[key + 1] += start[key]
    place, grouped = start.copy(), np.empty(len(keys), np.int32)
    for i in range(len(keys)):
        grouped[place[keys[i]]] = values[i]
        place[keys[i]] += 1
    return start, grouped


@kernel
def make_base(a, b, param, outputs, inputs, ops, parameters, needed, counted):
    """Return the Base of a netlist with `ops` (parameters,), of the rows that are `needed`.

    `counted` (channels,) are those that the base's live nodes are live for.
    """
    rows, channels = len(needed), len(outputs)
    node = np.full(rows, ABSENT, np.int32)
    nodes = 0
    for row in range(rows):
        if needed[row]:
            node[row] = nodes
            nodes += 1
    na, nb = np.zeros(nodes, np.int32), np.zeros(nodes, np.int32)
    wa, wb = np.zeros(nodes, np.int32), np.zeros(nodes, np.int32)  # not through pass-throughs
    nop = np.zeros(nodes, np.uint8)
    origin = np.arange(nodes).astype(np.int32)  # what a chain of pass-throughs begins with
    slot = np.zeros(nodes, np.int32)
    passes = np.zeros(nodes, np.bool_)
    places = np.flatnonzero(needed[:inputs]).astype(np.int32)
    read = len(places)
    slot[:read] = np.arange(read)
    slots = read
    gates = nodes - read
    reading, reader = np.empty(2 * gates, np.int32), np.empty(2 * gates, np.int32)
    wired, wire = np.empty(2 * gates, np.int32), np.empty(2 * gates, np.int32)
    used, use = np.empty(gates, np.int32), np.empty(gates, np.int32)
    ends, wiring = 0, 0
    for g in range(len(a)):
        own = node[inputs + g]
        if own == ABSENT:
            continue
        op = ops[param[g]]
        nop[own] = op
        used[own - read], use[own - read] = param[g], own
        takes_a = (op >> 2) != (op & 3)
        takes_b = ((op >> 1) & 5) != (op & 5)
        # An ignored input may be gone; the first node stands for it.
        first, second = node[a[g]], node[b[g]]
        if first != ABSENT:
            na[own], wa[own] = origin[first], first
            wired[wiring], wire[wiring] = first, 2 * own
            wiring += 1
        if second != ABSENT:
            nb[own], wb[own] = origin[second], second
            wired[wiring], wire[wiring] = second, 2 * own + 1
            wiring += 1
        if op == 3 or op == 5:
            passes[own] = True
            origin[own] = na[own] if op == 3 else nb[own]
            slot[own] = slot[origin[own]]
            continue
        slot[own] = slots
        slots += 1
        if takes_a:
            reading[ends], reader[ends] = na[own], own
            ends += 1
        if takes_b:
            reading[ends], reader[ends] = nb[own], own
            ends += 1
    out, wired_out = np.full(channels, ABSENT, np.int32), np.zeros(channels, np.int32)
    left, exit = np.empty(channels, np.int32), np.empty(channels, np.int32)
    live = 0
    for c in range(channels):
        if node[outputs[c]] != ABSENT:
            out[c], wired_out[c] = origin[node[outputs[c]]], node[outputs[c]]
            left[live], exit[live] = node[outputs[c]], c
            live += 1
    reader_start, readers = table(reading[:ends], reader[:ends], nodes)
    wire_start, wires = table(wired[:wiring], wire[:wiring], nodes)
    exit_start, exits = table(left[:live], exit[:live], nodes)
    use_start, uses = table(used, use, parameters)
    live, live_channels = np.zeros(nodes, np.bool_), counted.copy()
    channel = places % channels
    spread(wa, wb, nop, wired_out, channel, live, live_channels)
    return (
        Base(
            na, nb, nop, out, slot, passes, places // channels, channel, live, live_channels,
            reader_start, readers, wire_start, wires, exit_start, exits, use_start, uses,
        ),
        slots,
    )  # fmt: skip


@kernel
def spread(a, b, op, outputs, channel, live, live_channels):
    """Set `live` (nodes,) for all that live channels depend on, and the channels that these read.

    `outputs`, `a` and `b` are the nodes that they are wired to, pass-throughs included; `channel`
    is each input's.
    """
    growing = True
    while growing:
        growing = False
        for c in range(len(outputs)):
            if live_channels[c]:
                live[outputs[c]] = True
        for g in range(len(live) - 1, len(channel) - 1, -1):
            if live[g]:
                if (op[g] >> 2) != (op[g] & 3):
                    live[a[g]] = True
                if ((op[g] >> 1) & 5) != (op[g] & 5):
                    live[b[g]] = True
        for i in range(len(channel)):
            if live[i] and not live_channels[channel[i]]:
                live_channels[channel[i]] = True
                growing = True


# Rows are named by array and number: views of them would cost more than what is done to them.


@kernel
def see(cells, states, channel, neighbor, values, row):
    """Write to values[row] what a neighbour of each cell holds in a channel of `states`."""
    words = values.shape[1]
    for w in range(words):
        values[row, w] = np.uint64(0)  # where it lies beyond the edge of every cell
    for s in range(cells.start[neighbor], cells.start[neighbor + 1]):
        place, right = cells.skip[s], cells.shift[s]
        if right:
            left = np.uint64(64) - right
            for w in range(words):
                low, high = states[channel, place + w], states[channel, place + w + 1]
                values[row, w] |= ((low >> right) | (high << left)) & cells.masks[s, w]
        else:
            for w in range(words):
                values[row, w] |= states[channel, place + w] & cells.masks[s, w]


@kernel
def combine(forms, op, xs, x, ys, y, values, row):
    """Write `op` of the rows xs[x] and ys[y] to values[row]."""
    c0, c1, c2, c3 = forms[op, 0], forms[op, 1], forms[op, 2], forms[op, 3]
    for w in range(values.shape[1]):
        # f(a, b) = c0 ⊕ c1·a ⊕ b·(c2 ⊕ c3·a) over bits
        values[row, w] = c0 ^ (c1 & xs[x, w]) ^ (ys[y, w] & (c2 ^ (c3 & xs[x, w])))


@kernel
def unlike(xs, x, ys, y, first, words):
    """Return whether the rows xs[x] and ys[y] differ in the words from `first` on."""
    difference = np.uint64(0)
    for w in range(first, first + words):
        difference |= xs[x, w] ^ ys[y, w]
    return difference != 0


@kernel
def advance(values, row, old, script, step, pad, states, channel):
    """Write a channel's state after a step to `states`, of the same shape as the `old` ones.

    It is values[row] where cells fire, else the old one, and 0 where they are damaged.
    """
    words = values.shape[1]
    if len(script.fires) == 0:
        for w in range(words):
            states[channel, pad + w] = values[row, w]
    else:
        fires = step % len(script.fires)
        for w in range(words):
            held = old[channel, pad + w]
            changed = (held ^ values[row, w]) & script.fires[fires, w]
            states[channel, pad + w] = held ^ changed
    if len(script.keeps) != 0:
        keeps = step % len(script.keeps)
        for w in range(words):
            states[channel, pad + w] &= script.keeps[keeps, w]


@kernel
def count_differing(states, channel, pad, script, counts, place):
    """Return how many counted bits of a channel, the `place`-th that counts, are wrong."""
    total, count = 0, counts % len(script.targets)
    for w in range(len(script.counted)):
        differing = states[channel, pad + w] ^ script.targets[count, place, w]
        total += ones(differing & script.counted[w])
    return total


@kernel
def simulate_base(base, cells, forms, script, steps, history):
    """Fill the History of `base` from history.states[0]."""
    pad, inputs = cells.pad, len(base.channels)
    counts = 0
    for step in range(steps):
        values, old, states = history.values[step], history.states[step], history.states[step + 1]
        for i in range(inputs):
            see(cells, old, base.channels[i], base.cells[i], values, i)
        for g in range(inputs, len(base.slot)):
            if not base.passes[g]:
                x, y = base.slot[base.a[g]], base.slot[base.b[g]]
                combine(forms, base.op[g], values, x, values, y, values, base.slot[g])
        for c in range(len(base.outputs)):
            if base.outputs[c] != ABSENT:
                advance(values, base.slot[base.outputs[c]], old, script, step, pad, states, c)
        if counts < len(script.at) and script.at[counts] == step + 1:
            for i in range(len(script.channels)):
                history.wrong[counts, i] = count_differing(
                    states, script.channels[i], pad, script, counts, i
                )
            counts += 1
