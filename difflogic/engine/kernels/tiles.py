"""One step of one tile of cells, forward and backward."""

from __future__ import annotations

from difflogic.engine.kernels.primitives import (
    Neighbor,
    gates_backward,
    gates_forward,
    rows_added,
    rows_left,
    rows_seen,
    runs_backward,
    runs_forward,
    stars_backward,
    stars_forward,
)
from difflogic.engine.kernels.structures import TilePlace
from difflogic.system.jit import borrowing_kernel, part

BLOCK = 16
"""Channels whose gradients from all nine neighbours are gathered at a time: their rows of 64 lanes
take at most 37 kB of the first-level cache."""


@borrowing_kernel
def run_forward(code, coefficients, workspace, lanes):
    """Evaluate all gates of a worker's tile; its input rows are already filled."""
    tile = workspace.values
    stars_forward((tile, code.stars, coefficients, workspace.scratch), lanes)
    runs_forward((tile, code.runs, coefficients), lanes)
    gates_forward((tile, code.gates, coefficients), lanes)


@borrowing_kernel
def run_backward(code, coefficients, workspace, sums, lanes):
    """Take a tile's gradients from its output rows back to its input rows and `sums`."""
    tile = workspace.values
    grad = workspace.gradients
    gates_backward((tile, code.gates, coefficients, grad, sums), lanes)
    runs_backward((tile, code.runs, coefficients, grad, sums), lanes)
    stars_backward((tile, code.stars, coefficients, grad, sums, workspace.scratch), lanes)


@part
def tile_at(layout, index):
    """Return where a tile lies."""
    start = layout.tile_start[index]
    lanes = layout.tile_lanes[index]
    return TilePlace(
        layout, index, start, lanes, min(lanes, layout.cells - start), layout.lead + start
    )


