"""Predicted times of a training step on other numbers of workers and machines.

The parts of a step are measured on one worker, and its task graph is replayed with these costs.
Real machines are slower than predicted: cores share memory and caches, clocks fall as more cores
work, and other programs run.
"""

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
from difflogic.engine.kernels.probes import do_nothing, time_barriers
from difflogic.engine.kernels.teams import CURSOR_FIELDS, TICKETS
from difflogic.engine.sharing import STRATEGIES, Strategy
from difflogic.engine.split import split_program
from difflogic.engine.workers import Workers
from difflogic.model.model import Model
from difflogic.scale.speed.rows import measure, of_workers
from difflogic.system.arrays import aligned
from difflogic.system.callbacks import ignore
from difflogic.system.json_values import fields_of
from difflogic.system.ranks import Ranks
from difflogic.training.metrics import PHASES, SHARED, WAITING
from difflogic.training.plan import ParallelPlan
from difflogic.training.pool import AT_ONCE
from difflogic.training.rank_plan import RankPlan, exchanged_bytes
from difflogic.training.searching import Trainer

WARM_UP = 2
REPEAT = 12
MEETINGS, ROUNDS = 5, 400
"""Barriers in a round, and rounds. The fastest round is one in which both workers had a core."""

MEASURED = (1, 2)
"""Worker counts at which a prediction is compared with a measurement."""
WITHIN = 0.15
"""Relative error that is acceptable there."""

BANDWIDTH = 125e6
"""Assumed network bandwidth in bytes per second: one gigabit per second."""


@dataclass(frozen=True)
class StepCosts:
    """Shortest times of the parts of a training step, in seconds."""

    serial: dict[str, float]
    """Work of one thread alone, by phase."""
    forward: float
    """One lane of a tile, one automaton step, forward."""
    backward: float
    """The same backward, including the recomputed values."""
    barrier: float
    """Two workers waiting for each other."""
    wake: float
    """Handing work to a worker and hearing that it is done."""

    @property
    def serial_seconds(self) -> float:
        """All work of one thread alone in a step."""
        return sum(self.serial.values())


def measure_costs(
    config: Config, repeat: int = REPEAT, progress: Callable[[int], None] = ignore
) -> StepCosts:
    """Measure `repeat` steps of `config` on one worker, and the cost of synchronising two.

    Other programs only add time, so the shortest time of each part counts. All are scaled to the
    processor time of the fastest step.
    """
    # Without searches, which do not happen in every step.
    with Trainer(config.without_searches().with_sections(parallel={"workers": 1})) as trainer:
        trainer.warm_up()
        for _ in range(WARM_UP):
            trainer.step()
        seconds, processor = [], []
        for done in range(repeat):
            before, begun = dict(trainer.phases.seconds), time.thread_time()
            trainer.step()
            processor.append(time.thread_time() - begun)
            seconds.append({each: trainer.phases.seconds[each] - before[each] for each in PHASES})
            progress(done + 1)
        lanes = lanes_of(trainer.plan)
    least = {each: min(step[each] for step in seconds) for each in PHASES if each != WAITING}
    # The one worker is this thread, so its processor time is that of the step.
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


def _barrier() -> float:
    control, best = aligned((TICKETS,), np.int64), np.full(1, np.inf)
    cursors = [aligned((CURSOR_FIELDS,), np.int64) for _ in range(2)]
    with Workers(2) as workers:
        for rounds in (1, ROUNDS):
            calls = [
                (control, 2, cursor, MEETINGS, rounds, best if worker == 0 else np.full(1, np.inf))
                for worker, cursor in enumerate(cursors)
            ]
            workers.run(time_barriers, calls)
    return float(best[0]) / MEETINGS


def _wake() -> float:
    best = np.inf
    with Workers(2) as workers:
        for _ in range(21):
            start = time.perf_counter()
            workers.run(do_nothing, [(0,), (1,)])
            best = min(best, time.perf_counter() - start)
    return best


def with_strategy(plan: ParallelPlan, strategy: str, workers: int) -> ParallelPlan:
    """Return the plan with another strategy and number of workers.

    As in training, groups of samples that divide evenly among the workers are not cut.
    """
    if workers > 1:
        plan = replace(plan, sharing=replace(plan.sharing, strategy=cast(Strategy, strategy)))
    return plan.at(workers)


def barriers_of(netlist: Netlist) -> tuple[int, int]:
    """Return how often two workers that share a tile's gates wait for each other, per step.

    Forward, and backward.
    """
    code = split_program(netlist, 2)
    stages, back = len(code.gate_bounds), len(code.target_bounds)
    # Two more: after gathering, and after the tile.
    return stages + 2, stages + back + 2


def replay(plan: ParallelPlan, costs: StepCosts, barriers: tuple[int, int] = (0, 0)) -> float:
    """Return the predicted seconds of a training step on the plan's workers.

    `barriers` are those of `barriers_of`. Shared gates are assumed to take as long in total as
    unshared ones, which is the best case.
    """
    forward, backward = barriers
    seconds, left = costs.serial_seconds, plan.batch
    while left > 0:
        wave = replace(plan, wave=min(plan.wave, left))
        left -= wave.wave
        if wave.workers > 1:
            seconds += costs.wake + 3 * barrier_seconds(costs, wave.workers)
        seconds += _pass_seconds(wave, costs, costs.forward, forward)
        seconds += _pass_seconds(wave, costs, costs.backward, backward)
    return seconds


