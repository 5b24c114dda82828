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

from difflogic.config.sections import TrainingConfig
from difflogic.engine.hard.hard_simulator import active_gates
from difflogic.evaluation.assurance import WOUND, in_words, keeps, question_of
from difflogic.evaluation.check_plan import Plan, is_deterministic
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
from difflogic.tasks.checked import draw_batch

STARTS = 64
"""Number of random starts by default."""

MOST_DRAWN = 2**13
"""Most starts of training to compare with; drawing them takes a second."""


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


def check(model: Model, epochs: int | None = None) -> Checked:
    """Count the wrong cells of the hard circuit at the training step, and at twice that step.

    Checks all cases if they can be listed (at the training step only), the only start, or STARTS
    random starts. `tested` says which, and how many of the starts were also drawn in the `epochs`
    of training, by default as many as configured; only starts that never were are *held out*.
    `exact` is as defined above; `exactness` sums the decisive counts.
    """
    config = model.config
    ops = model.ops
    task = make_task(config)
    plan = Plan.of(task, STARTS, held_out_streams(config.training.seed))
    found = plan.judge(count_wrong(model.netlist, ops, plan.scene, plan.starts))
    now = found.counts[0]
    later = None if plan.exhaustive else found.count_after(2 * now.step)
    return Checked(
        tested=name_starts(
            plan, task, config.training, config.training.epochs if epochs is None else epochs
        ),
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


def name_starts(plan: Plan, task: Task, training: TrainingConfig, epochs: int) -> str:
    """Say what the starts of a plan are, in words such as "64 held-out starts"."""
    if plan.exhaustive:
        return plan.name
    if is_deterministic(task):
        return "the only start"
    if not task.has_random_start:
        return f"the only start, {plan.starts} times"
    starts, _ = plan.scene.draw(0, plan.starts)
    fresh = {start.tobytes() for start in starts}
    # In a stage, training drew other starts; to count those of the last one as drawn is safe.
    looked_at = min(epochs, -(-MOST_DRAWN // training.batch))
    for epoch in range(looked_at):
        drawn, _ = draw_batch(task, training.seed, epoch, training.batch)
        fresh -= {start.tobytes() for start in drawn}
    seen = sum(start.tobytes() not in fresh for start in starts)
    if seen:
        return f"{plan.starts} random starts, {seen} of which training drew, too"
    return f"{plan.starts} {'random' if looked_at < epochs else 'held-out'} starts"
