"""Scores of a hardened circuit on start states that training never draws."""

from __future__ import annotations

from typing import Any

from difflogic.engine.hard import HardSimulator
from difflogic.model import Model
from difflogic.streams import Purpose
from difflogic.tasks import draw_batch, draw_masks, make_task
from difflogic.training.trainer import grid_of


def held_out(model: Model) -> dict[str, Any]:
    """Count the wrong cells of the hard circuit at the training step and at twice that step.

    Runs [evaluation] starts of the model's configuration. `exact` means none wrong at either.
    """
    config = model.config
    task, training, automaton = make_task(config), config.training, config.automaton
    starts_count = config.evaluation.starts
    starts, targets = draw_batch(task, training.seed, 0, starts_count, Purpose.HELD_OUT_START)
    later = 2 * automaton.steps
    masks = draw_masks(
        training.seed, 0, starts_count, later, config.task.height, config.task.width,
        automaton.fire_rate, Purpose.HELD_OUT_MASK,
    )  # fmt: skip
    simulator = HardSimulator(model.netlist, grid_of(config), starts_count)
    simulator.load(model.ops)
    channels = list(task.loss_channels)
    wrong = {}
    for step in (automaton.steps, later):
        states = simulator.rollout(starts, step, None if masks is None else masks[:, :step])
        wrong[step] = int((states[:, channels] != targets).sum())
    return {
        "starts": starts_count,
        "cells": int(targets.size),
        "step": automaton.steps,
        "wrong_cells": wrong[automaton.steps],
        "later_step": later,
        "wrong_cells_later": wrong[later],
        "exact": not any(wrong.values()),
        "active_gates": simulator.active_gates,
    }
