"""Whether a hard circuit does what it was trained for, without a wrong cell.

Exact means, on starts that training never used:
- for a target that stays: no wrong cell at the training step T, and none at T + 1, 2T and 2T + 1:
  a circuit that is right at even steps only does not pass;
- for a task that lists all its cases: all of them right, which is a proof;
- for a picture that is to stay: none at T, T + 1, 2T and 2T + 1, and a proof that none ever is;
  if damages are to grow back, also that all of them do;
- for all others: no wrong cell at T.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.config import Config
from difflogic.engine.hard import Bits, active_gates
from difflogic.engine.layout import Grid
from difflogic.evaluation.assurance import assure
from difflogic.evaluation.scene import FoundStarts, Patches, Scene, Streams, scene_of
from difflogic.evaluation.subject import CircuitTest, Draw, Subject, any_task
from difflogic.evaluation.trial import Count, count_wrong
from difflogic.model.model import Model
from difflogic.system.streams import Purpose
from difflogic.tasks import Cases, Task, later_steps, make_task

STARTS = 64
"""Number of held-out starts by default."""

SOUP_SIDE, SOUP_STEPS = 128, 300
"""As published: 128×128 cells for 300 steps."""


@dataclass(frozen=True)
class Exactness:
    """The wrong cells at each step; only those of `decisive` counts decide."""

    counts: tuple[Count, ...]

    @property
    def exact(self) -> bool:
        """Whether no cell is wrong where none may be."""
        return self.wrong_cells == 0

    @property
    def wrong_cells(self) -> int:
        """Wrong cells in all decisive counts together."""
        return sum(count.wrong_cells for count in self.counts if count.decisive)

    @property
    def cells(self) -> int:
        """Cells in all decisive counts together."""
        return sum(count.cells for count in self.counts if count.decisive)

    def at(self, step: int) -> Count:
        """Return the count after `step` steps; KeyError if that was not counted."""
        for count in self.counts:
            if count.step == step:
                return count
        raise KeyError(step)


@dataclass(frozen=True)
class Plan:
    """What to check to decide whether circuits of a task are exact.

    With one start and nothing random, `starts` is 1. If all cases can be listed, all are checked,
    and none is drawn.
    """

    scene: Scene
    starts: int
    decisive: tuple[int, ...]
    """The steps after which no cell may be wrong."""
    what: str = "training grid"
    exhaustive: bool = False
    listed: bool = False
    """Whether the `starts` are all starts, but too many to check every time."""
    held: Task | None = None
    """The task, if its picture has to stay; a proof is then required, too."""
    general: Task | None = None
    """The task, if a circuit has to be proved for every length or size; for lengths, refuted is
    as good."""
    found_starts: FoundStarts | None = None
    """If every start has to reach one target: that target, and starts that were found."""

    @classmethod
    def of(cls, config: Config, starts: int, streams: Streams) -> Plan:
        """Return the plan for `starts` random starts, or for fewer if not all is random."""
        task = make_task(config)
        cases = task.find_cases()
        if cases is None:
            return cls.sampled(task, starts, streams)
        scene = _scene_of_cases(task, cases, streams)
        held = task if task.holds else None
        return cls(scene, len(cases.starts), scene.at, cases.what, exhaustive=True, held=held)

    @classmethod
    def holding(cls, task: Task, streams: Streams) -> Plan:
        """Return the plan for one start whose target has to stay.

        It checks every step from the training step T to 3T + 1: a search that checks only some
        finds circuits that are right only at those.
        """
        steps = task.automaton.steps
        at = tuple(range(steps, 3 * steps + 2))
        return cls(scene_of(task, streams, at), 1, at, held=task)

    @classmethod
    def healing(cls, task: Task, streams: Streams) -> Plan:
        """Return the plan for one start that has to grow back after each damage.

        Damaged rollouts are checked at the training step T, and at 2T + 1 and 3T + 1; the
        undamaged one at every step, as in `holding`.
        """
        steps = task.automaton.steps
        patches = np.concatenate(list(task.patches.values()))
        # Shuffled, since a search begins with the first ones.
        patches = patches[np.random.default_rng(0).permutation(len(patches))]
        damage = Patches(patches, steps + 1)
        at = tuple(range(steps, 3 * steps + 2))
        healed = steps, 2 * steps + 1, 3 * steps + 1
        alone = tuple(step for step in at if step not in healed)
        scene = replace(scene_of(task, streams, at), damage=damage, alone=alone)
        return cls(scene, 1 + len(patches), at, "damages", listed=True, held=task)

    @classmethod
    def sampled(cls, task: Task, starts: int, streams: Streams) -> Plan:
        """Return the plan for `starts` random starts, even if all cases can be listed."""
        scene = scene_of(task, streams, later_steps(task.automaton.steps))
        number = 1 if is_deterministic(task) else starts
        target = task.find_lasting_target()
        if target is None:
            held, general = (
                task if task.holds else None,
                task if task.machine or task.rule else None,
            )
            return cls(scene, number, task.decisive_steps, held=held, general=general)
        found_starts = FoundStarts(scene.draw, target)
        scene = replace(scene, draw=found_starts.draw)
        return cls(scene, number, task.decisive_steps, found_starts=found_starts)

    def judge(self, wrong: npt.NDArray[np.int64]) -> Exactness:
        """Return the counts, from the wrong cells of each start (steps, starts)."""
        return Exactness(
            tuple(
                replace(count, decisive=count.step in self.decisive)
                for count in Count.of_scene(self.what, self.scene, wrong)
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
    return Scene(grid, draw, streams, (cases.steps,), tuple(task.loss_channels))


def held_out_streams(seed: int) -> Streams:
    """Return the streams of the final scores, which nothing else uses."""
    return Streams(seed, Purpose.HELD_OUT_START, Purpose.HELD_OUT_MASK)


def held_out(model: Model) -> dict[str, Any]:
    """Count the wrong cells of the hard circuit at the training step and at twice that step.

    Uses STARTS starts. `exact` is as defined above; `exactness` sums the counts that decide it.
    """
    config, ops = model.config, model.ops
    streams = held_out_streams(config.training.seed)
    plan = Plan.of(config, STARTS, streams)
    decisive = plan.judge(_wrong_cells(model, plan))
    found = decisive
    if plan.exhaustive:
        sampled = Plan.sampled(make_task(config), STARTS, streams)
        found = sampled.judge(_wrong_cells(model, sampled))
    steps = config.automaton.steps
    now, later = found.at(steps), found.at(2 * steps)
    return {
        "starts": now.starts,
        "cells": now.cells,
        "step": now.step,
        "wrong_cells": now.wrong_cells,
        "later_step": later.step,
        "wrong_cells_later": later.wrong_cells,
        "exact": decisive.exact and keeps(model),
        "exactness": {"wrong_cells": decisive.wrong_cells, "cells": decisive.cells},
        "active_gates": len(active_gates(model.netlist, ops)),
    }


def keeps(model: Model) -> bool:
    """Whether a circuit is proved to keep its picture, if its task asks for that."""
    return not make_task(model.config).holds or assure(model).proved


def _wrong_cells(model: Model, plan: Plan) -> npt.NDArray[np.int64]:
    return count_wrong(model.netlist, model.ops, plan.scene, plan.starts)


def run(subject: Subject) -> dict[str, Any]:
    """Count wrong cells at T, T + 1, 2T and 2T + 1, or in all cases; with a rule, in a soup too."""
    config, task = subject.config, subject.task
    starts = subject.starts or STARTS
    plan = Plan.of(config, starts, held_out_streams(subject.seed))
    found = plan.judge(_wrong_cells(subject.model, plan))
    counts, notes, more = list(found.counts), [], {}
    if is_deterministic(task):
        notes.append("There is one start only, and nothing random: one rollout tells all.")
    if task.exactness_note is not None:
        notes.append(task.exactness_note)
    cases = task.find_cases()
    if cases is not None:
        notes.append(cases.note)
        if cases.repeats is not None and len(task.loss_channels) == 1:
            more["wrong_neighborhoods"] = counts[0].wrong_cells // cases.repeats
    if task.moves_on() and config.automaton.fire_rate == 1:
        found_in_soup = run_soup(subject)
        counts.append(found_in_soup.pop("count"))
        more |= found_in_soup
    exact = found.exact and keeps(subject.model)
    return {"exact": exact, "counts": counts, "notes": notes, **more}


def run_soup(subject: Subject) -> dict[str, Any]:
    """Run a soup of fair bits beside the real rule, and compare after every step.

    Only for tasks whose targets move on. A circuit that was trained for T steps is compared after
    every T of them. Returns the counts of all compared steps together and the first step with a
    wrong cell, or None.
    """
    steps = subject.config.automaton.steps
    torus = subject.task.on_grid(SOUP_SIDE, SOUP_SIDE, boundary="periodic", steps=1)
    at = range(steps, max(SOUP_STEPS, steps) + 1, steps)
    scene = scene_of(torus, subject.streams(Draw.SOUP), tuple(at))
    wrong = count_wrong(subject.model.netlist, subject.ops, scene, 1)
    bad = np.flatnonzero(wrong[:, 0])
    count = Count(
        f"random soup, {len(at)} steps together",
        scene.grid.height,
        scene.grid.width,
        scene.fire_rate,
        at[-1],
        1,
        int(len(bad) > 0),
        scene.cells * len(at),
        int(wrong.sum()),
    )
    return {"count": count, "first_wrong_step": at[int(bad[0])] if len(bad) else None}


EXACTNESS = CircuitTest("exactness", "wrong cells on held-out starts; exact: none", any_task, run)