def barrier_seconds(costs: StepCosts, workers: int) -> float:
    """Return the time of a barrier: all workers increment one number, one after the other."""
    return 0.0 if workers == 1 else costs.barrier * workers / 2


def _pass_seconds(plan: ParallelPlan, costs: StepCosts, per_lane: float, barriers: int) -> float:
    """Return the seconds of a wave's forward or backward pass."""
    team, steps = plan.team, plan.rollouts.steps
    waiting = barriers * barrier_seconds(costs, plan.parts) * plan.tiles_per_chunk
    chunks = [lanes * per_lane / plan.parts + waiting for lanes in plan.chunks]
    free = [0.0] * team.workers  # when each team finishes its current work
    for _ in range(team.groups_alone):
        heapq.heapreplace(free, free[0] + steps * sum(chunks))
    shared = plan.groups - team.groups_alone
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
    """Return when a pipeline is done, given when each worker becomes free.

    A free worker takes the least advanced chunk that is ready, or waits for the next one.
    """
    layout = plan.layout
    start, chunks = layout.seen_start, len(plan.chunks)
    sees = [layout.seen[start[c] : start[c + 1]].tolist() for c in range(chunks)]
    pieces = range((plan.groups - plan.team.groups_alone) * chunks)
    around = [[piece - piece % chunks + c for c in sees[piece % chunks]] for piece in pieces]
    done = [[0.0] for _ in pieces]  # done[piece][n]: when the piece finished n steps
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


@dataclass(frozen=True)
class Curves:
    """Predicted seconds of a training step by number of workers."""

    seconds: Mapping[str, Mapping[int, float]]
    """By strategy, then by workers, from 1 on."""
    planned: Mapping[int, float]
    """With the plan's own strategy, at the measured worker counts."""
    measured: Mapping[int, float]
    """The shortest measured step at these worker counts; empty if nothing was measured."""

    @property
    def workers(self) -> list[int]:
        return sorted(next(iter(self.seconds.values())))

    def speedup(self, strategy: str, workers: int) -> float:
        """Return the speed-up over one worker."""
        return self.seconds[strategy][1] / self.seconds[strategy][workers]

    @property
    def errors(self) -> dict[int, float]:
        """Relative error of the prediction, by workers; positive if it is too high."""
        return {count: self.planned[count] / found - 1 for count, found in self.measured.items()}

    def as_dict(self) -> dict[str, Any]:
        """Return everything, in seconds."""
        return fields_of(self, "errors")


def counts_between(first: int, last: int) -> list[int]:
    """Return 1, both ends, and between them the powers of two and the numbers halfway."""
    powers = [2**k for k in range(11)]
    every = {1, first, last, *powers, *(3 * power for power in powers)}
    return sorted(count for count in every if first <= count <= last or count == 1)


def simulate(
    config: Config,
    plan: ParallelPlan,
    costs: StepCosts,
    counts: Sequence[int],
    repeat: int = 0,
    progress: Callable[[int], None] = ignore,
) -> Curves:
    """Replay a step for each strategy and worker count; measure `repeat` steps to compare."""
    barriers = barriers_of(Model.create(config).netlist)
    seconds: dict[str, dict[int, float]] = {
        strategy: {
            count: replay(with_strategy(plan, strategy, count), costs, barriers) for count in counts
        }
        for strategy in STRATEGIES
    }
    measured = {}
    if repeat:
        rows = measure(of_workers(config.without_searches(), MEASURED), repeat, progress).rows
        measured = {row.workers: row.total.minimum for row in rows}
    planned = {count: replay(plan.at(count), costs, barriers) for count in MEASURED}
    return Curves(seconds, planned, measured)


@dataclass(frozen=True)
class Network:
    """A training step shared by ranks, each on its own machine."""

    ranks: int
    on_one_machine: float
    """Seconds of a step on one machine."""
    on_all_machines: float
    """Seconds on all machines, without communication."""
    messages: int
    """Messages of a step that wait for each other."""
    large_messages: int
    """Those among them that carry the gradient sums."""
    bytes_per_large_message: int

    @property
    def saved(self) -> float:
        """Seconds of a step that the other machines save, before communication."""
        return self.on_one_machine - self.on_all_machines

    @property
    def transfer(self) -> float:
        """Seconds to transfer the sums at BANDWIDTH, without latency."""
        return self.large_messages * self.bytes_per_large_message / BANDWIDTH

    @property
    def latency(self) -> float | None:
        """Longest time of a message, in seconds, at which the machines pay off; None if never."""
        left = (self.saved - self.transfer) / self.messages
        return left if left > 0 else None

    def as_dict(self) -> dict[str, Any]:
        """Return everything, in seconds."""
        return fields_of(self, "saved", "transfer", "latency")


def network(
    config: Config, costs: StepCosts, ranks: int, machine: Machine | None = None
) -> Network:
    """Predict a step shared by `ranks` machines like this one, or like a described one.

    Nobody else is assumed to use the network.
    """
    netlist = Model.create(config).netlist
    group = Ranks()
    one_machine = RankPlan.of(config, netlist, group, machine).plan
    group.size = ranks
    all_machines = RankPlan.of(config, netlist, group, machine).plan
    spread = ceil(log2(ranks))  # a broadcast along a tree
    turns = 1 + ceil(config.pool.batch / (AT_ONCE * ranks))
    large = turns * (ranks - 1 + spread)
    return Network(
        ranks,
        replay(one_machine, costs),
        replay(all_machines, costs),
        spread + large,
        large,
        exchanged_bytes(config, netlist.parameters),
    )
