"""What the parts of a training step cost on this machine, measured on one worker."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from difflogic.config import Config
from difflogic.engine.kernels.meeting import do_nothing, meet
from difflogic.engine.kernels.teams import CURSOR_FIELDS, TICKETS
from difflogic.engine.plan import ParallelPlan
from difflogic.engine.workers import Workers
from difflogic.system.memory import aligned
from difflogic.training.phases import PHASES, SHARED
from difflogic.training.trainer import Trainer

WARM_UP = 2
REPEAT = 12
MEETINGS, ROUNDS = 5, 400
"""Barriers of a round: all of the quickest were done while both workers had a core."""


@dataclass(frozen=True)
class StepCosts:
    """Seconds that the parts of a training step take at the least, undisturbed."""

    serial: dict[str, float]
    """Of what one thread does, by phase."""
    forward: float
    """Of one lane of a tile and one automaton step, forward."""
    backward: float
    """The same on the way back, with the values computed anew."""
    barrier: float
    """Of two workers' meeting."""
    wake: float
    """Of handing work to a worker, and hearing that it is done."""

    @property
    def serial_seconds(self) -> float:
        """Of all that one thread does in a step."""
        return sum(self.serial.values())


def measure_costs(
    config: Config, repeat: int = REPEAT, progress: Callable[[int], None] = lambda done: None
) -> StepCosts:
    """Measure `repeat` steps of `config` on one worker, after a warm-up, and what meeting costs.

    The least time of each part is taken, and all are scaled to the processor's time of the quickest
    step: what others do on this machine only adds to them.
    """
    # By one worker, and without searches, which come now and then.
    with Trainer(config.without_searches().with_sections(parallel={"workers": 1})) as trainer:
        trainer.warm_up()
        for _ in range(WARM_UP):
            trainer.step()
        seconds, processor = [], []
        for done in range(repeat):
            begun = time.thread_time()
            seconds.append(_step(trainer))
            processor.append(time.thread_time() - begun)
            progress(done + 1)
        lanes = lanes_of(trainer.plan)
    least = {phase: min(each[phase] for each in seconds) for phase in PHASES}
    # One worker is the thread that calls: its own time knows of no others.
    scale = min(1.0, min(processor) / sum(least.values()))
    least = {phase: scale * spent for phase, spent in least.items()}
    serial = {phase: spent for phase, spent in least.items() if spent and phase not in SHARED}
    return StepCosts(
        serial={**serial, "loss": least["loss"]},
        forward=least["forward"] / lanes,
        backward=least["backward"] / lanes,
        barrier=_barrier(),
        wake=_wake(),
    )


def lanes_of(plan: ParallelPlan) -> int:
    """Return the lanes of all tiles, steps and samples of a training step."""
    whole, rest = divmod(plan.batch, plan.wave)
    groups = whole * plan.groups + -(-rest // plan.samples_per_group)
    return groups * sum(plan.tiles) * plan.rollouts.steps


def _step(trainer: Trainer) -> dict[str, float]:
    before = dict(trainer.phases.seconds)
    trainer.step()
    return {phase: trainer.phases.seconds[phase] - before[phase] for phase in PHASES}


def _barrier() -> float:
    control, best = aligned((TICKETS,), np.int64), np.full(1, np.inf)
    cursors = [aligned((CURSOR_FIELDS,), np.int64) for _ in range(2)]
    with Workers(2) as workers:
        for rounds in (1, ROUNDS):
            calls = [
                (control, 2, cursor, MEETINGS, rounds, best if worker == 0 else np.full(1, np.inf))
                for worker, cursor in enumerate(cursors)
            ]
            workers.run(meet, calls)
    return float(best[0]) / MEETINGS


def _wake() -> float:
    with Workers(2) as workers:
        workers.run(do_nothing, [(0,), (1,)])
        return min(_seconds(workers, do_nothing, [(0,), (1,)]) for _ in range(20))


def _seconds(workers: Workers, kernel: Callable[..., Any], calls: list[tuple]) -> float:
    start = time.perf_counter()
    workers.run(kernel, calls)
    return time.perf_counter() - start
