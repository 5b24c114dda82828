"""One worker's share of a training step: rollout, loss and the way back."""

from __future__ import annotations

import numpy as np

from difflogic.engine.kernels.primitives import flush_denormals, now, restore_denormals
from difflogic.engine.kernels.structures import BACKWARD, FORWARD, LOSS, RING, StepBack
from difflogic.engine.kernels.teams import (
    BEGAN,
    CHUNK,
    ENDED,
    GROUP,
    STEP,
    WAITED,
    barrier,
    begin,
    count_phase,
    next_piece,
)
from difflogic.engine.kernels.tiles import tile_backward, tile_forward
from difflogic.engine.kernels.tracing import CALL, trace_begin, trace_end
from difflogic.system.jit import borrowing_kernel, inlined, part


@inlined
def forward_share(following, worker, problem, batch, span, control, workspace):
    """Do one worker's share of a rollout of all groups of samples, over a span of steps.

    `following` moves the worker's cursor to its next piece of work: next_piece, or another.
    """
    layout, groups, cursor = problem.layout, batch.states.shape[0], workspace.cursor
    begin(cursor, FORWARD)
    while following(worker, problem, groups, span, control, cursor):
        group, step, chunk = cursor[GROUP], cursor[STEP], cursor[CHUNK]
        since = trace_begin(workspace.trace)
        for tile in range(layout.chunk_start[chunk], layout.chunk_start[chunk + 1]):
            tile_forward(
                problem.program.forward,
                batch.coefficients,
                layout,
                tile,
                batch.states[group, step],
                batch.masks[group, step],
                batch.states[group, step + 1],
                workspace.values,
            )
        trace_end(workspace.trace, cursor, FORWARD, since)


@inlined
def step_back(batch, group, step):
    """Return one automaton step of a group, as the way back sees it."""
    loss_steps = batch.loss_steps
    last = step == loss_steps[-1] - 1
    supervised, loss = False, 0
    for index in range(len(loss_steps)):
        if loss_steps[index] == step + 1:
            supervised, loss = True, index
    input_gradients = batch.input_gradients[group]
    return StepBack(
        batch.states[group, step],
        batch.masks[group, step],
        last,
        supervised,
        batch.loss_gradients[group, loss],
        input_gradients[(step + 1) % RING],
        input_gradients[step % RING],
    )


@inlined
def chunk_backward(problem, batch, group, step, chunk, workspace):
    """One step back for a group's chunk of tiles; its gate sums go to its own slot."""
    layout, sums = problem.layout, batch.sums[group, chunk]
    back = step_back(batch, group, step)
    if back.last:
        sums[:] = 0.0
    for tile in range(layout.chunk_start[chunk], layout.chunk_start[chunk + 1]):
        tile_backward(problem.program, batch.coefficients, layout, tile, back, sums, workspace)


@inlined
def backward_share(following, worker, problem, batch, span, control, workspace):
    """Do one worker's share of the backward pass over a span; the counterpart of forward_share."""
    groups, cursor = batch.states.shape[0], workspace.cursor
    begin(cursor, BACKWARD)
    while following(worker, problem, groups, span, control, cursor):
        since = trace_begin(workspace.trace)
        chunk_backward(problem, batch, cursor[GROUP], cursor[STEP], cursor[CHUNK], workspace)
        trace_end(workspace.trace, cursor, BACKWARD, since)


@part
def loss_share(worker, problem, batch, in_use):
    """Take the sum of squared errors of each sample of every `workers`-th group, and its gradient.

    The target is that of all `loss_steps`, whose errors are added up.
    """
    layout, team = problem.layout, problem.team
    losses, loss_channels, loss_steps = batch.losses, batch.loss_channels, batch.loss_steps
    samples = losses.shape[1]
    cells = layout.cells // samples
    for group in range(worker, batch.states.shape[0], team.workers):
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
                        gradient[first : first + cells] = 0.0
                        continue
                    for i in range(first, first + cells):
                        error = state[i] - target[i]
                        gradient[i] = 2 * error
                        losses[group, sample] += np.float64(error) * np.float64(error)


@inlined
def training_share(following, worker, problem, batch, span, control, workspace):
    """Do one worker's share of a rollout, its loss and the way back: all of a span's parts.

    `following` moves the worker's cursor to its next piece of work.
    """
    workers, cursor, clock = problem.team.workers, workspace.cursor, batch.clock[worker]
    mode = flush_denormals()
    called = trace_begin(workspace.trace)
    clock[BEGAN] = now()
    if span.parts & FORWARD:
        since, waited = now(), cursor[WAITED]
        forward_share(following, worker, problem, batch, span, control, workspace)
        barrier(control, workers, cursor)
        count_phase(clock, FORWARD, since, waited, cursor)
    if span.parts & LOSS:
        since, waited = now(), cursor[WAITED]
        loss_share(worker, problem, batch, span.in_use)
        trace_end(workspace.trace, cursor, LOSS, since)
        barrier(control, workers, cursor)
        count_phase(clock, LOSS, since, waited, cursor)
    if span.parts & BACKWARD:
        since, waited = now(), cursor[WAITED]
        backward_share(following, worker, problem, batch, span, control, workspace)
        barrier(control, workers, cursor)
        count_phase(clock, BACKWARD, since, waited, cursor)
    clock[ENDED] = now()
    trace_end(workspace.trace, cursor, CALL, called)
    restore_denormals(mode)


@borrowing_kernel
def train(worker, problem, batch, span, control, workspace):
    """Do one worker's share of a training step; workers wait for each other after each step.

    One kernel for all its parts, since waking threads costs time, and compiling the tiles' code
    more than once too.
    """
    training_share(next_piece, worker, problem, batch, span, control, workspace)


@borrowing_kernel
def reduce_sums(sums, total):
    """Add all slots (groups, chunks, parameters · 4) to `total` (parameters · 4), in order."""
    for group in range(sums.shape[0]):
        for chunk in range(sums.shape[1]):
            slot = sums[group, chunk]
            for i in range(len(total)):
                total[i] += slot[i]
