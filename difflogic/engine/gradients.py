"""Gradients of one sample and of one tile as pure functions: the kernels on one worker."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from difflogic.engine.buffers import Rollouts
from difflogic.engine.kernels import structures as k
from difflogic.engine.kernels.tiles import run_backward, run_forward
from difflogic.engine.layout import Grid
from difflogic.engine.program import compile_program
from difflogic.engine.rollout import Engine, workspace
from difflogic.memory import aligned
from difflogic.netlist import Netlist

Array = npt.NDArray[np.floating]


def rollout_gradients(
    netlist: Netlist,
    coefficients: Array,
    start: npt.NDArray,
    loss_gradient: Array,
    steps: int,
    grid: Grid,
    mask: npt.NDArray[np.uint8] | None = None,
) -> Array:
    """Return dL/d(coefficients), shape (parameters, 4), of one sample. Changes no argument.

    `start` and `loss_gradient`, dL/d(last state), have shape (C, H, W); `mask` (steps, H, W).
    The type of `coefficients` (parameters, 4) is the precision.
    """
    with Engine(netlist, grid, steps, batch=1, dtype=coefficients.dtype) as engine:
        engine.forward(coefficients, start[None], None if mask is None else mask[None])
        return engine.backward(loss_gradient[None])


def step_gradients(
    netlist: Netlist, coefficients: Array, inputs: Array, output_gradients: Array
) -> tuple[Array, Array]:
    """Return one step's gradients for one tile of cells. Changes no argument.

    `inputs` (9·C, cells) are the neighbourhoods, `output_gradients` (C, cells) is dL/d(next
    state); at most MAX_LANES cells. Returns dL/d(inputs) (9·C, cells) and dL/d(coefficients)
    (parameters, 4). Raises ValueError if there are too many cells.
    """
    cells = inputs.shape[1]
    lanes = next((lanes for lanes in k.LANES if lanes >= cells), None)
    if lanes is None:
        raise ValueError(f"a tile has at most {k.MAX_LANES} cells, not {cells}")
    program, dtype = compile_program(netlist), coefficients.dtype
    rollouts = Rollouts(program, netlist.channels, Grid(1, cells, "zero"), 1, dtype)
    space = workspace(rollouts.workspace())
    values = space.values[: program.backward_rows * lanes].reshape(-1, lanes)
    gradients = space.gradients[: program.gradient_rows * lanes].reshape(-1, lanes)
    values[: program.inputs, :cells] = inputs
    flat = aligned((coefficients.size,), dtype)
    flat[:] = coefficients.ravel()
    sums = aligned((coefficients.size,), dtype)
    run_forward(program.backward, flat, space.values, lanes)
    gradients[program.backward.grad_outputs, :cells] = output_gradients
    run_backward(program.backward, flat, space.values, space.gradients, sums, space.scratch, lanes)
    return gradients[: program.inputs, :cells].copy(), sums.reshape(coefficients.shape)
