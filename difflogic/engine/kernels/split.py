"""How several workers share one tile's gates: split layers.

The workers of a tile are its parts; together they are one team, which takes pieces of work as one
worker of a pipeline does. The part 0 leads: it takes the piece, and its tiles of values and
gradients are everybody's. SplitCode says who computes what, and when the parts must meet.
"""

from __future__ import annotations

from difflogic.engine.kernels.pipeline import next_ready
from difflogic.engine.kernels.primitives import (
    atomic_load,
    flush_denormals,
    now,
    pulls_backward,
    restore_denormals,
    runs_forward,
    sums_backward,
)
from difflogic.engine.kernels.shares import loss_share, step_back
from difflogic.engine.kernels.structures import BACKWARD, FORWARD, LOSS, TARGET_ROW
from difflogic.engine.kernels.teams import (
    ABORTED,
    BEGAN,
    CHUNK,
    ENDED,
    FINISHED,
    GROUP,
    MEETING,
    PHASE,
    STEP,
    WAITED,
    barrier,
    begin,
    count_phase,
    meet,
)
from difflogic.engine.kernels.tiles import (
    gather,
    keep_gradients,
    leave,
    new_state_gradients,
    update,
)
from difflogic.engine.kernels.tracing import CALL, trace_begin, trace_end
from difflogic.system.jit import borrowing_kernel, inlined, part


@part
def run_part(gates, coefficients, tile, lanes):
    """Evaluate some gates of a tile."""
    if lanes == 16:
        runs_forward((tile, gates, coefficients), 16)
    elif lanes == 32:
        runs_forward((tile, gates, coefficients), 32)
    else:
        runs_forward((tile, gates, coefficients), 64)


@part
def pull_part(targets, pulls, coefficients, tile, grad, lanes):
    """Sum up the gradients of some rows of a tile."""
    if lanes == 16:
        pulls_backward((tile, targets, pulls, coefficients, grad), 16)
    elif lanes == 32:
        pulls_backward((tile, targets, pulls, coefficients, grad), 32)
    else:
        pulls_backward((tile, targets, pulls, coefficients, grad), 64)


@part
def sum_part(code, tile, grad, sums, lanes):
    """Add up the gate sums of some gates of a tile."""
    if lanes == 16:
        sums_backward((tile, code, grad, sums), 16)
    elif lanes == 32:
        sums_backward((tile, code, grad, sums), 32)
    else:
        sums_backward((tile, code, grad, sums), 64)


@inlined
def share_of(part, parts, rows):
    """Return which of `rows` rows are one part's: the first, and the end."""
    return part * rows // parts, (part + 1) * rows // parts


@part
def evaluate_part(part, split, coefficients, values, lanes, control, place, cursor):
    """Evaluate a tile's gates, stage by stage, with the other parts; all have met after it."""
    for stage in range(split.gate_bounds.shape[0]):
        first, end = split.gate_bounds[stage, part], split.gate_bounds[stage, part + 1]
        run_part(split.gates[first:end], coefficients, values, lanes)
        meet(control, place, split.parts, cursor)


@part
def tile_forward_part(
    part,
    split,
    coefficients,
    layout,
    tile_index,
    state,
    mask,
    new_state,
    values,
    control,
    place,
    cursor,
):
    """Do one part of what tile_forward does."""
    channels = state.shape[0]
    first, end = share_of(part, split.parts, channels)
    gather(state, layout, tile_index, channels, first, end, values, first, channels)
    meet(control, place, split.parts, cursor)
    lanes = layout.tile_lanes[tile_index]
    evaluate_part(part, split, coefficients, values, lanes, control, place, cursor)
    update(values, split.outputs, first, end, layout, tile_index, mask, state, new_state)


