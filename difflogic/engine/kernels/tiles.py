"""One step of one tile of cells, forward and backward."""

from __future__ import annotations

from difflogic.engine.kernels.primitives import (
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
from difflogic.engine.kernels.teams import PERCEPTION, UPDATE, trace_begin, trace_part
from difflogic.system.jit import borrowing_kernel, part

BLOCK = 16
"""Channels whose gradients from all nine neighbours are gathered at a time: their rows of 64 lanes
take at most 37 kB of the first-level cache."""


@borrowing_kernel
def run_forward(code, coefficients, workspace, lanes):
    """Evaluate all gates of a worker's tile; its input rows are already filled."""
    tile, since = workspace.values, trace_begin(workspace.trace)
    stars_forward((tile, code.stars, coefficients), lanes)
    runs_forward((tile, code.runs, coefficients), lanes)
    since = trace_part(workspace, PERCEPTION, since)
    gates_forward((tile, code.gates, coefficients), lanes)
    trace_part(workspace, UPDATE, since)


@borrowing_kernel
def run_backward(code, coefficients, workspace, sums, lanes):
    """Take a tile's gradients from its output rows back to its input rows and `sums`."""
    tile, grad, since = workspace.values, workspace.gradients, trace_begin(workspace.trace)
    gates_backward((tile, code.gates, coefficients, grad, sums), lanes)
    since = trace_part(workspace, UPDATE, since)
    runs_backward((tile, code.runs, coefficients, grad, sums), lanes)
    stars_backward((tile, code.stars, coefficients, grad, sums, workspace.scratch), lanes)
    trace_part(workspace, PERCEPTION, since)


@part
def _see(tile, source, layout, tile_index, neighbor, row, rows, to):
    """Copy one neighbour's values of a tile's cells, in `rows` rows, to the tile's rows from `to`.

    Most lanes are one shifted copy; the others are corrected one by one.
    """
    start, lanes = layout.tile_start[tile_index], layout.tile_lanes[tile_index]
    first = layout.lead + start + layout.shifts[neighbor]
    correction = layout.correction_start[tile_index, neighbor]
    correction_end = layout.correction_start[tile_index, neighbor + 1]
    count = min(lanes, layout.cells - start)
    arrays = (tile, source, layout.correction_lane, layout.correction_source)
    rows_seen(arrays, (first, correction, correction_end, count, row, rows, to), lanes)


@part
def gather(source, layout, tile_index, channels, first, end, rows, to, apart):
    """Copy what a tile's cells see of channels `first` to before `end` to some rows.

    What neighbour n holds goes to the rows from n·apart + to. `source` is a state (C, stride), or
    the gradients that the cells' inputs left (9·C, stride). Gradients are gathered from the other
    side: if A is neighbour 8 - n of B, then B is neighbour n of A.
    """
    mirrored = source.shape[0] != channels
    for n in range(9):
        neighbor = 8 - n if mirrored else n
        row = n * channels + first if mirrored else first
        _see(rows, source, layout, tile_index, neighbor, row, end - first, n * apart + to)


@part
def write_rows(tile, numbers, first, end, layout, tile_index, target):
    """Copy the rows of a tile that `numbers` lists from `first` to before `end` to those of a
    grid.
    """
    start, lanes = layout.tile_start[tile_index], layout.tile_lanes[tile_index]
    place, count = layout.lead + start, layout.cells - start
    if count < lanes:
        for r in range(first, end):
            left, row = target[r, place : place + count], tile[numbers[r] * lanes :]
            for i in range(count):
                left[i] = row[i]
    else:
        rows_left((tile, target, numbers), (first, end, place), lanes)


@part
def tile_forward(problem, coefficients, tile_index, state, mask, new_state, workspace):
    """Advance a tile's cells by one step: `state` to `new_state`, both (C, stride).

    `mask` is (cells,), 1 where a cell takes its new state, or empty if all do.
    """
    layout, code, values = problem.layout, problem.program.forward, workspace.values
    channels = state.shape[0]
    gather(state, layout, tile_index, channels, 0, channels, values, 0, channels)
    run_forward(code, coefficients, workspace, layout.tile_lanes[tile_index])
    update(values, code.outputs, 0, channels, layout, tile_index, mask, state, new_state)


@part
def update(values, outputs, first, end, layout, tile_index, mask, state, new_state):
    """Write channels `first` to before `end` of a tile's cells; masked cells keep their old
    state.
    """
    if len(mask) == 0:
        write_rows(values, outputs, first, end, layout, tile_index, new_state)
        return
    start, lanes = layout.tile_start[tile_index], layout.tile_lanes[tile_index]
    count = min(lanes, layout.cells - start)
    place = layout.lead + start
    updated = mask[start : start + count]
    for c in range(first, end):
        computed = values[outputs[c] * lanes : outputs[c] * lanes + count]
        old, new = state[c, place : place + count], new_state[c, place : place + count]
        for i in range(count):
            new[i] = computed[i] if updated[i] else old[i]


@part
def new_state_gradients(
    first, end, step, layout, tile_index, part, apart, outputs, inputs, grad, kept
):
    """Write dL/d(new state) of channels `first` to before `end` of a tile's cells to their rows.

    The gradients that neighbour n of the cells left in the next step are in the rows from n·apart +
    part of the gradient tile. A masked cell's gradient goes to `kept` instead.
    """
    start, lanes = layout.tile_start[tile_index], layout.tile_lanes[tile_index]
    count = min(lanes, layout.cells - start)
    place = layout.lead + start
    mask = step.mask
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
    rows_added((totals, grad, numbers), (first, end, readers, part, apart, step.supervised), lanes)
    if masked:
        updated = mask[start : start + count]
        for c in range(first, end):
            # A cell that kept its old state passes its gradient straight to that state.
            target = grad[outputs[c] * lanes : (outputs[c] + 1) * lanes]
            total = kept[c * lanes : (c + 1) * lanes]
            target[:] = 0.0
            for i in range(count):
                if updated[i]:
                    target[i], total[i] = total[i], 0.0


@part
def pass_on(first, end, outputs, grad_outputs, grad, lanes):
    """Pass the gradients of held channels among `first` to before `end` to their inputs.

    Only held channels have an input as their next state.
    """
    inputs = 9 * len(outputs)
    for c in range(first, end):
        if outputs[c] < inputs:
            given, total = grad[grad_outputs[c] * lanes :], grad[outputs[c] * lanes :]
            for i in range(lanes):
                total[i] = given[i]


@part
def tile_backward(problem, coefficients, tile_index, step, sums, workspace):
    """Take the gradient of one step of a tile's cells back to the inputs of that step.

    dL/d(new state) is the sum of the step's `loss_gradient`, if the new state is `supervised`, and
    of the next step's gradients `upstream`, if there is a next step. Writes this step's gradients
    to `downstream`, and adds each gate's sums to `sums` (parameters · 4).
    """
    layout, program = problem.layout, problem.program
    lanes, channels = layout.tile_lanes[tile_index], step.state.shape[0]
    code = program.backward
    values, grad, kept = workspace.values, workspace.gradients, workspace.kept
    gather(step.state, layout, tile_index, channels, 0, channels, values, 0, channels)
    run_forward(code, coefficients, workspace, lanes)

    for first in range(0, channels, BLOCK):
        end = min(first + BLOCK, channels)
        if not step.last:
            # The gradient tile's input rows are free until the backward walk writes them. Outputs
            # never share them (program.py).
            gather(step.upstream, layout, tile_index, channels, first, end, grad, 0, end - first)
        outputs, inputs, apart = code.grad_outputs, program.inputs, end - first
        new_state_gradients(
            first, end, step, layout, tile_index, 0, apart, outputs, inputs, grad, kept
        )
    pass_on(0, channels, code.outputs, code.grad_outputs, grad, lanes)
    for row in program.zero_rows:
        grad[row * lanes : (row + 1) * lanes] = 0.0

    run_backward(code, coefficients, workspace, sums, lanes)

    write_rows(grad, program.inputs, 0, 9 * channels, layout, tile_index, step.downstream)
    keep_gradients(0, channels, step, layout, tile_index, kept)


@part
def keep_gradients(first, end, step, layout, tile_index, kept):
    """Add the gradients of masked cells to those of their own states as inputs."""
    if len(step.mask) == 0:
        return
    start, lanes = layout.tile_start[tile_index], layout.tile_lanes[tile_index]
    count = min(lanes, layout.cells - start)
    place, center = layout.lead + start, 4 * step.state.shape[0]
    for c in range(first, end):
        target = step.downstream[center + c, place : place + count]
        unchanged = kept[c * lanes : c * lanes + count]
        for i in range(count):
            target[i] += unchanged[i]
