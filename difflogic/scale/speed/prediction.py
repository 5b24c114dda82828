"""Predicted times of a training step on other numbers of workers and machines."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, log2
from typing import Any, cast

import numpy as np

from difflogic.circuit.netlist import Netlist
from difflogic.config import Config
from difflogic.engine.hardware import Machine
from difflogic.engine.kernels.probes import do_nothing, meet
from difflogic.engine.kernels.teams import CURSOR_FIELDS, TICKETS
from difflogic.engine.layout import make_layout
from difflogic.engine.plan import ParallelPlan
from difflogic.engine.sharing import Strategy
from difflogic.engine.split import split_program
from difflogic.engine.workers import Workers
from difflogic.model.model import Model
from difflogic.scale.speed.rows import measure, of_workers
from difflogic.system.arrays import aligned
from difflogic.system.json_values import fields_of
from difflogic.system.ranks import Ranks
from difflogic.training.phases import PHASES, SHARED
from difflogic.training.pool import AT_ONCE
from difflogic.training.rank_plan import RankPlan, exchanged_bytes
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


STRATEGIES = ("samples", "cells", "steps", "gates")


def with_strategy(plan: ParallelPlan, strategy: str, workers: int) -> ParallelPlan:
    """Return a plan that shares by one strategy: whole groups alone, cells, or a pipeline.

    Whole groups that divide evenly among workers are never cut, as in training.
    """
    if workers > 1:
        plan = replace(plan, sharing=replace(plan.sharing, strategy=cast(Strategy, strategy)))
    return plan.at(workers)


@dataclass(frozen=True)
class Meetings:
    """How often workers that share a tile's gates wait for each other, for each tile and step."""

    forward: int
    backward: int

    @classmethod
    def of(cls, netlist: Netlist) -> Meetings:
        """Return those of a circuit, as two workers share it."""
        code = split_program(netlist, 2)
        stages, back = len(code.gate_bounds), len(code.target_bounds)
        # Besides the stages: after gathering, and after the piece.
        return cls(stages + 2, stages + back + 2)


NO_MEETINGS = Meetings(0, 0)


def replay(plan: ParallelPlan, costs: StepCosts, meetings: Meetings = NO_MEETINGS) -> float:
    """Return the seconds of a training step on the plan's workers.

    Gates that are shared take as long as those that are not, in all, which is at best so.
    """
    seconds, left = costs.serial_seconds, plan.batch
    while left > 0:
        wave = replace(plan, wave=min(plan.wave, left))
        left -= wave.wave
        if wave.workers > 1:
            seconds += costs.wake + 3 * barrier_seconds(costs, wave.workers)
        seconds += _way(wave, costs, costs.forward, meetings.forward)
        seconds += _way(wave, costs, costs.backward, meetings.backward)
    return seconds


def barrier_seconds(costs: StepCosts, workers: int) -> float:
    """Return what a barrier takes: all workers count up one number, one after the other."""
    return 0.0 if workers == 1 else costs.barrier * workers / 2


def _way(plan: ParallelPlan, costs: StepCosts, per_lane: float, meetings: int) -> float:
    """Return the seconds of one way of a wave, forward or back."""
    team, steps = plan.team, plan.rollouts.steps
    meet = meetings * barrier_seconds(costs, plan.parts) * plan.chunk
    chunks = [lanes * per_lane / plan.parts + meet for lanes in plan.chunks]
    free = [0.0] * team.workers  # when each team is done with what it has
    for _ in range(team.whole):
        heapq.heapreplace(free, free[0] + steps * sum(chunks))
    shared = plan.groups - team.whole
    if not shared:
        return max(free)
    if plan.sharing.strategy == "steps" and team.workers > 1:
        return _pipeline(plan, free, per_lane)
    for _ in range(steps):
        for seconds in chunks * shared:
            heapq.heapreplace(free, free[0] + seconds)
        free = [max(free) + barrier_seconds(costs, team.workers)] * team.workers
    return max(free)


def _pipeline(plan: ParallelPlan, free: list[float], per_lane: float) -> float:
    """Return when a pipeline is done, whose workers are free at given times.

    A worker that is free takes the least advanced chunk that is ready, or waits for the next one.
    """
    layout = make_layout(plan.rollouts.grid, plan.lanes, plan.chunk)
    start, chunks = layout.seen_start, len(plan.chunks)
    sees = [layout.seen[start[c] : start[c + 1]].tolist() for c in range(chunks)]
    pieces = range((plan.groups - plan.team.whole) * chunks)
    around = [[piece - piece % chunks + c for c in sees[piece % chunks]] for piece in pieces]
    done = [[0.0] for _ in pieces]  # when each has done so many steps
    steps = plan.rollouts.steps
    ready = [(0.0, 0, piece) for piece in pieces]
    known = {(piece, 0) for piece in pieces}
    heapq.heapify(free)
    end = max(free)
    while ready:
        worker = heapq.heappop(free)
        now = max(worker, ready[0][0])
        able = [entry for entry in ready if entry[0] <= now]
        _, step, piece = min(able, key=lambda entry: (entry[1], entry[2]))
        ready = sorted(set(ready) - {entry for entry in able if entry[1:] == (step, piece)})
        finish = now + plan.chunks[piece % chunks] * per_lane
        heapq.heappush(free, finish)
        end = max(end, finish)
        done[piece].append(finish)
        for other in around[piece]:
            taken = len(done[other]) - 1
            if taken == steps or (other, taken) in known:
                continue
            if all(len(done[each]) > taken for each in around[other]):
                known.add((other, taken))
                ready.append((max(done[each][taken] for each in around[other]), taken, other))
        ready.sort()
    return end