@part
def tile_backward_part(
    part,
    split,
    coefficients,
    layout,
    tile_index,
    step,
    sums,
    leader,
    inputs,
    control,
    place,
    cursor,
):
    """Do one part of what tile_backward does; `leader` has the buffers that all parts share."""
    parts, channels, lanes = split.parts, step.state.shape[0], layout.tile_lanes[tile_index]
    values, grad, kept = leader.values, leader.gradients, leader.kept
    first, end = share_of(part, parts, channels)
    gather(step.state, layout, tile_index, channels, first, end, values, first, channels)
    if not step.last:
        # The gradient tile's input rows are free until the last stage.
        gather(step.upstream, layout, tile_index, channels, first, end, grad, first, channels)
    new_state_gradients(
        first, end, step, layout, tile_index, first, channels, split.outputs, inputs, grad, kept
    )
    meet(control, place, parts, cursor)
    evaluate_part(part, split, coefficients, values, lanes, control, place, cursor)
    last = split.target_bounds.shape[0] - 1
    for stage in range(last):
        first, end = split.target_bounds[stage, part], split.target_bounds[stage, part + 1]
        pull_part(split.targets[first:end], split.pulls, coefficients, values, grad, lanes)
        meet(control, place, parts, cursor)
    first, end = split.target_bounds[last, part], split.target_bounds[last, part + 1]
    pull_part(split.targets[first:end], split.pulls, coefficients, values, grad, lanes)
    # A part's rows are listed one by one, and leave one by one what it may add to.
    for index in range(first, end):
        r = split.targets[index, TARGET_ROW]
        leave(grad, inputs, r, r + 1, layout, tile_index, step.downstream)
        if r // channels == 4:
            keep_gradients(r % channels, r % channels + 1, step, layout, tile_index, kept)
    first, end = split.sum_bounds[0, part], split.sum_bounds[0, part + 1]
    sum_part(split.sums[first:end], values, grad, sums, lanes)
    # Nobody begins another tile while others read this one's rows.
    meet(control, place, parts, cursor)


@part
def lead(worker, problem, groups, span, control, cursor):
    """Move the cursor of a team to its next piece; its PHASE is FINISHED if there is none."""
    if not next_ready(worker, problem, groups, span, control, cursor):
        cursor[PHASE] = FINISHED


@inlined
def follow(part, split, problem, batch, span, control, place, workspace, leader, team):
    """Do one part's share of all pieces that its team takes, one way."""
    layout, groups, cursor = problem.layout, batch.states.shape[0], workspace.cursor
    while True:
        if part == 0:
            lead(team, problem, groups, span, control, cursor)
        meet(control, place, split.parts, cursor)
        at = leader.cursor
        if at[PHASE] == FINISHED or atomic_load(control, ABORTED) != 0:
            break
        group, step, chunk = at[GROUP], at[STEP], at[CHUNK]
        backward = at[0] == BACKWARD
        sums = batch.sums[group, chunk]
        back = step_back(batch, group, step)
        since = trace_begin(workspace.trace)
        if backward and back.last and part == 0:
            sums[:] = 0.0  # the others add to it only after they have met
        for tile in range(layout.chunk_start[chunk], layout.chunk_start[chunk + 1]):
            if backward:
                tile_backward_part(
                    part,
                    split,
                    batch.coefficients,
                    layout,
                    tile,
                    back,
                    sums,
                    leader,
                    problem.program.inputs,
                    control,
                    place,
                    cursor,
                )
            else:
                tile_forward_part(
                    part,
                    split,
                    batch.coefficients,
                    layout,
                    tile,
                    batch.states[group, step],
                    batch.masks[group, step],
                    batch.states[group, step + 1],
                    leader.values,
                    control,
                    place,
                    cursor,
                )
        # A part that does not lead knows the piece by its leader.
        cursor[GROUP], cursor[STEP], cursor[CHUNK] = group, step, chunk
        trace_end(workspace.trace, cursor, BACKWARD if backward else FORWARD, since)
        meet(control, place, split.parts, cursor)


@borrowing_kernel
def train_by_gates(worker, problem, batch, span, control, workspace, leader, split, meetings):
    """Do one worker's share of a training step; each team's workers share its tiles' gates.

    `meetings` is where the teams' barriers are in the control array; `problem.team` has teams for
    workers.
    """
    team, part = worker // split.parts, worker % split.parts
    workers, cursor = problem.team.workers * split.parts, workspace.cursor
    clock = batch.clock[worker]
    place = meetings + team * MEETING
    mode = flush_denormals()
    called = trace_begin(workspace.trace)
    clock[BEGAN] = now()
    for way in (FORWARD, LOSS, BACKWARD):
        if span.parts & way == 0:
            continue
        since, waited = now(), cursor[WAITED]
        if way == LOSS:
            if part == 0:
                loss_share(team, problem, batch, span.in_use)
                trace_end(workspace.trace, cursor, LOSS, since)
        else:
            if part == 0:
                begin(cursor, way)
            follow(part, split, problem, batch, span, control, place, workspace, leader, team)
        barrier(control, workers, cursor)
        count_phase(clock, way, since, waited, cursor)
    clock[ENDED] = now()
    trace_end(workspace.trace, cursor, CALL, called)
    restore_denormals(mode)
