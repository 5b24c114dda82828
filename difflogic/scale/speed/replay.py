"""The task graph of a training step, replayed with measured costs on any number of workers.

What is left out makes real machines slower: memory and caches that cores share, clocks that fall
as more of them work, and whatever else runs. Past what was measured it is a prediction.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from typing import cast

from difflogic.circuit.netlist import Netlist
from difflogic.engine.layout import make_layout
from difflogic.engine.plan import ParallelPlan
from difflogic.engine.sharing import Strategy
from difflogic.engine.split import split_program
from difflogic.scale.speed.costs import StepCosts

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
