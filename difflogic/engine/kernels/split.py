"""How several workers share one tile's gates: split layers.

The workers of a tile are its parts; together they are one team, which takes pieces of work as one
worker does otherwise. Part 0 leads: it takes the piece, and its tiles of values and gradients are
everybody's. SplitCode says who computes what, and when the parts must meet.
"""

from __future__ import annotations

from difflogic.engine.kernels.pipeline import next_piece
from difflogic.engine.kernels.primitives import (
    atomic_load,
    pulls_backward,
    runs_forward,
    sums_backward,
)
from difflogic.engine.kernels.shares import share_by
from difflogic.engine.kernels.structures import TARGET_ROW
from difflogic.engine.kernels.teams import ABORTED, CHUNK, FINISHED, GROUP, PHASE, STEP, meet
from difflogic.engine.kernels.tiles import (
    gather,
    hand_on,
    keep_gradients,
    leave,
    new_state_gradients,
    update,
)
from difflogic.system.jit import borrowing_kernel, part


@part
def meet_parts(seat, workspace):
    """Wait for the other parts."""
    meet(seat.control, seat.place, seat.split.parts, workspace.cursor)


@part
def share_of(seat, rows):
    """Return which of `rows` rows are a part's: the first, and the end."""
    part, parts = seat.part, seat.split.parts
    return part * rows // parts, (part + 1) * rows // parts


@part
def evaluate_part(seat, coefficients, values, lanes, workspace):
    """Evaluate a tile's gates, stage by stage, with the other parts; all have met after it."""
    part, split = seat.part, seat.split
    for stage in range(split.gate_bounds.shape[0]):
        first, end = split.gate_bounds[stage, part], split.gate_bounds[stage, part + 1]
        runs_forward((values, split.gates[first:end], coefficients), lanes)
        meet_parts(seat, workspace)


@part
def tile_forward_part(problem, coefficients, tile_index, state, mask, new_state, workspace, seat):
    """Do one part of what tile_forward does."""
    layout, channels, values = problem.layout, state.shape[0], seat.leader.values
    first, end = share_of(seat, channels)
    gather(state, layout, tile_index, channels, first, end, values, first, channels)
    meet_parts(seat, workspace)
    evaluate_part(seat, coefficients, values, layout.tile_lanes[tile_index], workspace)
    outputs = seat.split.outputs
    update(values, outputs, first, end, layout, tile_index, mask, state, new_state)


@part
def tile_backward_part(problem, coefficients, tile_index, step, sums, workspace, seat):
    """Do one part of what tile_backward does."""
    part, split, layout = seat.part, seat.split, problem.layout
    channels, lanes = step.state.shape[0], layout.tile_lanes[tile_index]
    values, grad, kept = seat.leader.values, seat.leader.gradients, seat.leader.kept
    inputs = problem.program.inputs
    first, end = share_of(seat, channels)
    gather(step.state, layout, tile_index, channels, first, end, values, first, channels)
    if not step.last:
        # The gradient tile's input rows are free until the last stage.
        gather(step.upstream, layout, tile_index, channels, first, end, grad, first, channels)
    new_state_gradients(
        first,
        end,
        step,
        layout,
        tile_index,
        first,
        channels,
        split.grad_outputs,
        inputs,
        grad,
        kept,
    )
    hand_on(first, end, split.outputs, split.grad_outputs, grad, lanes)
    meet_parts(seat, workspace)
    evaluate_part(seat, coefficients, values, lanes, workspace)
    last = split.target_bounds.shape[0] - 1
    for stage in range(last + 1):
        if stage:
            meet_parts(seat, workspace)
        first, end = split.target_bounds[stage, part], split.target_bounds[stage, part + 1]
        pulls_backward((values, split.targets[first:end], split.pulls, coefficients, grad), lanes)
    # A part's rows are listed one by one, and leave one by one what it may add to.
    for index in range(first, end):
        r = split.targets[index, TARGET_ROW]
        leave(grad, inputs, r, r + 1, layout, tile_index, step.downstream)
        if r // channels == 4:
            keep_gradients(r % channels, r % channels + 1, step, layout, tile_index, kept)
    first, end = split.sum_bounds[0, part], split.sum_bounds[0, part + 1]
    sums_backward((values, split.sums[first:end], grad, sums), lanes)
    # Nobody begins another tile while others read this one's rows.
    meet_parts(seat, workspace)


@part
def next_together(worker, problem, groups, span, control, cursor, seat):
    """Move a part's cursor to the next piece that its team takes; return whether there is one."""
    parts = seat.split.parts
    # All parts are done with the piece before.
    meet(control, seat.place, parts, cursor)
    team_cursor = seat.leader.cursor
    if seat.part == 0 and not next_piece(
        worker // parts, problem, groups, span, control, cursor, seat
    ):
        cursor[PHASE] = FINISHED
    meet(control, seat.place, parts, cursor)
    if team_cursor[PHASE] == FINISHED or atomic_load(control, ABORTED) != 0:
        return False
    for place in (GROUP, STEP, CHUNK):
        cursor[place] = team_cursor[place]
    return True


_share = share_by(next_together, tile_forward_part, tile_backward_part)


@borrowing_kernel
def train_by_gates(worker, problem, batch, span, control, workspace, seat):
    """Do one worker's share of a training step; each team's workers share its tiles' gates.

    `problem.team` counts teams as workers.
    """
    workers = problem.team.workers * seat.split.parts
    _share(seat.part == 0, worker, workers, problem, batch, span, control, workspace, seat)
