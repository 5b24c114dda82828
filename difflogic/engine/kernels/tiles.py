"""One step of one tile of cells, forward and backward."""

from __future__ import annotations

from difflogic.engine.kernels.primitives import (
    gates_backward,
    gates_forward,
    runs_backward,
    runs_forward,
    stars_backward,
    stars_forward,
)
from difflogic.jit import borrowing_kernel, inlined, part


@borrowing_kernel
def run_forward(code, coefficients, tile, lanes):
    """Evaluate all gates of a tile whose input rows are filled."""
    if lanes == 16:
        stars_forward((tile, code.stars, coefficients), 16)
        runs_forward((tile, code.runs, coefficients), 16)
        gates_forward((tile, code.gates, coefficients), 16)
    elif lanes == 32:
        stars_forward((tile, code.stars, coefficients), 32)
        runs_forward((tile, code.runs, coefficients), 32)
        gates_forward((tile, code.gates, coefficients), 32)
    else:
        stars_forward((tile, code.stars, coefficients), 64)
        runs_forward((tile, code.runs, coefficients), 64)
        gates_forward((tile, code.gates, coefficients), 64)


@borrowing_kernel
def run_backward(code, coefficients, tile, grad, sums, scratch, lanes):
    """Walk a tile's gates back: from `grad`'s output rows to its input rows, and to `sums`."""
    if lanes == 16:
        gates_backward((tile, code.gates, coefficients, grad, sums), 16)
        runs_backward((tile, code.runs, coefficients, grad, sums), 16)
        stars_backward((tile, code.stars, coefficients, grad, sums, scratch), 16)
    elif lanes == 32:
        gates_backward((tile, code.gates, coefficients, grad, sums), 32)
        runs_backward((tile, code.runs, coefficients, grad, sums), 32)
        stars_backward((tile, code.stars, coefficients, grad, sums, scratch), 32)
    else:
        gates_backward((tile, code.gates, coefficients, grad, sums), 64)
        runs_backward((tile, code.runs, coefficients, grad, sums), 64)
        stars_backward((tile, code.stars, coefficients, grad, sums, scratch), 64)


@inlined
def sight(layout, tile_index, neighbor):
    """Return where a neighbour of a tile's first cell is, which lanes to mend, and their number."""
    start, lanes = layout.tile_start[tile_index], layout.tile_lanes[tile_index]
    return (
        layout.lead + start + layout.shifts[neighbor], layout.mend_start[tile_index, neighbor],
        layout.mend_start[tile_index, neighbor + 1], min(lanes, layout.cells - start), lanes,
    )  # fmt: skip


@inlined
def gather_row(row, layout, seen, target):
    """Copy what a neighbour of each of a tile's cells has in `row` (stride,), to the lanes.

    `seen` says which neighbour of which tile, as found by `sight`.
    """
    first, mend, mend_end, count, lanes = seen
    # Slices, since numba cannot vectorise an index that it must check for a sign.
    shifted = row[first : first + lanes]
    for i in range(lanes):
        target[i] = shifted[i]
    for m in range(mend, mend_end):
        target[layout.mend_lane[m]] = row[layout.mend_source[m]]
    for i in range(count, lanes):
        target[i] = 0.0


@part
def gather(source, layout, tile_index, channels, rows):
    """Copy the neighbours of a tile's cells to rows n·C + c, for neighbour n and channel c.

    `source` is a state (C, stride), or the gradient that the cells' inputs left (9·C, stride);
    the latter is walked from the other side: what neighbour 8 - n of a cell is to the
    cell, the cell is to it. Most lanes are one shifted copy; the rest are mended one by one.
    """
    mirrored = source.shape[0] != channels
    apart = channels if mirrored else 0
    lanes = layout.tile_lanes[tile_index]
    for n in range(9):
        neighbor = 8 - n if mirrored else n
        seen = sight(layout, tile_index, neighbor)
        for c in range(channels):
            target = rows[(n * channels + c) * lanes : (n * channels + c + 1) * lanes]
            gather_row(source[n * apart + c], layout, seen, target)


