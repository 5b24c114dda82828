"""The oracle: plain NumPy in float64, one gate after the other, written to be read.

The kernels are compared with it. It shares with them only the netlist (`netlist.py`), the table of
the ops' coefficients (`gates.py`), which tests compare with truth tables, and the order of a cell's
neighbours (`grid.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from difflogic.circuit.evaluate import Soft, evaluate
from difflogic.circuit.grid import OUTSIDE, Boundary, neighbors
from difflogic.circuit.netlist import Netlist
from difflogic.system.array_types import Array


def perceive(state: Array, boundary: Boundary) -> Array:
    """Return the inputs of every cell's circuit, shape (9·C, cells), from a state (C, H, W)."""
    channels, height, width = state.shape
    flat = state.reshape(channels, -1)
    rows = []
    for places in neighbors(height, width, boundary):
        seen = flat[:, places]
        seen[:, places == OUTSIDE] = 0.0
        rows.append(seen)
    return np.concatenate(rows)


def row_values(netlist: Netlist, coefficients: Array, inputs: Array) -> Array:
    """Return the value of every row of the netlist, shape (rows, cells)."""
    return np.array(evaluate(netlist, inputs, Soft(coefficients)))


def rollout(
    netlist: Netlist,
    coefficients: Array,
    start: Array,
    steps: int,
    boundary: Boundary,
    mask: Array | None = None,
) -> list[Array]:
    """Return the states (C, H, W) of all steps, beginning with the start.

    `mask` (steps, H, W) is 1 where a cell takes its new state.
    """
    states = [start.astype(np.float64)]
    for step in range(steps):
        old = states[-1]
        values = row_values(netlist, coefficients, perceive(old, boundary))
        new = values[netlist.outputs].reshape(old.shape)
        states.append(new if mask is None else np.where(mask[step], new, old))
    return states


def loss(state: Array, target: Array, channels: Sequence[int]) -> float:
    """Return the sum of squared errors in the loss channels. Any state is right where the target is
    NaN.
    """
    return float(np.nansum((state[list(channels)] - target) ** 2))


def loss_gradient(state: Array, target: Array, channels: Sequence[int]) -> Array:
    """Return dL/d(state), shape (C, H, W)."""
    gradient = np.zeros_like(state)
    gradient[list(channels)] = np.nan_to_num(2.0 * (state[list(channels)] - target))
    return gradient


def coefficient_gradients(
    netlist: Netlist,
    coefficients: Array,
    states: list[Array],
    gradient: Array,
    boundary: Boundary,
    mask: Array | None = None,
) -> Array:
    """Return dL/d(coefficients), shape (parameters, 4), given dL/d(last state)."""
    total = np.zeros((netlist.parameters, 4))
    for step in range(len(states) - 2, -1, -1):
        old = states[step]
        channels, height, width = old.shape
        values = row_values(netlist, coefficients, perceive(old, boundary))
        grad = np.zeros_like(values)
        updated = np.ones((height, width)) if mask is None else mask[step].astype(np.float64)
        # Several channels may copy one input.
        np.add.at(grad, netlist.outputs, (gradient * updated).reshape(channels, -1))
        for gate in range(netlist.gates - 1, -1, -1):
            row_a = netlist.a[gate]
            row_b = netlist.b[gate]
            param = netlist.param[gate]
            g = grad[netlist.inputs + gate]
            a = values[row_a]
            b = values[row_b]
            _, c1, c2, c3 = coefficients[param]
            grad[row_a] += g * (c1 + c3 * b)
            grad[row_b] += g * (c2 + c3 * a)
            total[param] += (g.sum(), (g * a).sum(), (g * b).sum(), (g * a * b).sum())
        # Every cell passes its inputs' gradient on to the neighbours that it saw.
        before = np.zeros((channels, height * width))
        for n, places in enumerate(neighbors(height, width, boundary)):
            seen = places != OUTSIDE
            for channel in range(channels):
                row = grad[n * channels + channel]
                np.add.at(before[channel], places[seen], row[seen])
        gradient = before.reshape(old.shape) + gradient * (1.0 - updated)
    return total
