"""Why a plan is as it is: one line for each decision."""

from __future__ import annotations

from dataclasses import dataclass

from difflogic.config import Config
from difflogic.engine.layout import SLOTS
from difflogic.engine.plan import ParallelPlan, worth_waking
from difflogic.system.quantities import counted, show_bytes


@dataclass(frozen=True)
class Decision:
    """Something that a plan settles: what, how, and why."""

    what: str
    value: str
    why: str


def explain(config: Config, plan: ParallelPlan) -> list[Decision]:
    """Return the decisions of a plan that was made for `config`, in the order they are made."""
    return [
        Decision("lanes", *_lanes(config, plan)),
        Decision("chunks", *_chunks(config, plan)),
        Decision("groups", *_groups(plan)),
        Decision("workers", *_workers(config, plan)),
        Decision("strategy", *_strategy(config, plan)),
        Decision("tasks", *_tasks(plan)),
        Decision("waves", *_waves(plan)),
        Decision("memory", *_memory(config, plan)),
    ]


def _lanes(config: Config, plan: ParallelPlan) -> tuple[str, str]:
    rows = plan.rollouts.program.backward_rows + plan.rollouts.program.gradient_rows
    tile = show_bytes(rows * plan.lanes * plan.rollouts.dtype.itemsize)
    if config.parallel.lanes != "auto":
        return f"{plan.lanes}", f"[parallel] lanes; a tile takes {tile}"
    return f"{plan.lanes}", (
        f"four vectors of {plan.machine.vector} bytes, as far as a tile of {tile} fits the "
        f"second-level cache of {show_bytes(plan.machine.l2)} and the grid is shared evenly"
    )


def _chunks(config: Config, plan: ParallelPlan) -> tuple[str, str]:
    value = f"{len(plan.chunks)} of {counted(plan.chunk, 'tile')}"
    if config.parallel.chunk != "auto":
        return value, "[parallel] chunk"
    return value, (
        f"as small as can be, at least one tile, at most {SLOTS} to a group: many pieces balance; "
        "the cut follows from the problem, never from the workers, or bits would"
    )


def _groups(plan: ParallelPlan) -> tuple[str, str]:
    samples = counted(plan.samples_per_group, "sample")
    grid = plan.rollouts.grid
    return f"{plan.groups} of {samples}", f"{grid.height}×{grid.width} cells in tiles of up to 64"


def _workers(config: Config, plan: ParallelPlan) -> tuple[str, str]:
    value, asked = f"{plan.workers}", config.parallel.workers
    if plan.bytes_per_worker and asked != "auto":
        why = "[parallel] workers" if plan.workers == asked else "as many as the memory holds"
        return value, why if plan.workers > 1 or asked == 1 else "[parallel] strategy"
    bounds = {
        counted(plan.machine.cores, "core"): plan.machine.cores,
        counted(plan.at(plan.machine.cores).tasks, "task"): plan.at(plan.machine.cores).tasks,
        "a step too short to wake more for": worth_waking(plan),
    }
    least = min(bounds.values())
    if plan.workers < least:
        return value, "as many as the memory holds, or may share"
    return value, next(name for name, bound in bounds.items() if bound == least)


def _strategy(config: Config, plan: ParallelPlan) -> tuple[str, str]:
    if not plan.strategies:
        one = config.parallel.strategy == "sequential"
        return "sequential", "[parallel] strategy" if one else "one worker does it all"
    team, value = plan.team, ", then ".join(plan.strategies)
    shared = plan.groups - team.whole
    parts = []
    if team.whole:
        who = "one worker each, without waiting"
        if plan.parts > 1:
            who = f"{plan.parts} workers, who meet after each layer of a tile's gates"
        parts.append(f"{counted(team.whole, 'group')} by {who}")
    if shared:
        how = {
            "cells": "a barrier after each step",
            "steps": "each chunk as soon as those around it are done",
            "gates": f"{plan.parts} of them to the gates of each tile",
        }[plan.sharing.strategy]
        parts.append(f"{counted(shared, 'group')} by all workers, {how}")
    asked = config.parallel.strategy
    return value, "; ".join(parts) + ("" if asked == "auto" else "; [parallel] strategy")


def _tasks(plan: ParallelPlan) -> tuple[str, str]:
    per_worker = plan.tasks / plan.workers
    return f"{plan.tasks}", (
        f"at the same time: {per_worker:.3g} for each worker; no more than {plan.ceiling():.2f} "
        "times as fast as one, by number and size of tasks"
    )


def _waves(plan: ParallelPlan) -> tuple[str, str]:
    samples = counted(plan.wave, "sample")
    if plan.waves == 1:
        return "1", f"all {samples} in flight"
    return f"{plan.waves}", f"{samples} in flight: as many as the memory holds"


def _memory(config: Config, plan: ParallelPlan) -> tuple[str, str]:
    budget = "no limit is known" if plan.budget is None else f"of {show_bytes(plan.budget)}"
    whose = "available" if config.parallel.memory_budget == "auto" else "[parallel] memory_budget"
    search = "" if plan.search is None else f", of it {show_bytes(plan.search.bytes)} for searches"
    values = ""
    if plan.search is not None:
        values = f"; a circuit's values in a search up to {show_bytes(plan.search.values)} more"
    if plan.search is not None and plan.search.stays:
        values += f", {show_bytes(plan.search.later)} if it comes to look at later steps"
    return show_bytes(plan.bytes), (
        f"{show_bytes(plan.bytes_per_worker)} per worker, {show_bytes(plan.bytes_shared)} shared"
        f"{search}; {budget}, {whose}{values}"
    )
