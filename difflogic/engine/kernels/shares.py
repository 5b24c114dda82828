"""One worker's share of a training step: rollout, loss and the way back."""

from __future__ import annotations

import numpy as np

from difflogic.engine.kernels.pipeline import next_piece
from difflogic.engine.kernels.primitives import flush_denormals, now, restore_denormals
from difflogic.engine.kernels.structures import BACKWARD, FORWARD, LOSS, RING, StepBack
from difflogic.engine.kernels.teams import (
    BEGAN,
    CHUNK,
    ENDED,
    GROUP,
    STEP,
    TASKS,
    WAITED,
    WAY,
    count_phase,
    meet,
)
from difflogic.engine.kernels.tiles import tile_backward, tile_forward
from difflogic.engine.kernels.tracing import CALL, trace_begin, trace_end
from difflogic.system.jit import borrowing_kernel, part


@part
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


@part
def loss_share(worker, workers, layout, batch, in_use):
    """Take the sum of squared errors of each sample of every `workers`-th group, and its gradient.

    The target is that of all `loss_steps`, whose errors are added up. Where it is NaN, there is no
    error, unless the state is NaN as well.
    """
    losses, loss_channels, loss_steps = batch.losses, batch.loss_channels, batch.loss_steps
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
                        continue  # its gradient is zero, as the caller leaves it
                    for i in range(first, first + cells):
                        counts = target[i] == target[i]
                        error = state[i] - (target[i] if counts else state[i])
                        gradient[i] = 2 * error
                        losses[group, sample] += np.float64(error) * np.float64(error)


def share_by(next_one, forward, backward):
    """Return what does one worker's share of a training step.

    `next_one` moves the worker's cursor to its next piece of work, `forward` and `backward` do a
    tile. Given to a kernel as arguments, they would keep its code from being kept on disk.
    """

    @part
    def do_chunk(problem, batch, workspace, seat, leads):
        """Take a chunk of tiles one step on or back; who leads clears its slot of gate sums first.

        Which chunk and way it is says the worker's cursor.
        """
        layout, cursor = problem.layout, workspace.cursor
        group, step, chunk = cursor[GROUP], cursor[STEP], cursor[CHUNK]
        tiles = range(layout.chunk_start[chunk], layout.chunk_start[chunk + 1])
        if cursor[WAY] == FORWARD:
            state, mask = batch.states[group, step], batch.masks[group, step]
            new_state = batch.states[group, step + 1]
            for tile in tiles:
                forward(problem, batch.coefficients, tile, state, mask, new_state, workspace, seat)
        else:
            back, sums = step_back(batch, group, step), batch.sums[group, chunk]
            if back.last and leads:
                sums[:] = 0.0
            for tile in tiles:
                backward(problem, batch.coefficients, tile, back, sums, workspace, seat)

    @part
    def training_share(leads, worker, workers, problem, batch, span, control, workspace, seat):
        """Do one worker's share of a rollout, its loss and the way back: all of a span's parts."""
        groups, cursor, clock = batch.states.shape[0], workspace.cursor, batch.clock[worker]
        mode = flush_denormals()
        called = trace_begin(workspace.trace)
        clock[BEGAN] = now()
        for way in (FORWARD, LOSS, BACKWARD):
            if span.parts & way == 0:
                continue
            since, waited = now(), cursor[WAITED]
            if way == LOSS:
                loss_share(worker, workers, problem.layout, batch, span.in_use)
                trace_end(workspace.trace, cursor, LOSS, since)
            else:
                cursor[:TASKS] = 0
                cursor[WAY] = way
                while next_one(worker, problem, groups, span, control, cursor, seat):
                    begun = trace_begin(workspace.trace)
                    do_chunk(problem, batch, workspace, seat, leads)
                    trace_end(workspace.trace, cursor, way, begun)
            meet(control, 0, workers, cursor)
            count_phase(clock, way, since, waited, cursor)
        clock[ENDED] = now()
        trace_end(workspace.trace, cursor, CALL, called)
        restore_denormals(mode)

    return training_share


_share = share_by(next_piece, tile_forward, tile_backward)


@borrowing_kernel
def train(worker, problem, batch, span, control, workspace):
    """Do one worker's share of a training step.

    One kernel for all its parts, since waking threads costs time, and compiling the tiles' code
    more than once too.
    """
    workers = problem.team.workers
    _share(True, worker, workers, problem, batch, span, control, workspace, None)


@borrowing_kernel
def reduce_sums(sums, total):
    """Add all slots (groups, chunks, parameters · 4) to `total` (parameters · 4), in order."""
    for group in range(sums.shape[0]):
        for chunk in range(sums.shape[1]):
            slot = sums[group, chunk]
            for i in range(len(total)):
                total[i] += slot[i]
