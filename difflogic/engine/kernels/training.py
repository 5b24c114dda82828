"""One worker's share of a training step: rollout, loss and the way back."""

from __future__ import annotations

import numpy as np

from difflogic.engine.kernels import structures as k
from difflogic.engine.kernels import teams as t
from difflogic.engine.kernels.pipeline import next_piece
from difflogic.engine.kernels.primitives import (
    flush_denormals,
    now,
    processor_clock,
    restore_denormals,
)
from difflogic.engine.kernels.tiles import tile_at, tile_backward, tile_forward
from difflogic.system.jit import borrowing_kernel, part


@borrowing_kernel
def train(worker, task, workspace):
    """Do one worker's share of all parts of a span: the rollout, the loss and the way back.

    One kernel does all parts of the step, because waking threads takes time, and so does compiling
    the tiles' code more than once.
    """
    batch = task.batch
    span = task.span
    workers = task.problem.team.workers
    cursor = workspace.cursor
    clock = batch.clock[worker]
    mode = flush_denormals()
    clock[t.BEGAN] = since = now()
    used = processor_clock()
    for way in (k.FORWARD, k.LOSS, k.BACKWARD):
        if span.parts & way == 0:
            continue
        if way == k.LOSS:
            loss_share(worker, workers, task.problem.layout, batch, span.in_use)
        else:
            cursor[:] = 0
            cursor[t.WAY] = way
            while next_piece(worker, task, cursor):
                _do_chunk(task.problem, batch, workspace)
        t.barrier(task.control, workers, cursor)
        since, used = t.count_phase(clock, way, since, used, cursor)
    clock[t.ENDED] = since
    restore_denormals(mode)


@borrowing_kernel
def reduce_sums(sums, total):
    """Add all slots (groups, slots, parameters · 4) to `total` (parameters · 4), in order."""
    for group in range(sums.shape[0]):
        for place in range(sums.shape[1]):
            slot = sums[group, place]
            for i in range(len(total)):
                total[i] += slot[i]


@part
def _do_chunk(problem, batch, workspace):
    """Take the chunk that the worker's cursor names one step on or back.

    The last step clears the chunk's gate sums first.
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
            tile_forward(problem, tile_at(layout, tile), on, workspace)
    else:
        back = _step_back(batch, group, step)
        sums = batch.sums[group, chunk]
        if back.last:
            sums[:] = 0.0
        for tile in tiles:
            tile_backward(problem, tile_at(layout, tile), back, sums, workspace)


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
