"""Hard circuits: pruned to the gates that matter, and run on 64 cells to a word."""

from __future__ import annotations

import numpy as np

from difflogic.engine.kernels.llvm.words import hard_advance, hard_gate, hard_view, ones
from difflogic.engine.kernels.structures import WORDS
from difflogic.system.jit import borrowing_kernel, part


@part
def reads(op, second):
    """Return whether an op depends on its second input, or else its first."""
    # Bits 3 to 0 of an op are its values at (a, b) = 00, 01, 10, 11.
    return ((op >> 1) & 5) != (op & 5) if second else (op >> 2) != (op & 3)


@borrowing_kernel
def prune(wires, ops, wanted, found):
    """Reduce a hardened netlist to the gates that the `live` channels' future and the rows `wanted`
    need.

    A pass-through gate becomes its input, and an ignored input is not needed. In the remaining
    gates rows are renumbered: the inputs, then these gates. Afterwards the value of a needed row is
    in row number[source[row]] of `found`. Returns the number of remaining gates.
    """
    a, b, param, outputs, inputs = wires.a, wires.b, wires.param, wires.outputs, wires.inputs
    gates, channels, code = len(a), len(outputs), found.gates
    source, number, needed, live = found.source, found.number, found.needed, found.live
    for row in range(inputs + gates):
        source[row], number[row], needed[row] = row, row, False
    for g in range(gates):
        op = ops[param[g]]
        if op == 3:
            source[inputs + g] = source[a[g]]
        elif op == 5:
            source[inputs + g] = source[b[g]]
    for i in range(len(wanted)):
        needed[source[wanted[i]]] = True
    growing = True
    while growing:
        growing = False
        for c in range(channels):
            if live[c]:
                needed[source[outputs[c]]] = True
        for g in range(gates - 1, -1, -1):
            if needed[inputs + g]:
                if reads(ops[param[g]], False):
                    needed[source[a[g]]] = True
                if reads(ops[param[g]], True):
                    needed[source[b[g]]] = True
        for row in range(inputs):
            if needed[row] and not live[row % channels]:
                live[row % channels] = True
                growing = True
    kept = 0
    for g in range(gates):
        if needed[inputs + g]:
            # Row 0 stands for an ignored input, which may not be needed.
            code[kept, 0] = number[source[a[g]]] if needed[source[a[g]]] else 0
            code[kept, 1] = number[source[b[g]]] if needed[source[b[g]]] else 0
            code[kept, 2] = ops[param[g]]
            found.origin[kept] = g
            number[inputs + g] = inputs + kept
            kept += 1
    for c in range(channels):
        found.outputs[c] = number[source[outputs[c]]]
    return kept


@borrowing_kernel
def spread(wiring, op, counted, live, channels, stack):
    """Mark in `live` (rows,) and `channels` all that the `counted` channels depend on.

    `wiring` has `a` and `b` by rows, inputs first, like `op` (rows,). Unlike in `prune`,
    pass-through gates count: with another op they would matter. `live` and `channels` are all False
    before; `stack` (3 * rows,) is scratch.
    """
    a, b, outputs, inputs = wiring.a, wiring.b, wiring.outputs, wiring.inputs
    top = 0
    for i in range(len(counted)):
        channels[counted[i]] = True
        stack[top] = outputs[counted[i]]
        top += 1
    while top:
        top -= 1
        row = stack[top]
        if live[row]:
            continue
        live[row] = True
        if row < inputs:
            c = row % len(channels)
            if not channels[c]:
                channels[c] = True
                stack[top] = outputs[c]
                top += 1
            continue
        if reads(op[row], False):
            stack[top] = a[row]
            top += 1
        if reads(op[row], True):
            stack[top] = b[row]
            top += 1


@part
def fill_tile(run, state, first):
    """Evaluate all gates for the cells of the words from `first` on; see `hard_step`."""
    code, cells, tile, stride = run.code, run.cells, run.tile, state.shape[1]
    words = stride - 2 * cells.pad
    for i in range(len(code.inputs)):
        row, n, channel = code.inputs[i, 0], code.inputs[i, 1], code.inputs[i, 2]
        place, start, end = channel * stride + first, cells.start[n], cells.start[n + 1]
        hard_view(
            (tile, state, state, cells.skip, cells.shift, cells.masks),
            (row * WORDS, 0, place, start, end, first, words, WORDS),
        )
    inputs = len(tile) - len(code.gates)
    for g in range(len(code.gates)):
        a, b, op = code.gates[g, 0], code.gates[g, 1], code.gates[g, 2]
        hard_gate((tile, cells.forms), (a * WORDS, b * WORDS, op, (inputs + g) * WORDS, WORDS))


@part
def hard_step(run, fires, keeps, state, new_state):
    """Advance bit-packed cells by one step: `state` to `new_state`, both (C, pad + words + pad).

    `fires` and `keeps` are (words,), or (WORDS,) if they are the same for all cells, see
    HardScript. The number of words is a multiple of WORDS.
    """
    code, cells, tile, stride = run.code, run.cells, run.tile, state.shape[1]
    words = stride - 2 * cells.pad
    for first in range(0, words, WORDS):
        fill_tile(run, state, first)
        fire = first if len(fires) == words else 0
        keep = first if len(keeps) == words else 0
        for i in range(len(code.channels)):
            place = code.channels[i] * stride + cells.pad + first
            hard_advance(
                (tile, tile, new_state, state, fires, keeps),
                (code.outputs[i] * WORDS, 0, place, 0, place, place, fire, keep, WORDS),
            )


@part
def count_wrong(script, cells, target, counted, state, wrong):
    """Write to `wrong` (batch,) how many `counted` bits of each sample differ from `target`."""
    every = ~np.uint64(0)
    for sample in range(len(wrong)):
        start, last = sample * cells.cells, (sample + 1) * cells.cells - 1
        total = 0
        for w in range(start // 64, last // 64 + 1):
            bits = counted[w]
            if w == start // 64:
                bits &= every << np.uint64(start % 64)
            if w == last // 64:
                bits &= every >> np.uint64(63 - last % 64)
            for i in range(len(script.channels)):
                differing = state[script.channels[i], cells.pad + w] ^ target[i, w]
                total += ones(differing & bits)
        wrong[sample] = total


@borrowing_kernel
def hard_rollout(run, script, first, end, wrong):
    """Take the steps from `first` to before `end`, each from one of the states to the next.

    Writes the wrong bits of each sample after each of the steps `script.at` to `wrong` (counts,
    batch).
    """
    counts = 0
    while counts < len(script.at) and script.at[counts] <= first:
        counts += 1
    for step in range(first, end):
        fires = script.fires[step % len(script.fires)] if len(script.fires) != 0 else script.every
        keeps = script.keeps[step % len(script.keeps)] if len(script.keeps) != 0 else script.every
        state = run.states[(step + 1) % len(run.states)]
        hard_step(run, fires, keeps, run.states[step % len(run.states)], state)
        if counts < len(script.at) and script.at[counts] == step + 1:
            target = script.targets[counts % len(script.targets)]
            counted = script.counted[counts % len(script.counted)]
            count_wrong(script, run.cells, target, counted, state, wrong[counts])
            counts += 1


@borrowing_kernel
def read_values(run, places, values):
    """Copy some rows of the tile, for all cells before each step, to `values` (rows, steps, words).

    The run keeps the states of all steps.
    """
    for step in range(values.shape[1]):
        for first in range(0, values.shape[2], WORDS):
            fill_tile(run, run.states[step], first)
            for i in range(len(places)):
                for w in range(WORDS):
                    values[i, step, first + w] = run.tile[places[i], w]
