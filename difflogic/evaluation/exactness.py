"""Exactness: a hard circuit does its task without a wrong cell.

Exact means, on starts from streams that training does not use:
- for a target that stays: no wrong cell at the training step T, nor at T + 1, 2T and 2T + 1, so
  that a circuit which is right at even steps only does not pass; a task's `due` replaces T;
- for a task that lists all its cases: all of them right, which is a proof;
- for a picture that must stay: none at T, T + 1, 2T and 2T + 1, and a proof for all later steps; if
  damage must grow back, also a proof that all damage does;
- for all others: no wrong cell at T.
"""

from __future__ import annotations

from functools import lru_cache

from difflogic.engine.hard.hard_simulator import active_gates
from difflogic.evaluation.assurance import WOUND, in_words, keeps, question_of
from difflogic.evaluation.check_plan import Plan
from difflogic.evaluation.scene import Streams
from difflogic.evaluation.scores import Checked
from difflogic.evaluation.trial import count_wrong
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.proof.answer import Answer, Assurance
from difflogic.proof.prover import prove
from difflogic.system.streams import Purpose
from difflogic.tasks import make_task
from difflogic.tasks.base import Task

DEFAULT_STARTS = 64
"""Number of random starts by default."""


def held_out_streams(seed: int) -> Streams:
    """Return the random streams of the final tests, which nothing else uses."""
    return Streams(seed, Purpose.HELD_OUT_START, Purpose.HELD_OUT_MASK)


@lru_cache(1)  # a search asks about what the run then saves
def answer_about(model: Model) -> Answer:
    """Return what can be proved quickly about a model's hard circuit; equal on any machine."""
    return prove(question_of(from_model(model), make_task(model.config), WOUND))


def assure(model: Model) -> Assurance:
    """Return the same in words."""
    return in_words(answer_about(model))


def check(model: Model) -> Checked:
    """Count the wrong cells of the hard circuit at the training step, and at twice that step.

    Checks all cases if they can be listed (at the training step only), the only start, or
    DEFAULT_STARTS random starts, and `tested` says which. `exact` is as defined above; `exactness`
    sums the decisive counts.
    """
    config = model.config
    ops = model.ops
    task = make_task(config)
    plan = Plan.of(task, DEFAULT_STARTS, held_out_streams(config.training.seed))
    found = plan.judge(count_wrong(model.netlist, ops, plan.scene, plan.starts))
    now = found.counts[0]
    later = None
    if not plan.exhaustive:
        later = next(count for count in found.counts if count.step == 2 * now.step)
    return Checked(
        tested=name_starts(plan, task),
        starts=now.starts,
        cells=now.cells,
        step=now.step,
        wrong_cells=now.wrong_cells,
        later_step=later.step if later else None,
        wrong_cells_later=later.wrong_cells if later else None,
        exact=found.exact and keeps(from_model(model), task),
        exactness={"wrong_cells": found.wrong_cells, "cells": found.cells},
        active_gates=len(active_gates(model.netlist, ops, config.task.loss_channels)),
    )


def name_starts(plan: Plan, task: Task) -> str:
    """Say what the starts of a plan are, in words such as "64 random starts"."""
    if plan.exhaustive:
        return plan.name
    if task.has_random_start:
        return f"{plan.starts} random starts"
    return "the only start" if plan.starts == 1 else f"the only start, {plan.starts} times"