@inlined
def tile_forward(code, coefficients, layout, tile_index, state, mask, new_state, values):
    """Advance a tile's cells by one step: `state` to `new_state`, both (C, stride).

    `mask` is (cells,), 1 where a cell takes its new state, or empty if all do.
    """
    gather(state, layout, tile_index, state.shape[0], values)
    lanes = layout.tile_lanes[tile_index]
    run_forward(code, coefficients, values, lanes)
    for c in range(state.shape[0]):
        computed = values[code.outputs[c] * lanes : (code.outputs[c] + 1) * lanes]
        keep_or_update(computed, layout, tile_index, mask, state[c], new_state[c])


@inlined
def keep_or_update(computed, layout, tile_index, mask, state, new_state):
    """Write one channel of a tile's cells: what was computed, or the old value by the mask."""
    start, lanes = layout.tile_start[tile_index], layout.tile_lanes[tile_index]
    count = min(lanes, layout.cells - start)
    first = layout.lead + start
    old, new = state[first : first + count], new_state[first : first + count]
    if len(mask) == 0:
        for i in range(count):
            new[i] = computed[i]
    else:
        updated = mask[start : start + count]
        for i in range(count):
            new[i] = computed[i] if updated[i] else old[i]


@inlined
def channel_gradient(c, step, layout, tile_index, grad, kept, target):
    """Put dL/d(new state) of one channel of a tile's cells into the row `target`.

    What the step after left stands gathered in the input rows of `grad`. A masked cell's gradient
    is left in `kept` instead.
    """
    start, lanes = layout.tile_start[tile_index], layout.tile_lanes[tile_index]
    count = min(lanes, layout.cells - start)
    first = layout.lead + start
    channels, mask = step.state.shape[0], step.mask
    total = kept[c * lanes : (c + 1) * lanes]
    total[:] = 0.0
    if step.supervised:
        given = step.loss_gradient[c, first : first + lanes]
        for i in range(lanes):
            total[i] = given[i] if i < count else 0.0
    if not step.last:
        for n in range(9):
            part = grad[(n * channels + c) * lanes : (n * channels + c + 1) * lanes]
            for i in range(lanes):
                total[i] += part[i]
    if len(mask) == 0:
        for i in range(lanes):
            target[i] = total[i]
    else:
        # A cell that kept its old state hands its gradient straight to it.
        target[:] = 0.0
        updated = mask[start : start + count]
        for i in range(count):
            if updated[i]:
                target[i], total[i] = total[i], 0.0


@inlined
def tile_backward(program, coefficients, layout, tile_index, step, sums, workspace):
    """Take the gradient of one step of a tile's cells back to the inputs of that step.

    dL/d(new state) is the sum of the step's `loss_gradient`, if the new state is `supervised`, and
    of what the step after left `upstream`, if there is one. This step's goes `downstream`, and what
    its gates' logits need is added to `sums` (parameters · 4).
    """
    start, lanes = layout.tile_start[tile_index], layout.tile_lanes[tile_index]
    count = min(lanes, layout.cells - start)
    first = layout.lead + start
    channels = step.state.shape[0]
    code, mask = program.backward, step.mask
    values, grad, kept = workspace.values, workspace.gradients, workspace.kept
    gather(step.state, layout, tile_index, channels, values)
    run_forward(code, coefficients, values, lanes)

    if not step.last:
        # The input rows of the gradient tile are free until the backward walk stores to them.
        gather(step.upstream, layout, tile_index, channels, grad)
    for c in range(channels):
        # Gathered before any output row is written: the two never share rows (program.py).
        target = grad[code.grad_outputs[c] * lanes : (code.grad_outputs[c] + 1) * lanes]
        channel_gradient(c, step, layout, tile_index, grad, kept, target)
    for row in program.zero_rows:
        grad[row * lanes : (row + 1) * lanes] = 0.0

    run_backward(code, coefficients, values, grad, sums, workspace.scratch, lanes)

    for r in range(9 * channels):
        target = step.downstream[r, first : first + count]
        found = grad[r * lanes : r * lanes + count]
        for i in range(count):
            target[i] = found[i]
    if len(mask) != 0:
        for c in range(channels):
            target = step.downstream[4 * channels + c, first : first + count]
            unchanged = kept[c * lanes : c * lanes + count]
            for i in range(count):
                target[i] += unchanged[i]
