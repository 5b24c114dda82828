"""Gradients of one sample and of one tile of cells: the parts of a training step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit import gates
from difflogic.engine.gradients import all_reduce, step_gradients, step_outputs
from difflogic.engine.kernels.structures import MAX_LANES
from difflogic.engine.layout import Grid
from difflogic.engine.rollout import Engine
from difflogic.model.model import Model
from difflogic.system.arrays import bits, real_numbers
from difflogic.system.errors import ConfigError

Array = npt.NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class SampleGradients:
    """The loss of one sample and its derivatives, in the precision of the model's logits."""

    loss: float
    """Sum of squared errors in the loss channels after the last step."""
    hard_loss: float
    """The same for the hard circuit."""
    state: Array = field(repr=False)
    """The last state, shape (C, H, W), values from 0 to 1."""
    slots: Array = field(repr=False)
    """dL/d(coefficients) of each chunk of cells, shape (chunks, parameters, 4), over all steps."""
    coefficients: Array = field(repr=False)
    """dL/d(coefficients), shape (parameters, 4): the slots, added up in order."""
    logits: Array = field(repr=False)
    """dL/d(logits), shape (parameters, 16)."""
    perception: Array = field(repr=False)
    """dL/d(logits) of the perception: a view of shape (kernels, gates of a kernel, 16)."""
    update: Array = field(repr=False)
    """dL/d(logits) of the update circuit: a view of shape (gates, 16)."""


@dataclass(frozen=True, eq=False)
class TileGradients:
    """The loss of one step of a tile of cells, and its derivatives."""

    loss: float
    """Sum of squared errors in the loss channels after the step."""
    outputs: Array = field(repr=False)
    """The cells' next states, shape (C, cells)."""
    inputs: Array = field(repr=False)
    """dL/d(inputs), shape (9·C, cells)."""
    coefficients: Array = field(repr=False)
    """dL/d(coefficients), shape (parameters, 4)."""
    logits: Array = field(repr=False)
    """dL/d(logits), shape (parameters, 16)."""


def sample_gradients(
    model: Model,
    start: npt.NDArray[Any],
    target: npt.NDArray[Any],
    mask: npt.NDArray[np.uint8] | None = None,
) -> SampleGradients:
    """Roll one sample out and differentiate its loss by the model's logits. Changes no argument.

    `start` (C, H, W) holds values from 0 to 1. `target` (loss channels, H, W) is for the loss
    channels after the last step; cells with NaN do not count. `mask` (steps, H, W) is 1 where a
    cell takes its new state, and sets the number of steps; without it, all cells update in each of
    the configuration's steps. To add samples up as a training step does, use `all_reduce` on their
    slots, sample by sample; this gives the same bits, unless the grid is so small that samples
    share a tile. Raises ConfigError for shapes that do not fit.
    """
    config = model.config
    netlist, channels = model.netlist, list(config.task.loss_channels)
    start, target = real_numbers("start", start), real_numbers("target", target, nan=True)
    if start.ndim != 3 or start.shape[0] != netlist.channels or start.size == 0:
        raise ConfigError(f"start has shape {start.shape}: give ({netlist.channels}, H, W)")
    _, height, width = start.shape
    _require(target, "target", (len(channels), height, width))
    steps = config.automaton.steps
    if mask is not None:
        mask = bits("mask", mask)
        steps = len(mask)
        _require(mask, "mask", (max(1, steps), height, width))
    probabilities, coefficients = _soften(model)
    grid = Grid(height, width, config.automaton.boundary)
    with Engine(netlist, grid, steps, batch=1, dtype=coefficients.dtype) as engine:
        masks = None if mask is None else mask[None]
        losses, _ = engine.run_training(coefficients, start[None], target[None], channels, masks)
        slots, state = engine.slots(), engine.states()[0, -1]
        hard = gates.COEFFICIENTS.astype(coefficients.dtype)[model.ops]
        shown = engine.forward(hard, start[None], masks)[0, channels]
    hard_loss = float(np.nansum((shown.astype(np.float64) - target) ** 2))
    total = all_reduce(slots)
    logits = gates.mix_gradient(probabilities, total)
    sizes = config.architecture
    perception, update = np.split(logits, [sizes.kernels * sizes.kernel_gates])
    perception = perception.reshape(sizes.kernels, sizes.kernel_gates, gates.OPS)
    return SampleGradients(losses[0], hard_loss, state, slots, total, logits, perception, update)


def tile_gradients(
    model: Model, inputs: npt.NDArray[Any], target: npt.NDArray[Any]
) -> TileGradients:
    """Compute one step of some cells, and differentiate its loss. Changes no argument.

    `inputs` (9·C, cells) are the cells' neighbourhoods: row n·C + c is channel c of neighbour n, in
    reading order, and neighbour 4 is the cell itself. `target` (loss channels, cells) is for the
    loss channels. At most 64 cells. Raises ConfigError for shapes that do not fit.
    """
    netlist, channels = model.netlist, list(model.config.task.loss_channels)
    inputs, target = real_numbers("inputs", inputs), real_numbers("target", target)
    if inputs.ndim != 2 or len(inputs) != netlist.inputs or not 1 <= inputs.shape[1] <= MAX_LANES:
        raise ConfigError(
            f"inputs have shape {inputs.shape}: give ({netlist.inputs}, cells), of 1 to "
            f"{MAX_LANES} cells"
        )
    _require(target, "target", (len(channels), inputs.shape[1]))
    probabilities, coefficients = _soften(model)
    outputs = step_outputs(netlist, coefficients, inputs)
    errors = outputs[channels] - target.astype(coefficients.dtype)
    upstream = np.zeros_like(outputs)
    upstream[channels] = 2 * errors
    to_inputs, total = step_gradients(netlist, coefficients, inputs, upstream)
    loss = float((errors.astype(np.float64) ** 2).sum())
    to_logits = gates.mix_gradient(probabilities, total)
    return TileGradients(loss, outputs, to_inputs, total, to_logits)


def _soften(model: Model) -> tuple[Array, Array]:
    """Return each parameter's probabilities of ops, and its four coefficients."""
    logits: npt.NDArray[Any] = model.logits
    probabilities = gates.softmax(logits)
    return probabilities, gates.mix(probabilities)


def _require(array: npt.NDArray[Any], name: str, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise ConfigError(f"{name} has shape {array.shape}: give {shape}")