@part
def gather(source, tile, mirrored, channels, rows):
    """Copy what a tile's cells see of `channels`, (first, end), to `rows`, neighbour by neighbour.

    Most lanes are one shifted copy; the others are corrected one by one. `source` is a state
    (C, stride) or, if `mirrored`, the gradients that the cells' inputs left (9·C, stride).
    Gradients are gathered from the other side: if A is neighbour 8 - n of B, then B is neighbour n
    of A.
    """
    layout = tile.layout
    (first, end) = channels
    count = end - first
    arrays = (rows, source, layout.correction_lane, layout.correction_source)
    for n in range(9):
        neighbor = 8 - n if mirrored else n
        row = n * (source.shape[0] // 9) + first if mirrored else first
        correction = layout.correction_start[tile.index, neighbor]
        correction_end = layout.correction_start[tile.index, neighbor + 1]
        place = tile.place + layout.shifts[neighbor]
        seen = Neighbor(place, correction, correction_end, tile.count, row, count, n * count)
        rows_seen(arrays, seen, tile.lanes)


@part
def write_rows(values, numbers, tile, target):
    """Copy the rows that `numbers` lists to those of a grid."""
    if tile.count < tile.lanes:
        for r in range(len(numbers)):
            left = target[r, tile.place : tile.place + tile.count]
            row = values[numbers[r] * tile.lanes :]
            for i in range(tile.count):
                left[i] = row[i]
    else:
        rows_left((values, target, numbers), (len(numbers), tile.place), tile.lanes)


@part
def tile_forward(problem, tile, step, workspace):
    """Advance a tile's cells by one step; masked cells keep their old state."""
    code = problem.program.forward
    values = workspace.values
    gather(step.state, tile, False, (0, step.state.shape[0]), values)
    run_forward(code, step.coefficients, workspace, tile.lanes)
    if len(step.mask) == 0:
        write_rows(values, code.outputs, tile, step.new_state)
        return
    count = tile.count
    place = tile.place
    updated = step.mask[tile.start : tile.start + count]
    for c in range(len(code.outputs)):
        row = code.outputs[c] * tile.lanes
        computed = values[row : row + count]
        old = step.state[c, place : place + count]
        new = step.new_state[c, place : place + count]
        for i in range(count):
            new[i] = computed[i] if updated[i] else old[i]


@part
def new_state_gradients(channels, step, tile, numbers, workspace):
    """Write dL/d(new state) of `channels`, (first, end), of a tile's cells to their rows.

    The gradients that neighbour n of the cells left in the next step are in the rows from n times
    the number of channels of the gradient tile. `numbers` are the outputs' rows and the inputs'. A
    masked cell's gradient goes to `kept` instead.
    """
    (first, end) = channels
    (outputs, inputs) = numbers
    grad = workspace.gradients
    kept = workspace.kept
    mask = step.mask
    lanes = tile.lanes
    count = tile.count
    place = tile.place
    masked = len(mask) != 0
    totals = kept if masked else grad
    numbers = inputs if masked else outputs
    if step.supervised:
        for c in range(first, end):
            given = step.loss_gradient[c, place : place + lanes]
            total = totals[numbers[c] * lanes : (numbers[c] + 1) * lanes]
            for i in range(lanes):
                total[i] = given[i] if i < count else 0.0
    readers = 0 if step.last else 9
    rows_added((totals, grad, numbers), (first, end, readers, step.supervised), lanes)
    if masked:
        updated = mask[tile.start : tile.start + count]
        for c in range(first, end):
            # A cell that kept its old state passes its gradient straight to that state.
            target = grad[outputs[c] * lanes : (outputs[c] + 1) * lanes]
            total = kept[c * lanes : (c + 1) * lanes]
            target[:] = 0.0
            for i in range(count):
                if updated[i]:
                    target[i], total[i] = total[i], 0.0


@part
def pass_on(code, inputs, grad, lanes):
    """Pass to the `inputs` rows the gradients of the channels that copy them.

    The next state of a held or moving channel is an input row, and several may copy the same one.
    """
    for c in range(len(code.outputs)):
        row = code.outputs[c]
        copied = False
        if row < inputs:
            for before in range(c):
                copied |= code.outputs[before] == row
            given = grad[code.grad_outputs[c] * lanes :]
            total = grad[row * lanes :]
            for i in range(lanes):
                total[i] = total[i] + given[i] if copied else given[i]


@part
def tile_backward(problem, tile, step, sums, workspace):
    """Take the gradient of one step of a tile's cells back to the inputs of that step.

    dL/d(new state) is the sum of the step's `loss_gradient`, if the new state is `supervised`, and
    of the next step's gradients `upstream`, if there is a next step. Writes this step's gradients
    to `downstream`, and adds each gate's sums to `sums` (parameters · 4).
    """
    program = problem.program
    lanes = tile.lanes
    channels = step.state.shape[0]
    code = program.backward
    grad = workspace.gradients
    gather(step.state, tile, False, (0, channels), workspace.values)
    run_forward(code, step.coefficients, workspace, lanes)

    numbers = (code.grad_outputs, program.inputs)
    for first in range(0, channels, BLOCK):
        block = (first, min(first + BLOCK, channels))
        if not step.last:
            # The gradient tile's input rows are free until the backward walk writes them. Outputs
            # never share them (program.py).
            gather(step.upstream, tile, True, block, grad)
        new_state_gradients(block, step, tile, numbers, workspace)
    pass_on(code, len(program.inputs), grad, lanes)
    for row in program.zero_rows:
        grad[row * lanes : (row + 1) * lanes] = 0.0

    run_backward(code, step.coefficients, workspace, sums, lanes)

    write_rows(grad, program.inputs, tile, step.downstream)
    if len(step.mask) == 0:
        return
    # Add the gradients of masked cells to those of their own states as inputs.
    count = tile.count
    place = tile.place
    for c in range(channels):
        target = step.downstream[4 * channels + c, place : place + count]
        unchanged = workspace.kept[c * lanes : c * lanes + count]
        for i in range(count):
            target[i] += unchanged[i]
