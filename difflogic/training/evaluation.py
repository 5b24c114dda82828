"""Scores of a hardened circuit on start states that training never draws."""

from __future__ import annotations

from typing import Any

from difflogic.config import Config
from difflogic.engine.hard import HardSimulator
from difflogic.model import Model
from difflogic.streams import Purpose
from difflogic.tasks import Task, draw_batch, draw_masks, make_task
from difflogic.training.trainer import grid_of

VALUES_AT_ONCE = 2**26
"""Channels times cells that are simulated at the same time, to bound memory to about 1 GB."""


def held_out(model: Model) -> dict[str, Any]:
    """Count the wrong cells of the hard circuit at the training step and at twice that step.

    Runs [evaluation] starts of the model's configuration. `exact` means none wrong at either.
    """
    config = model.config
    task, automaton = make_task(config), config.automaton
    grid, starts = grid_of(config), config.evaluation.starts
    steps = (automaton.steps, 2 * automaton.steps)
    at_once = max(1, min(starts, VALUES_AT_ONCE // (grid.cells * automaton.channels)))
    wrong = [0, 0]
    active = 0
    for first in range(0, starts, at_once):
        simulator = HardSimulator(model.netlist, grid, min(at_once, starts - first))
        simulator.load(model.ops)
        active = simulator.active_gates
        counts = _wrong_cells(config, task, simulator, steps, first)
        wrong = [total + count for total, count in zip(wrong, counts, strict=True)]
    return {
        "starts": starts,
        "cells": starts * grid.cells * len(task.loss_channels),
        "step": steps[0],
        "wrong_cells": wrong[0],
        "later_step": steps[1],
        "wrong_cells_later": wrong[1],
        "exact": not any(wrong),
        "active_gates": active,
    }


def _wrong_cells(
    config: Config, task: Task, simulator: HardSimulator, steps: tuple[int, ...], first: int
) -> list[int]:
    """Return the wrong cells after each of `steps`, on held-out samples from `first` on."""
    seed, batch = config.training.seed, simulator.batch
    starts, targets = draw_batch(task, seed, 0, batch, Purpose.HELD_OUT_START, first)
    masks = draw_masks(
        seed, 0, batch, max(steps), config.task.height, config.task.width,
        config.automaton.fire_rate, Purpose.HELD_OUT_MASK, first,
    )  # fmt: skip
    channels = list(task.loss_channels)
    counts = []
    for step in steps:
        states = simulator.rollout(starts, step, None if masks is None else masks[:, :step])
        counts.append(int((states[:, channels] != targets).sum()))
    return counts
