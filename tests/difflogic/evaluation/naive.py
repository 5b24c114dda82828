"""Rollouts in plain NumPy, step by step, and models to run."""

from dataclasses import replace

import numpy as np

from difflogic.circuit import gates
from difflogic.circuit.gates import Op
from difflogic.circuit.wiring import Wiring
from difflogic.engine import oracle
from difflogic.model.model import Model
from difflogic.tasks import draw_batch, make_task
from tests.difflogic.circuit.masks import draw_masks
from tests.difflogic.training.tiny import tiny


def random_model(config, seed=0):
    """A model with arbitrary ops."""
    model = Model.create(config)
    logits = np.random.default_rng(seed).normal(size=model.logits.shape).astype(np.float32)
    return replace(model, logits=logits)


def with_ops(model, ops):
    """The model with these ops, one per parameter."""
    return replace(model, logits=np.eye(16, dtype=np.float32)[np.asarray(ops)] * 10)


def rollout(model, start, steps, boundary="zero", masks=None, damage=None, ops=None):
    """States (C, H, W) after steps 1, 2, …; `damage(step, state)` changes each of them."""
    coefficients = gates.one_hot(model.ops if ops is None else ops)
    states = []
    state = start
    for step in range(steps):
        mask = None if masks is None else masks[step : step + 1]
        state = oracle.rollout(model.netlist, coefficients, state, 1, boundary, mask)[-1].copy()
        if damage is not None:
            damage(step + 1, state)
        states.append(state)
    return states


def wired(config, update):
    """A model whose update circuit is wired by hand: a list of layers of gates (op, a, b).

    The centre's channels are its first inputs. Perception only passes inputs on.
    """
    drawn = Model.create(config)
    inputs = config.architecture.update_inputs
    layers = []
    ops = [Op.A] * (config.architecture.kernels * config.architecture.kernel_gates)
    for layer in update:
        chosen, a, b = np.array(layer, np.int32).T
        layers.append(Wiring(inputs, a, b))
        ops += chosen.tolist()
        inputs = len(layer)
    circuit = replace(drawn.layers, update=tuple(layers))
    return with_ops(replace(drawn, layers=circuit), ops)


def drawn(config, streams, count, steps, fire_rate):
    """Starts, targets and masks of `count` samples; each mask is None if all cells fire."""
    task = make_task(config)
    states, targets = draw_batch(task, streams.seed, streams.epoch, count, streams.start)
    size = (config.task.height, config.task.width)
    masks = draw_masks(streams.seed, streams.epoch, count, steps, *size, fire_rate, streams.mask)
    return states, targets, [None] * count if masks is None else masks


CHANNELS = 16


def blinker(*overrides):
    """A circuit that sets all 16 channels of a cell to the NAND of all its channels.

    From nearly every random start, it gives 1 at odd steps and 0 at even ones. The target is 0
    everywhere, as a square is as large as the grid.
    """
    config = tiny(
        "task.width=6",
        "task.square=6",
        f"automaton.channels={CHANNELS}",
        "perception.kernels=1",
        "perception.gates=[8,4,2,1]",
        "update.gates=[16,8,8,8,16]",
        *overrides,
    )
    # Widths for which there are unique pairs; the later gates of a layer repeat the first ones.
    starts = [[2 * (gate % size) for gate in range(8)] for size in (8, 4, 2)]
    tree = [[(Op.AND, start, start + 1) for start in layer] for layer in starts]
    first = [(Op.A, channel, channel) for channel in range(CHANNELS)]
    return wired(config, [first, *tree, [(Op.NAND, 0, 1)] * CHANNELS])
