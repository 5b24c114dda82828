"""Circuits that differ from the base in one gate, judged by what the difference reaches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from difflogic.engine.kernels.candidate_base import (
    advance,
    combine,
    count_differing,
    see,
    unlike,
)
from difflogic.engine.kernels.hard import ones
from difflogic.jit import kernel


class Scratch(NamedTuple):
    """What a worker needs to follow one candidate; it leaves `a` to `outputs` as they were."""

    a: np.ndarray  # int32 (nodes,), as in Base
    b: np.ndarray  # int32 (nodes,)
    op: np.ndarray  # uint8 (nodes,)
    outputs: np.ndarray  # int32 (channels,)
    values: np.ndarray  # uint64 (nodes, words): of nodes that differ in this step
    stamp: np.ndarray  # int64 (nodes,): the last step, over all candidates, that they differed in
    clock: np.ndarray  # int64 (1,): the number of such steps
    dirty: np.ndarray  # uint64: a bit for each node, set for those to be evaluated
    states: np.ndarray  # uint64 (2, channels, pad + words + pad): of channels that differ
    differs: np.ndarray  # bool (2, channels)
    matters: np.ndarray  # bool (nodes,): what the candidate's counted bits may depend on
    channels: np.ndarray  # bool (channels,): the same of channels
    reached: np.ndarray  # bool (channels,)
    inputs: np.ndarray  # int32 (inputs,): the inputs that matter
    added: np.ndarray  # int32 (nodes,): nodes that matter to the candidate only
    readers: np.ndarray  # int32: gates whose inputs were rewired, by the use they now read
    reach: np.ndarray  # int32: where in `readers` those of each use begin
    stack: np.ndarray  # int32 (nodes,)


@kernel
def rewire(base, own, gate, found):
    """Let what reads a pass-through, through others or not, read `gate` itself.

    `own` is the worker's Scratch, whose ops are the candidate's: a chain of pass-throughs ends
    where the next is a gate of the same parameter. Its readers join `own.readers` from place
    `found` on; returns where they end.
    """
    top = 1
    own.stack[0] = gate
    while top:
        top -= 1
        link = own.stack[top]
        for i in range(base.exit_start[link], base.exit_start[link + 1]):
            own.outputs[base.exits[i]] = gate
        for i in range(base.wire_start[link], base.wire_start[link + 1]):
            reader, second = base.wires[i] // 2, base.wires[i] % 2
            if base.passes[reader] and own.op[reader] == base.op[reader]:
                if (base.op[reader] == 5) == (second == 1):
                    own.stack[top] = reader
                    top += 1
                continue
            if second:
                own.b[reader] = gate
            else:
                own.a[reader] = gate
            own.readers[found] = reader
            found += 1
    return found


@kernel
def extend(base, own, first, last):
    """Let what the changed gates read now, and did not before, matter, too.

    These are base.uses[first:last]. Returns how many nodes joined, into `own.added`.
    """
    top, added = 0, 0
    inputs = len(base.channels)
    for i in range(first, last):
        if base.live[base.uses[i]]:
            own.stack[top] = base.uses[i]
            top += 1
    while top:
        top -= 1
        node = own.stack[top]
        if not own.matters[node]:
            own.matters[node] = True
            own.added[added] = node
            added += 1
        elif base.live[node] and own.op[node] == base.op[node]:
            continue  # and so does all that it reads
        if node < inputs:
            c = base.channels[node]
            if not own.channels[c]:
                own.channels[c] = True
                if not own.matters[own.outputs[c]]:
                    own.stack[top] = own.outputs[c]
                    top += 1
            continue
        op = own.op[node]
        if (op >> 2) != (op & 3) and not own.matters[own.a[node]]:
            own.stack[top] = own.a[node]
            top += 1
        if ((op >> 1) & 5) != (op & 5) and not own.matters[own.b[node]]:
            own.stack[top] = own.b[node]
            top += 1
    return added


@kernel
def mark(own, gates, first, last):
    """Let those of gates[first:last] that matter be evaluated."""
    for i in range(first, last):
        if own.matters[gates[i]]:
            own.dirty[gates[i] // 64] |= np.uint64(1) << np.uint64(gates[i] % 64)


@kernel
def judge(base, cells, forms, script, steps, history, own, parameter, op, limit):
    """Return how many bits are wrong with `op` for a parameter, and how many gates matter then.

    `own` is the worker's Scratch. Above `limit`, both are only numbers of that kind.
    """
    pad, words = cells.pad, own.values.shape[1]
    values, stamp, slot = own.values, own.stamp, base.slot
    first, last = base.use_start[parameter], base.use_start[parameter + 1]
    for i in range(first, last):
        own.op[base.uses[i]] = op
    found = 0
    for i in range(first, last):
        own.reach[i - first] = found
        if base.passes[base.uses[i]]:
            found = rewire(base, own, base.uses[i], found)
    own.reach[last - first] = found
    added = extend(base, own, first, last)
    inputs = 0
    for i in range(len(base.channels)):
        if own.matters[i]:
            own.inputs[inputs] = i
            inputs += 1
    own.differs[:] = False
    total, counts = 0, 0
    for step in range(steps):
        own.clock[0] += 1
        now, even = own.clock[0], step % 2
        known, was = history.values[step], history.states[step]
        old, states = own.states[even], own.states[1 - even]
        for place in range(inputs):
            i = own.inputs[place]
            c = base.channels[i]
            if own.differs[even, c]:
                see(cells, old, c, base.cells[i], values, i)
                if unlike(values, i, known, i, 0, words):
                    stamp[i] = now
                    mark(own, base.readers, base.reader_start[i], base.reader_start[i + 1])
        mark(own, base.uses, first, last)
        for block in range(len(base.channels) // 64, len(own.dirty)):
            while own.dirty[block]:
                lowest = own.dirty[block] & (~own.dirty[block] + np.uint64(1))
                own.dirty[block] ^= lowest
                g = 64 * block + ones(lowest - np.uint64(1))
                a, b, now_op = own.a[g], own.b[g], own.op[g]
                # Each input as it differs in this step, or else as it is in the base.
                if stamp[a] == now and stamp[b] == now:
                    combine(forms, now_op, values, a, values, b, values, g)
                elif stamp[a] == now:
                    combine(forms, now_op, values, a, known, slot[b], values, g)
                elif stamp[b] == now:
                    combine(forms, now_op, known, slot[a], values, b, values, g)
                else:
                    combine(forms, now_op, known, slot[a], known, slot[b], values, g)
                if unlike(values, g, known, slot[g], 0, words):
                    stamp[g] = now
                    if base.passes[g]:
                        place = 0
                        while base.uses[first + place] != g:
                            place += 1
                        mark(own, own.readers, own.reach[place], own.reach[place + 1])
                    else:
                        mark(own, base.readers, base.reader_start[g], base.reader_start[g + 1])
        for c in range(len(base.outputs)):
            node, differed = own.outputs[c], own.differs[even, c]
            own.differs[1 - even, c] = False
            if not own.channels[c] or not (differed or stamp[node] == now):
                continue
            if stamp[node] == now and differed:
                advance(values, node, old, script, step, pad, states, c)
            elif stamp[node] == now:
                advance(values, node, was, script, step, pad, states, c)
            else:
                advance(known, slot[node], old, script, step, pad, states, c)
            after = history.states[step + 1]
            own.differs[1 - even, c] = unlike(states, c, after, c, pad, words)
        if counts < len(script.at) and script.at[counts] == step + 1:
            for i in range(len(script.channels)):
                c = script.channels[i]
                if own.differs[1 - even, c]:
                    total += count_differing(states, c, pad, script, counts, i)
                else:
                    total += history.wrong[counts, i]
            counts += 1
            if total > limit:
                break
    gates = count_gates(base, own, script.channels) if total <= limit else 0
    for i in range(first, last):
        own.op[base.uses[i]] = base.op[base.uses[i]]
    for i in range(found):
        reader = own.readers[i]
        own.a[reader], own.b[reader] = base.a[reader], base.b[reader]
    own.outputs[:] = base.outputs
    for i in range(added):
        own.matters[own.added[i]] = False
    own.channels[:] = base.live_channels
    return total, gates


@kernel
def count_gates(base, own, counted):
    """Return how many gates the counted channels depend on; pass-throughs are none.

    `own` holds the candidate's ops and wires, and is left as it is but for its stack and stamps.
    """
    own.clock[0] += 1
    now, inputs = own.clock[0], len(base.channels)
    top, gates = 0, 0
    own.reached[:] = False
    for i in range(len(counted)):
        own.reached[counted[i]] = True
        own.stack[top] = own.outputs[counted[i]]
        top += 1
    while top:
        top -= 1
        node = own.stack[top]
        if own.stamp[node] == now:
            continue
        own.stamp[node] = now
        if node < inputs:
            c = base.channels[node]
            if not own.reached[c]:
                own.reached[c] = True
                own.stack[top] = own.outputs[c]
                top += 1
            continue
        op = own.op[node]
        # A changed gate may pass an input on by now; the base's do so where they are not named.
        gates += op != 3 and op != 5
        if (op >> 2) != (op & 3):
            own.stack[top] = own.a[node]
            top += 1
        if ((op >> 1) & 5) != (op & 5):
            own.stack[top] = own.b[node]
            top += 1
    return gates


@kernel
def judge_share(
    base, cells, forms, script, steps, history, own, parameters, ops, limit, first,
    stride, stop, hit, wrong, gates,
):  # fmt: skip
    """Judge every `stride`-th candidate from `first` on, (parameters, ops), into `wrong`.

    Where no more are wrong than `limit`, `gates` is how many the counted channels depend on.
    Workers pass over what comes after a candidate with no more than `stop`: `hit` (1,) is one
    of these, a late one perhaps, as two may write at once; nothing before the first is passed over.
    """
    for i in range(first, len(parameters), stride):
        if i > hit[0]:
            return
        wrong[i], gates[i] = judge(
            base, cells, forms, script, steps, history, own, parameters[i], ops[i], limit
        )
        if wrong[i] <= stop and i < hit[0]:
            hit[0] = i
