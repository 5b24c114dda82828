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

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.specification import Cases
from difflogic.config import Config, TrainingConfig
from difflogic.engine.hard import active_gates
from difflogic.engine.layout import Grid
from difflogic.evaluation.assurance import WOUND, in_words, keeps, question_of
from difflogic.evaluation.scene import NumberedStarts, Patches, Scene, Streams, scene_of
from difflogic.evaluation.trial import Count, count_wrong
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.proof.answer import Answer, Assurance
from difflogic.proof.prover import prove
from difflogic.system.array_types import Bits
from difflogic.system.streams import Purpose
from difflogic.tasks import Task, draw_batch, later_steps, make_task

STARTS = 64
"""Number of random starts by default."""

MOST_DRAWN = 2**13
"""Most starts of training to compare with; drawing them takes a second."""


@dataclass(frozen=True)
class Exactness:
    """The wrong cells at each step; only `decisive` counts decide."""

    counts: tuple[Count, ...]

    @property
    def exact(self) -> bool:
        """Whether no decisive count has a wrong cell."""
        return self.wrong_cells == 0

    @property
    def wrong_cells(self) -> int:
        """Wrong cells in all decisive counts."""
        return sum(count.wrong_cells for count in self.counts if count.decisive)

    @property
    def cells(self) -> int:
        """Cells in all decisive counts."""
        return sum(count.cells for count in self.counts if count.decisive)

    def count_after(self, step: int) -> Count:
        """Return the count after `step` steps. Raises KeyError."""
        for count in self.counts:
            if count.step == step:
                return count
        raise KeyError(step)


@dataclass(frozen=True)
class Plan:
    """What to check to decide whether circuits of a task are exact.

    With one start and nothing random, `starts` is 1. If all cases can be listed, all are checked
    instead of random starts.
    """

    scene: Scene
    starts: int
    decisive: tuple[int, ...]
    """The steps after which no cell may be wrong."""
    name: str = "training grid"
    exhaustive: bool = False
    covers_all_starts: bool = False
    """Whether `starts` counts all starts, but they are too many to check every time."""
    proved: Task | None = None
    """The task, if a circuit must also be proved: that its targets stay, or on every size."""
    leads_on: bool = False
    """Whether it is of a stage before the last, where a line may fail on other lengths."""
    holds: bool = False
    """Whether a picture must stay."""
    numbered_starts: NumberedStarts | None = None
    """If every start must reach one target: that target, and starts found by certificates."""

    @classmethod
    def of(cls, config: Config, starts: int, streams: Streams) -> Plan:
        """Return the plan for `starts` random starts, one start, or all cases."""
        return cls.of_task(make_task(config), starts, streams)

    @classmethod
    def of_task(cls, task: Task, starts: int, streams: Streams) -> Plan:
        """Return the same for a task."""
        cases = task.find_cases() if task.automaton.fire_rate == 1 else None
        if cases is None:
            return cls.sampled(task, starts, streams)
        scene = _scene_of_cases(task, cases, streams)
        return cls(
            scene,
            len(cases.starts),
            scene.at,
            cases.name,
            exhaustive=True,
            proved=task if task.holds or task.stays or task.machine else None,
            holds=task.holds,
        )

    @classmethod
    def holding(cls, task: Task, streams: Streams) -> Plan:
        """Return the plan for one start whose target must stay.

        It checks every step from the training step T to 3T + 1: a search that checks only some
        steps finds circuits that are right only then.
        """
        steps = task.automaton.steps
        at = tuple(range(steps, 3 * steps + 2))
        return cls(scene_of(task, streams, at), 1, at, proved=task, holds=True)

    @classmethod
    def healing(cls, task: Task, streams: Streams) -> Plan:
        """Return the plan for one start that must grow back after each damage.

        It checks damaged rollouts at the training step T, 2T + 1 and 3T + 1, and the undamaged one
        at every step, as in `holding`.
        """
        steps = task.automaton.steps
        patches = np.concatenate(list(task.patches.values()))
        # Shuffle, since a search begins with the first ones.
        patches = patches[np.random.default_rng(0).permutation(len(patches))]
        damage = Patches(patches, steps + 1)
        at = tuple(range(steps, 3 * steps + 2))
        healed = steps, 2 * steps + 1, 3 * steps + 1
        undamaged_at = tuple(step for step in at if step not in healed)
        scene = replace(scene_of(task, streams, at), damage=damage, undamaged_at=undamaged_at)
        return cls(
            scene, 1 + len(patches), at, "damages", covers_all_starts=True, proved=task, holds=True
        )

    @classmethod
    def sampled(cls, task: Task, starts: int, streams: Streams) -> Plan:
        """Return the plan for `starts` random starts, even if all cases can be listed."""
        scene = scene_of(task, streams, later_steps(task.decisive_steps[0]))
        number = 1 if is_deterministic(task) else starts
        target = task.find_lasting_target()
        if target is None:
            return cls(
                scene,
                number,
                task.decisive_steps,
                proved=task if task.holds or task.machine or task.rule else None,
                holds=task.holds,
            )
        numbered_starts = NumberedStarts(scene.draw, target)
        scene = replace(scene, draw=numbered_starts.draw)
        return cls(
            scene,
            number,
            task.decisive_steps,
            proved=task if task.asks_every_size else None,
            numbered_starts=numbered_starts,
        )

    def judge(self, wrong: npt.NDArray[np.int64]) -> Exactness:
        """Return the counts from the wrong cells of each start, (steps, starts)."""
        return Exactness(
            tuple(
                replace(count, decisive=count.step in self.decisive)
                for count in Count.of_scene(self.name, self.scene, wrong)
            )
        )


def is_deterministic(task: Task) -> bool:
    """Whether there is only one start, and nothing random after it."""
    return task.automaton.fire_rate == 1 and not task.has_random_start


def _scene_of_cases(task: Task, cases: Cases, streams: Streams) -> Scene:
    def draw(first: int, batch: int) -> tuple[Bits, Bits]:
        some = slice(first, first + batch)
        return cases.starts[some], cases.targets[some]

    height, width = cases.starts.shape[2:]
    grid = Grid(height, width, cases.boundary)
    at = later_steps(cases.steps) if task.stays else (cases.steps,)
    return Scene(grid, draw, streams, at, tuple(task.loss_channels))


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


def check(model: Model, epochs: int | None = None) -> dict[str, Any]:
    """Count the wrong cells of the hard circuit at the training step, and at twice that step.

    Checks all cases if they can be listed (at the training step only), the only start, or STARTS
    random starts. `tested` says which, and how many of the starts were also drawn in the `epochs`
    of training, by default as many as configured; only starts that never were are *held out*.
    `exact` is as defined above; `exactness` sums the decisive counts.
    """
    config, ops = model.config, model.ops
    plan = Plan.of(config, STARTS, held_out_streams(config.training.seed))
    found = plan.judge(count_wrong(model.netlist, ops, plan.scene, plan.starts))
    now = found.counts[0]
    later = None if plan.exhaustive else found.count_after(2 * now.step)
    return {
        "tested": name_starts(
            plan,
            make_task(config),
            config.training,
            config.training.epochs if epochs is None else epochs,
        ),
        "starts": now.starts,
        "cells": now.cells,
        "step": now.step,
        "wrong_cells": now.wrong_cells,
        "later_step": later and later.step,
        "wrong_cells_later": later and later.wrong_cells,
        "exact": found.exact and keeps(from_model(model), make_task(config)),
        "exactness": {"wrong_cells": found.wrong_cells, "cells": found.cells},
        "active_gates": len(active_gates(model.netlist, ops, config.task.loss_channels)),
    }


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
