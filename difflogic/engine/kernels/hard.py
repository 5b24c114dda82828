"""Hard circuits: pruned to the gates that matter, and run on 64 cells to a word."""

from __future__ import annotations

import numpy as np

from difflogic.engine.kernels.llvm.words import (
    Advance,
    NeighborView,
    hard_advance,
    hard_gate,
    hard_view,
    ones,
)
from difflogic.engine.kernels.structures import WORDS
from difflogic.system.jit import borrowing_kernel, part


@part
def reads(op, second):
    """Return whether an op depends on its second input, or else its first."""
    # Bits 3 to 0 of an op are its values at (a, b) = 00, 01, 10, 11.
    return ((op >> 1) & 5) != (op & 5) if second else (op >> 2) != (op & 3)


@part
def find_sources(wiring, op, source):
    """Write the row whose value each row has: a pass-through's input, through any chain of them."""
    for row in range(len(op)):
        source[row] = row
        if op[row] == 3:
            source[row] = source[wiring.a[row]]
        elif op[row] == 5:
            source[row] = source[wiring.b[row]]


@part
def reach(marks, top, row):
    """Mark a row and put it on the stack, unless it was marked; return the stack's new height."""
    if marks.live[row]:
        return top
    marks.live[row] = True
    marks.stack[top] = row
    return top + 1


@borrowing_kernel
def spread(wiring, source, op, counted, wanted, marks):
    """Mark all that the states of the `counted` channels and the rows `wanted` ever depend on.

    Each row that is read stands for its `source` (rows,). With the rows that `find_sources` writes,
    pass-throughs are left out; with the rows themselves they count: with another op they would
    matter. `op` (rows,) is 0 for inputs. Returns the number of marked gates, without pass-throughs.
    """
    a = wiring.a
    b = wiring.b
    outputs = wiring.outputs
    inputs = wiring.inputs
    channels = marks.channels
    marks.live[:] = False
    channels[:] = False
    top = 0
    gates = 0
    for i in range(len(counted)):
        channels[counted[i]] = True
        top = reach(marks, top, source[outputs[counted[i]]])
    for i in range(len(wanted)):
        top = reach(marks, top, source[wanted[i]])
    while top:
        top -= 1
        row = marks.stack[top]
        if row < inputs:
            channels[row % len(channels)] = True
            top = reach(marks, top, source[outputs[row % len(channels)]])
            continue
        gates += op[row] != 3 and op[row] != 5
        if reads(op[row], False):
            top = reach(marks, top, source[a[row]])
        if reads(op[row], True):
            top = reach(marks, top, source[b[row]])
    return gates


@borrowing_kernel
def prune(wiring, op, counted, wanted, found):
    """Reduce a hardened netlist to the gates that the `counted` channels' future and the rows
    `wanted` need.

    A pass-through gate becomes its input, and an ignored input is not needed. In the remaining
    gates rows are renumbered: the inputs, then these gates. Afterwards the value of a needed row is
    in row number[source[row]] of `found`. Returns the number of remaining gates.
    """
    source = found.source
    number = found.number
    live = found.marks.live
    code = found.gates
    find_sources(wiring, op, source)
    spread(wiring, source, op, counted, wanted, found.marks)
    kept = 0
    for row in range(len(op)):
        number[row] = row
        if row >= wiring.inputs and live[row]:
            a = source[wiring.a[row]]
            b = source[wiring.b[row]]
            # Row 0 stands for an ignored input, which may not be needed.
            code[kept, 0] = number[a] if live[a] else 0
            code[kept, 1] = number[b] if live[b] else 0
            code[kept, 2] = op[row]
            found.origin[kept] = row - wiring.inputs
            number[row] = wiring.inputs + kept
            kept += 1
    for c in range(len(wiring.outputs)):
        found.outputs[c] = number[source[wiring.outputs[c]]]
    return kept


