"""One worker's share of a training step: rollout, loss and the way back.

Usually a worker computes whole tiles. With split layers several workers share one tile's gates:
they are a team, and each worker is a *part* of it. Part 0 leads: it takes the team's next piece of
work, and all parts use its tiles of values and gradients. SplitCode says which part computes what,
and when the parts wait for each other. A worker that shares no tile has None as its seat.
"""

from __future__ import annotations

import numpy as np

from difflogic.engine.kernels import structures as k
from difflogic.engine.kernels import teams as t
from difflogic.engine.kernels.pipeline import next_piece
from difflogic.engine.kernels.primitives import (
    atomic_load,
    flush_denormals,
    now,
    processor_clock,
    pulls_backward,
    restore_denormals,
    runs_forward,
    sums_backward,
)
from difflogic.engine.kernels.tiles import (
    gather,
    keep_gradients,
    new_state_gradients,
    pass_on,
    tile_at,
    tile_backward,
    tile_forward,
    update,
    write_rows,
)
from difflogic.system.jit import borrowing_kernel, part


@borrowing_kernel
def train(worker, task, workspace):
    """Do one worker's share of a training step.

    One kernel does all parts of the step, because waking threads takes time, and so does compiling
    the tiles' code more than once.
    """
    _share(True, worker, task.problem.team.workers, task, workspace, None)


@borrowing_kernel
def train_by_gates(worker, task, workspace, seat):
    """Do one worker's share of a training step where each team's workers share its tiles' gates.

    The problem's team counts teams as workers.
    """
    workers = task.problem.team.workers * seat.split.parts
    _share(seat.part == 0, worker, workers, task, workspace, seat)


@borrowing_kernel
def reduce_sums(sums, total):
    """Add all slots (groups, slots, parameters · 4) to `total` (parameters · 4), in order."""
    for group in range(sums.shape[0]):
        for place in range(sums.shape[1]):
            slot = sums[group, place]
            for i in range(len(total)):
                total[i] += slot[i]


@part
def _share(leads, worker, workers, task, workspace, seat):
    """Do all parts of a span: the rollout, the loss and the way back."""
    batch = task.batch
    span = task.span
    cursor = workspace.cursor
    clock = task.batch.clock[worker]
    mode = flush_denormals()
    clock[t.BEGAN] = since = now()
    used = processor_clock()
    for way in (k.FORWARD, k.LOSS, k.BACKWARD):
        if span.parts & way == 0:
            continue
        if way == k.LOSS:
            loss_share(worker, workers, task.problem.layout, batch, span.in_use)
        else:
            cursor[: t.TASKS] = 0
            cursor[t.WAY] = way
            while _next(worker, task, cursor, seat):
                _do_chunk(task.problem, batch, workspace, seat, leads)
        t.barrier(task.control, 0, workers, cursor)
        since, used = t.count_phase(clock, way, since, used, cursor)
    clock[t.ENDED] = since
    restore_denormals(mode)


@part
def _next(worker, task, cursor, seat):
    """Move a worker's cursor to its next piece of work; return whether there is one."""
    if seat is None:
        return next_piece(worker, task, cursor)
    return _next_together(worker, task, cursor, seat)


