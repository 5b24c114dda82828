"""Whether a hard circuit does what it was trained for, with no cell wrong anywhere.

Exact means, over starts that were never trained on:
- checkerboard: no wrong cell at the training step T, and none at T + 1, 2T and 2T + 1, since the
  target is to stay: a circuit that is right at even steps only does not pass;
- life: for one step at fire rate 1, all 512 neighbourhoods right, which is a proof; for more
  steps, no wrong cell at T;
- pattern: no wrong cell at T, as the published loss asks for no more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.config import Config
from difflogic.engine.hard import Bits, active_gates
from difflogic.engine.layout import Grid
from difflogic.evaluation.counts import Count
from difflogic.evaluation.life import life_on_torus, soup
from difflogic.evaluation.scene import Scene, Streams, scene_of
from difflogic.evaluation.suite import Subject, Suite
from difflogic.evaluation.trial import Ops, Trial, count_wrong
from difflogic.model import Model
from difflogic.netlist import Netlist
from difflogic.streams import Purpose

STARTS = 64
"""Held-out starts at least, unless one asks for fewer."""

BOARDS = 512
"""Boards of 3×3 cells. On a torus each cell sees another of the 512 neighbourhoods."""


@dataclass(frozen=True)
class Exactness:
    """The wrong cells at each step; only those of `required` counts decide."""

    counts: tuple[Count, ...]

    @property
    def exact(self) -> bool:
        """Whether no cell is wrong where none may be."""
        return self.wrong_cells == 0

    @property
    def wrong_cells(self) -> int:
        """Wrong cells in all required counts together."""
        return sum(count.wrong_cells for count in self.counts if count.required)

    @property
    def cells(self) -> int:
        """Cells in all required counts together."""
        return sum(count.cells for count in self.counts if count.required)

    def at(self, step: int) -> Count:
        """Return the count after `step` steps; KeyError if that was not counted."""
        for count in self.counts:
            if count.step == step:
                return count
        raise KeyError(step)


@dataclass(frozen=True)
class Plan:
    """What is to be looked at to tell whether circuits of a configuration are exact.

    Where there is only one start, and nothing random, `starts` is 1; where all 512 boards can be
    checked, they are, and nothing is drawn.
    """

    scene: Scene
    starts: int
    required: tuple[int, ...]
    exhaustive: bool

    @classmethod
    def of(cls, config: Config, starts: int, streams: Streams) -> Plan:
        """Return the plan for `starts` random starts, as far as there is anything random."""
        if is_exhaustive(config):
            return cls(_all_boards(config, streams), BOARDS, (1,), exhaustive=True)
        steps = config.automaton.steps
        scene = scene_of(config, streams, later_steps(steps))
        required = scene.at if config.task.kind == "checkerboard" else (steps,)
        return cls(scene, 1 if is_deterministic(config) else starts, required, exhaustive=False)

    def judge(self, wrong: npt.NDArray[np.int64]) -> Exactness:
        """Return the counts, from the wrong cells of each start (steps, starts)."""
        what = f"all {BOARDS} boards" if self.exhaustive else "training grid"
        return Exactness(tuple(
            replace(count, required=count.step in self.required)
            for count in Count.of_scene(what, self.scene, wrong)
        ))  # fmt: skip


class ExactnessCheck:
    """Checks circuits of one netlist for exactness; starts and masks are drawn once.

    `streams` says from where: never from what training draws, and from Purpose.CHECK_START and
    CHECK_MASK if the result steers training, so that held-out starts stay held out. The memory
    is a bit per start, cell and channel, and with masks one per start, cell and step.
    """

    def __init__(self, config: Config, netlist: Netlist, starts: int, streams: Streams) -> None:
        self.plan = Plan.of(config, starts, streams)
        self._trial = Trial(netlist, self.plan.scene, range(self.plan.starts))

    def __call__(self, ops: Ops) -> Exactness:
        """Count the wrong cells of the circuit with `ops`, shape (parameters,)."""
        return self.plan.judge(self._trial(ops))


def later_steps(steps: int) -> tuple[int, ...]:
    """Return T, T + 1, 2T and 2T + 1, each once."""
    return tuple(sorted({steps, steps + 1, 2 * steps, 2 * steps + 1}))


def is_exhaustive(config: Config) -> bool:
    """Whether the 512 boards of 3×3 cells are all that there is to check."""
    automaton = config.automaton
    return config.task.kind == "life" and automaton.steps == 1 and automaton.fire_rate == 1


def is_deterministic(config: Config) -> bool:
    """Whether there is one start only, and nothing random after it."""
    return config.task.kind == "pattern" and config.automaton.fire_rate == 1


def _all_boards(config: Config, streams: Streams) -> Scene:
    life = life_on_torus(config, 3, 3)

    def draw(first: int, batch: int) -> tuple[Bits, Bits]:
        numbers = np.arange(first, first + batch)
        boards = (numbers[:, None] >> np.arange(9) & 1).astype(np.uint8).reshape(-1, 3, 3)
        channels = list(life.loss_channels)
        starts = np.zeros((batch, life.channels, 3, 3), np.uint8)
        starts[:, channels] = boards[:, None]
        targets = np.array([life.advance(board) for board in boards])
        return starts, np.repeat(targets[:, None], len(channels), axis=1)

    return Scene(Grid(3, 3, "periodic"), draw, streams, (1,), life.loss_channels)


def held_out_streams(seed: int) -> Streams:
    """Return the streams of the final scores, which nothing else ever draws."""
    return Streams(seed, Purpose.HELD_OUT_START, Purpose.HELD_OUT_MASK)


def held_out(model: Model) -> dict[str, Any]:
    """Count the wrong cells of the hard circuit at the training step and at twice that step.

    Runs [evaluation] starts of the model's configuration. `exact` is as defined above, and the
    counts that decide on it are added up in `exactness`; gates are counted per cell and step.
    """
    config, ops = model.config, model.ops
    streams = held_out_streams(config.training.seed)
    plan = Plan.of(config, config.evaluation.starts, streams)
    decisive = plan.judge(_wrong_cells(model, plan))
    found = decisive
    if plan.exhaustive:
        scene = scene_of(config, streams, later_steps(config.automaton.steps))
        sampled = Plan(scene, config.evaluation.starts, (), exhaustive=False)
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
        "exact": decisive.exact,
        "exactness": {"wrong_cells": decisive.wrong_cells, "cells": decisive.cells},
        "active_gates": len(active_gates(model.netlist, ops)),
    }


def _wrong_cells(model: Model, plan: Plan) -> npt.NDArray[np.int64]:
    return count_wrong(model.netlist, model.ops, plan.scene, plan.starts)


def run(subject: Subject) -> dict[str, Any]:
    """Count wrong cells at T, T + 1, 2T and 2T + 1; for life, on all boards and in a soup."""
    config = subject.config
    starts = subject.starts or max(STARTS, config.evaluation.starts)
    plan = Plan.of(config, starts, held_out_streams(subject.seed))
    found = plan.judge(_wrong_cells(subject.model, plan))
    counts, notes, more = list(found.counts), [], {}
    if is_deterministic(config):
        notes.append("There is one start only, and nothing random: one rollout tells all.")
    if config.task.kind == "pattern":
        notes.append("Exact asks for the training step only, as the published loss does.")
    if plan.exhaustive:
        notes.append("Every cell of a 3×3 torus sees another of the 512 neighbourhoods.")
        if len(config.task.loss_channels) == 1:
            more["wrong_neighborhoods"] = counts[0].wrong_cells // 9
    if config.task.kind == "life" and config.automaton.fire_rate == 1:
        found_in_soup = soup(subject)
        counts.append(found_in_soup.pop("count"))
        more |= found_in_soup
    return {"exact": found.exact, "counts": counts, "notes": notes, **more}


EXACTNESS = Suite(
    "exactness", "wrong cells on held-out starts; exact is none", lambda config: None, run
)
