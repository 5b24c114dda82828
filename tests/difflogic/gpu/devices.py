"""The GPU that tests run on, and one training step there and by the plain oracle."""

import numpy as np
import pytest

from difflogic.circuit import gates
from difflogic.engine import oracle
from difflogic.experiment.searching import Trainer
from difflogic.gpu.adapter import find_adapter
from difflogic.gpu.fleet import Fleets
from difflogic.system.errors import ConfigError
from difflogic.training.sampling import draw_loss_steps, draw_samples


def here():
    """Return the adapter; skip the test without one."""
    try:
        return find_adapter()
    except ConfigError as error:
        pytest.skip(f"{error} (make tools, as root, installs llvmpipe)")


SHARED = Fleets(1)
"""Keeps compiled shaders from test to test."""


def on_gpu(config, fleets=SHARED):
    """Return a trainer on the GPU; skip the test without one."""
    here()
    return Trainer(config.with_sections(parallel={"device": "gpu"}), fleets=fleets)


def randomized(config, seed=0):
    """Return a trainer's state with random logits, so that every term of a gate matters.

    Gates still mostly pass signals on: then gradients are no small differences of large numbers.
    """
    state = Trainer(config).state()
    noise = np.random.default_rng(seed).normal(size=state["logits"].shape)
    state["logits"] = (0.4 * state["logits"] + noise).astype(np.float32)
    return state


def gradients(trainer):
    """Return the device's gradients of the last step, (parameters, 4)."""
    fleet, run = trainer.descent.learned._at
    parameters = fleet.shape.parameters
    return fleet.read("sums", run, "GRADIENT", 4 * parameters).reshape(parameters, 4)


def expected(config, state, epoch=0):
    """Return the oracle's loss and dL/d(coefficients) of an epoch."""
    trainer = Trainer(config)
    task = trainer.descent.task
    netlist = trainer.model.netlist
    starts, targets, masks, _ = draw_samples(config.problem, epoch)
    loss_steps = draw_loss_steps(config.problem, epoch)
    channels = list(task.loss_channels)
    boundary = config.automaton.boundary
    soft = gates.mix(gates.softmax(state["logits"].T.astype(np.float64)))
    total = np.zeros_like(soft)
    loss = 0.0
    for sample, (start, target) in enumerate(zip(starts, targets, strict=True)):
        mask = None if masks is None else masks[sample]
        states = oracle.rollout(netlist, soft, start, loss_steps[-1], boundary, mask)
        for step in loss_steps:
            until = states[: step + 1]
            loss += oracle.loss(until[-1], target, channels)
            slope = oracle.loss_gradient(until[-1], target, channels)
            total += oracle.coefficient_gradients(netlist, soft, until, slope, boundary, mask)
    return loss, total


def relative(found, wanted):
    return np.linalg.norm(found - wanted) / np.linalg.norm(wanted)