@part
def fill_tile(run, state, first):
    """Evaluate all gates for the cells of the words from `first` on; see `hard_step`."""
    code = run.code
    cells = run.cells
    tile = run.tile
    stride = state.shape[1]
    words = stride - 2 * cells.pad
    for i in range(len(code.inputs)):
        row = code.inputs[i, 0]
        n = code.inputs[i, 1]
        channel = code.inputs[i, 2]
        place = channel * stride + first
        start = cells.start[n]
        end = cells.start[n + 1]
        hard_view(
            (tile, state, state, cells.skip, cells.shift, cells.masks),
            NeighborView(row * WORDS, 0, place, start, end, first, words, WORDS),
        )
    inputs = len(tile) - len(code.gates)
    for g in range(len(code.gates)):
        a = code.gates[g, 0]
        b = code.gates[g, 1]
        op = code.gates[g, 2]
        hard_gate((tile, cells.forms), (a * WORDS, b * WORDS, op, (inputs + g) * WORDS, WORDS))


@part
def hard_step(run, fires, keeps, state, new_state):
    """Advance bit-packed cells by one step: `state` to `new_state`, both (C, pad + words + pad).

    `fires` and `keeps` are (words,), see HardScript. The number of words is a multiple of WORDS.
    """
    code = run.code
    cells = run.cells
    tile = run.tile
    stride = state.shape[1]
    words = stride - 2 * cells.pad
    for first in range(0, words, WORDS):
        fill_tile(run, state, first)
        for i in range(len(code.channels)):
            place = code.channels[i] * stride + cells.pad + first
            hard_advance(
                (tile, tile, new_state, state, fires, keeps),
                Advance(code.outputs[i] * WORDS, 0, place, 0, place, place, first, first, WORDS),
            )


@part
def count_wrong(script, cells, target, counted, state, wrong):
    """Write to `wrong` (batch,) how many bits, or cells, of each sample differ from `target`.

    Only the cells `counted` count.
    """
    every = ~np.uint64(0)
    for sample in range(len(wrong)):
        start = sample * cells.cells
        last = (sample + 1) * cells.cells - 1
        total = 0
        for w in range(start // 64, last // 64 + 1):
            bits = counted[w]
            if w == start // 64:
                bits &= every << np.uint64(start % 64)
            if w == last // 64:
                bits &= every >> np.uint64(63 - last % 64)
            some = np.uint64(0)
            for i in range(len(script.channels)):
                differing = state[script.channels[i], cells.pad + w] ^ target[i, w]
                some |= differing
                if not script.by_cell:
                    total += ones(differing & bits)
            if script.by_cell:
                total += ones(some & bits)
        wrong[sample] = total


@borrowing_kernel
def hard_rollout(run, script, first, end, wrong):
    """Take the steps from `first` to before `end`, each from one of the states to the next.

    Writes what is wrong of each sample after each of the steps `script.at` to `wrong` (counts,
    batch).
    """
    counts = 0
    while counts < len(script.at) and script.at[counts] <= first:
        counts += 1
    for step in range(first, end):
        fires = script.fires[step % len(script.fires)]
        keeps = script.keeps[step % len(script.keeps)]
        state = run.states[(step + 1) % len(run.states)]
        hard_step(run, fires, keeps, run.states[step % len(run.states)], state)
        if counts < len(script.at) and script.at[counts] == step + 1:
            target = script.targets[counts % len(script.targets)]
            counted = script.counted[counts % len(script.counted)]
            count_wrong(script, run.cells, target, counted, state, wrong[counts])
            counts += 1


@borrowing_kernel
def read_values(run, places, values):
    """Copy some rows of the tile, for all cells before each step, to `values` (steps, rows, words).

    The run keeps the states of all steps. `values` may have more rows.
    """
    for step in range(values.shape[0]):
        for first in range(0, values.shape[2], WORDS):
            fill_tile(run, run.states[step], first)
            for i in range(len(places)):
                for w in range(WORDS):
                    values[step, i, first + w] = run.tile[places[i], w]
