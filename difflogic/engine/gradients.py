"""Gradients of one sample or one tile as pure functions, by the kernels on one worker."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.netlist import Netlist
from difflogic.engine.arrangement import Rollouts, allocate
from difflogic.engine.kernels import structures as k
from difflogic.engine.kernels.tiles import run_backward, run_forward
from difflogic.engine.layout import Grid
from difflogic.engine.program import compile_program
from difflogic.engine.rollout import Engine
from difflogic.system.arrays import aligned

Array = npt.NDArray[np.floating]


def rollout_gradients(
    netlist: Netlist,
    coefficients: Array,
    start: npt.NDArray[Any],
    loss_gradient: Array,
    steps: int,
    grid: Grid,
    mask: npt.NDArray[np.uint8] | None = None,
) -> Array:
    """Return dL/d(coefficients), shape (parameters, 4), of one sample. Arguments stay unchanged.

    `start` and `loss_gradient`, which is dL/d(last state), have shape (C, H, W), `mask` (steps, H,
    W). The type of `coefficients` (parameters, 4) is the precision.
    """
    with Engine(netlist, grid, steps, batch=1, dtype=coefficients.dtype) as engine:
        engine.forward(coefficients, start[None], None if mask is None else mask[None])
        return engine.backward(loss_gradient[None])


def all_reduce(parts: Iterable[Array]) -> Array:
    """Add up arrays of the same shape in the given order.

    Floating point rounds after each addition, so the same parts in the same order give the same
    bits, whoever computed them. Raises ValueError without parts, or if shapes differ.
    """
    total: Array | None = None
    for part in parts:
        if total is None:
            total = np.zeros_like(part)
        elif total.shape != part.shape:
            raise ValueError(f"parts of shape {total.shape} and {part.shape} cannot be added up")
        total += part
    if total is None:
        raise ValueError("nothing to add up")
    return total


def step_outputs(netlist: Netlist, coefficients: Array, inputs: Array) -> Array:
    """Return the next states (C, cells) of a tile of cells. See `step_gradients`."""
    tile = _Tile(netlist, coefficients, inputs)
    tile.run_forward()
    return tile.values[tile.program.backward.outputs, : tile.cells].copy()


def step_gradients(
    netlist: Netlist, coefficients: Array, inputs: Array, output_gradients: Array
) -> tuple[Array, Array]:
    """Return one step's gradients for a tile of at most MAX_LANES cells. Arguments stay unchanged.

    `inputs` (9·C, cells) are the neighbourhoods, `output_gradients` (C, cells) is dL/d(next state).
    Returns dL/d(inputs) (9·C, cells) and dL/d(coefficients) (parameters, 4). Raises ValueError for
    too many cells.
    """
    tile = _Tile(netlist, coefficients, inputs)
    tile.run_forward()
    sums = tile.run_backward(output_gradients)
    return tile.gradients[: netlist.inputs, : tile.cells].copy(), sums.reshape(coefficients.shape)


class _Tile:
    """The buffers of one tile, with the inputs filled in."""

    def __init__(self, netlist: Netlist, coefficients: Array, inputs: Array) -> None:
        self.cells = inputs.shape[1]
        lanes = next((lanes for lanes in k.LANES if lanes >= self.cells), None)
        if lanes is None:
            raise ValueError(f"a tile has at most {k.MAX_LANES} cells, not {self.cells}")
        self._lanes = lanes
        self.program, dtype = compile_program(netlist), coefficients.dtype
        rollouts = Rollouts(self.program, netlist.channels, Grid(1, self.cells, "zero"), 1, dtype)
        space = self._space = k.Workspace(**allocate(rollouts.workspace()))
        rows = self.program.backward_rows * lanes, self.program.gradient_rows * lanes
        self.values = space.values[: rows[0]].reshape(-1, lanes)
        self.gradients = space.gradients[: rows[1]].reshape(-1, lanes)
        self.values[: netlist.inputs, : self.cells] = inputs
        self._coefficients = aligned((coefficients.size,), dtype)
        self._coefficients[:] = coefficients.ravel()

    def run_forward(self) -> None:
        run_forward(self.program.backward, self._coefficients, self._space, self._lanes)

    def run_backward(self, output_gradients: Array) -> Array:
        """Return the four sums of each parameter, flattened."""
        space, code = self._space, self.program.backward
        self.gradients[code.grad_outputs, : self.cells] = output_gradients
        held = code.outputs < self.program.inputs
        self.gradients[code.outputs[held], : self.cells] = output_gradients[held]
        sums = aligned((self._coefficients.size,), self._coefficients.dtype)
        run_backward(code, self._coefficients, space, sums, self._lanes)
        return sums