@part
def _do_chunk(problem, batch, workspace, seat, leads):
    """Take the chunk that the worker's cursor names one step on or back.

    On the last step the worker that `leads` clears the chunk's slots of gate sums first.
    """
    layout = problem.layout
    cursor = workspace.cursor
    group = cursor[t.GROUP]
    step = cursor[t.STEP]
    chunk = cursor[t.CHUNK]
    tiles = range(layout.chunk_start[chunk], layout.chunk_start[chunk + 1])
    if cursor[t.WAY] == k.FORWARD:
        state = batch.states[group, step]
        mask = batch.masks[group, step]
        on = k.StepForward(batch.coefficients, state, mask, batch.states[group, step + 1])
        for tile in tiles:
            if seat is None:
                tile_forward(problem, tile_at(layout, tile), on, workspace)
            else:
                _tile_forward_part(tile_at(layout, tile), on, workspace, seat)
    else:
        back = _step_back(batch, group, step)
        for tile in tiles:
            sums = batch.sums[group, tile // layout.slot_tiles]
            if back.last and leads and tile % layout.slot_tiles == 0:
                sums[:] = 0.0
            if seat is None:
                tile_backward(problem, tile_at(layout, tile), back, sums, workspace)
            else:
                _tile_backward_part(problem, tile_at(layout, tile), back, sums, workspace, seat)


@part
def _step_back(batch, group, step):
    """Return one automaton step of a group, as the way back sees it."""
    loss_steps = batch.loss_steps
    last = step == loss_steps[-1] - 1
    supervised = False
    loss = 0
    for index in range(len(loss_steps)):
        if loss_steps[index] == step + 1:
            supervised = True
            loss = index
    input_gradients = batch.input_gradients[group]
    return k.StepBack(
        batch.coefficients,
        batch.states[group, step],
        batch.masks[group, step],
        last,
        supervised,
        batch.loss_gradients[group, loss],
        input_gradients[(step + 1) % k.RING],
        input_gradients[step % k.RING],
    )


@part
def loss_share(worker, workers, layout, batch, in_use):
    """Write each sample's sum of squared errors, and its gradient, for every `workers`-th group.

    Errors of all `loss_steps` are added up; they share one target. Where the target is NaN the
    error is 0, unless the state is NaN as well.
    """
    losses = batch.losses
    loss_channels = batch.loss_channels
    loss_steps = batch.loss_steps
    samples = losses.shape[1]
    cells = layout.cells // samples
    for group in range(worker, batch.states.shape[0], workers):
        losses[group] = 0.0
        for loss in range(len(loss_steps)):
            for index in range(len(loss_channels)):
                channel = loss_channels[index]
                state = batch.states[group, loss_steps[loss], channel]
                target = batch.targets[group, index]
                gradient = batch.loss_gradients[group, loss, channel]
                for sample in range(samples):
                    first = layout.lead + sample * cells
                    if group * samples + sample >= in_use:
                        continue  # the caller has set its gradient to zero
                    for i in range(first, first + cells):
                        counts = target[i] == target[i]
                        error = state[i] - (target[i] if counts else state[i])
                        gradient[i] = 2 * error
                        losses[group, sample] += np.float64(error) * np.float64(error)


# Split layers: one part of a team.


@part
def _next_together(worker, task, cursor, seat):
    """Move a part's cursor to the piece that its team takes next; return whether there is one."""
    parts = seat.split.parts
    control = task.control
    team_cursor = seat.leader.cursor
    if seat.part == 0 and not next_piece(worker // parts, task, cursor):
        cursor[t.PHASE] = t.FINISHED
    t.barrier(control, seat.place, parts, cursor)
    if team_cursor[t.PHASE] == t.FINISHED or atomic_load(control, t.ABORTED) != 0:
        return False
    for place in (t.GROUP, t.STEP, t.CHUNK):
        cursor[place] = team_cursor[place]
    return True


@part
def _tile_forward_part(tile, step, workspace, seat):
    """Do one part of what tile_forward does; parts meet after each stage."""
    part = seat.part
    split = seat.split
    for stage in range(split.forward_bounds.shape[0]):
        for index in range(
            split.forward_bounds[stage, part], split.forward_bounds[stage, part + 1]
        ):
            duty_forward(split.forward[index], tile, step, seat)
        t.barrier(seat.control, seat.place, split.parts, workspace.cursor)


@part
def _tile_backward_part(problem, tile, step, sums, workspace, seat):
    """Do one part of what tile_backward does; parts meet after each stage."""
    part = seat.part
    split = seat.split
    inputs = problem.program.inputs
    for stage in range(split.backward_bounds.shape[0]):
        for index in range(
            split.backward_bounds[stage, part], split.backward_bounds[stage, part + 1]
        ):
            duty_back(split.backward[index], inputs, tile, step, sums, seat)
        t.barrier(seat.control, seat.place, split.parts, workspace.cursor)


@part
def duty_forward(duty, tile, step, seat):
    """Do a part's duty of a step forward."""
    kind = duty[k.DUTY_KIND]
    some = (duty[k.DUTY_FIRST], duty[k.DUTY_END])
    if kind == k.UPDATE:
        update(seat.leader.values, seat.split.outputs, some, tile, step)
    else:
        _evaluate(kind, some, tile, step, seat)


@part
def duty_back(duty, inputs, tile, step, sums, seat):
    """Do a part's duty of a step back."""
    kind = duty[k.DUTY_KIND]
    first = duty[k.DUTY_FIRST]
    end = duty[k.DUTY_END]
    split = seat.split
    leader = seat.leader
    lanes = tile.lanes
    channels = step.state.shape[0]
    values = leader.values
    grad = leader.gradients
    if kind == k.RECEIVE:
        if not step.last:
            # The gradient tile's input rows are free until the last stage.
            gather(step.upstream, tile, True, (first, end), (grad, first, channels))
        numbers = (split.grad_outputs, inputs)
        new_state_gradients((first, end), (first, channels), step, tile, numbers, leader)
    elif kind == k.PASS_ON:
        pass_on((first, end), split.outputs, split.grad_outputs, grad, lanes)
    elif kind == k.PULL:
        targets = split.targets[first:end]
        pulls_backward((values, targets, split.pulls, step.coefficients, grad), lanes)
    elif kind == k.LEAVE:
        write_rows(grad, inputs, first, end, tile, step.downstream)
        own = (max(first - 4 * channels, 0), min(end - 4 * channels, channels))
        keep_gradients(own, step, tile, leader.kept)
    elif kind == k.SUM:
        sums_backward((values, split.sums[first:end], grad, sums), lanes)
    else:
        _evaluate(kind, (first, end), tile, step, seat)


@part
def _evaluate(kind, some, tile, step, seat):
    """Do a part's duty of a step in either direction: gather channels or evaluate gates."""
    values = seat.leader.values
    (first, end) = some
    if kind == k.GATHER:
        gather(step.state, tile, False, some, (values, first, step.state.shape[0]))
    else:
        runs_forward((values, seat.split.gates[first:end], step.coefficients), tile.lanes)