MEASURED = (1, 2)
"""Worker counts that a simulation is held against."""
WITHIN = 0.15
"""Part by which it may be off there."""


@dataclass(frozen=True)
class Curves:
    """Seconds of a training step by workers, for each strategy."""

    config: Config
    seconds: Mapping[str, Mapping[int, float]]
    alone: float
    """On one worker."""
    planned: Mapping[int, float]
    """As the plan would share it, for the worker counts that were measured."""
    measured: Mapping[int, float]
    """What was measured there, the least of some steps; empty if nothing was."""

    @property
    def workers(self) -> list[int]:
        return sorted(next(iter(self.seconds.values())))

    def speedup(self, strategy: str, workers: int) -> float:
        """Return how many times as fast as one worker that is."""
        return self.alone / self.seconds[strategy][workers]

    @property
    def errors(self) -> dict[int, float]:
        """Part by which the simulation is above what was measured, by workers."""
        return {count: self.planned[count] / found - 1 for count, found in self.measured.items()}

    def as_dict(self) -> dict[str, Any]:
        """Everything, for machines, in seconds."""
        return {**fields_of(self, "errors"), "config": self.config.name}


def counts_between(first: int, last: int) -> list[int]:
    """Return worker counts between two: one, powers of two, halfway between, and both ends."""
    powers = [2**k for k in range(11)]
    every = {1, first, last, *powers, *(3 * power for power in powers)}
    return sorted(count for count in every if first <= count <= last or count == 1)


def simulate(
    config: Config,
    plan: ParallelPlan,
    costs: StepCosts,
    counts: Sequence[int],
    repeat: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Curves:
    """Replay a step for each strategy and number of workers; measure `repeat` steps to compare."""
    meetings = Meetings.of(Model.create(config).netlist)
    seconds = {
        strategy: {
            count: replay(with_strategy(plan, strategy, count), costs, meetings) for count in counts
        }
        for strategy in STRATEGIES
    }
    measured = {}
    if repeat:
        rows = measure(of_workers(config.without_searches(), MEASURED), repeat, progress).rows
        measured = {row.workers: row.total.minimum for row in rows}
    planned = {count: replay(plan.at(count), costs, meetings) for count in MEASURED}
    return Curves(config, seconds, replay(plan.at(1), costs), planned, measured)


def text_curves(curves: Curves, width: int = 40) -> list[str]:
    """Draw the best strategy's speed-up as bars, with the speed-up of each strategy."""
    names = list(curves.seconds)
    most = max(curves.speedup(name, count) for name in names for count in curves.workers)
    lines = [f"{'workers':>7}  " + "".join(f"{name:>9}" for name in names)]
    for count in curves.workers:
        speedups = [curves.speedup(name, count) for name in names]
        bar = "#" * round(width * max(speedups) / most)
        figures = "".join(f"{speedup:>8.2f}×" for speedup in speedups)
        lines.append(f"{count:>7}  {figures}  {bar}")
    return lines


BANDWIDTH = 125e6
"""Bytes per second of the network that is reckoned with: one gigabit per second."""


@dataclass(frozen=True)
class Network:
    """A training step by ranks on machines of their own."""

    ranks: int
    alone: float
    """Seconds of a step on one machine."""
    together: float
    """The same on all, if nothing had to be handed over."""
    messages: int
    """That follow each other in a step, each waiting for the one before."""
    large: int
    """Of these, those that hold the sums."""
    bytes_each: int
    """Of such a one."""

    @property
    def saved(self) -> float:
        """Seconds of a step that the other machines save, before anything is handed over."""
        return self.alone - self.together

    @property
    def transfer(self) -> float:
        """Seconds that the sums are on their way at BANDWIDTH, whatever the latency."""
        return self.large * self.bytes_each / BANDWIDTH

    @property
    def latency(self) -> float | None:
        """Seconds that a message may take to arrive for the machines to pay; None if none may."""
        left = (self.saved - self.transfer) / self.messages
        return left if left > 0 else None

    def as_dict(self) -> dict[str, Any]:
        """Everything, for machines, in seconds."""
        return fields_of(self, "saved", "transfer", "latency")


def network(
    config: Config, costs: StepCosts, ranks: int, machine: Machine | None = None
) -> Network:
    """Reckon with so many ranks, each on a machine like this one, or like a described one."""
    netlist = Model.create(config).netlist
    group = Ranks()
    alone = RankPlan.of(config, netlist, group, machine).plan
    group.size = ranks
    together = RankPlan.of(config, netlist, group, machine).plan
    spread = ceil(log2(ranks))  # as in a tree: who has it hands it on
    turns = 1 + ceil(config.pool.batch / (AT_ONCE * ranks))
    large = turns * (ranks - 1 + spread)
    return Network(
        ranks,
        replay(alone, costs),
        replay(together, costs),
        spread + large,
        large,
        exchanged_bytes(config, netlist.parameters),
    )
