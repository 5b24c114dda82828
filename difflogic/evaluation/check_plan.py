"""What to check of circuits to decide whether they are exact, and what was counted."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from difflogic.circuit.grid import Grid
from difflogic.circuit.specification import Cases
from difflogic.evaluation.scene import NumberedStarts, Patches, Scene, Streams, scene_of
from difflogic.evaluation.scores import Counted
from difflogic.evaluation.trial import counts_of
from difflogic.system.array_types import Bits, Int64s
from difflogic.system.streams import Purpose
from difflogic.tasks.base import Task
from difflogic.tasks.checked import later_steps


@dataclass(frozen=True)
class StepCounts:
    """The wrong cells at each step; only `decisive` counts decide."""

    counts: list[Counted]

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
    def of(cls, task: Task, starts: int, streams: Streams) -> Plan:
        """Return the plan for `starts` random starts, one start, or all cases."""
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
    def searched(cls, task: Task, starts: int, seed: int) -> Plan:
        """Return a search's plan. Its streams are not those of the final tests."""
        streams = Streams(seed, Purpose.CHECK_START, Purpose.CHECK_MASK)
        if task.damages or (task.holds and is_deterministic(task)):
            plan = cls.holding(task, streams)
        else:
            plan = cls.of(task, starts, streams)
        return plan if task.whole is task else replace(plan, proved=task.whole)

    @classmethod
    def holding(cls, task: Task, streams: Streams) -> Plan:
        """Return the plan for one start whose target must stay, and grow back after each damage.

        It checks every step from the training step T to 3T + 1: a search that checks only some
        steps finds circuits that are right only then. Damaged rollouts count at T, 2T + 1 and
        3T + 1.
        """
        steps = task.automaton.steps
        at = tuple(range(steps, 3 * steps + 2))
        scene = scene_of(task, streams, at)
        if not task.damages:
            return cls(scene, 1, at, proved=task, holds=True)
        patches = np.concatenate(list(task.patches.values()))
        # Shuffle, since a search begins with the first ones.
        patches = patches[np.random.default_rng(0).permutation(len(patches))]
        damage = Patches(patches, steps + 1)
        healed = steps, 2 * steps + 1, 3 * steps + 1
        undamaged_at = tuple(step for step in at if step not in healed)
        scene = replace(scene, damage=damage, undamaged_at=undamaged_at)
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

    def judge(self, wrong: Int64s) -> StepCounts:
        """Return the counts from the wrong cells of each start, (steps, starts)."""
        counts = counts_of(self.name, self.scene, wrong)
        return StepCounts(
            [each.model_copy(update={"decisive": each.step in self.decisive}) for each in counts]
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
