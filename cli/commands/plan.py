"""`dct plan`: shows how training is divided among workers, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from cli.failures import note
from cli.options import AsJson, Configured, WorkerCounts, with_flags
from cli.terminal import output
from difflogic.system.declaration import Recipe
from difflogic.system.quantities import counted, show_bytes

if TYPE_CHECKING:
    from difflogic.speed.benchmark import Planned
    from difflogic.training.plan import ParallelPlan


BESIDES_BYTES = 170 * 10**6
"""Of a process that has trained some steps, without its buffers."""


def plan(
    given: Configured, workers: WorkerCounts = None, recipe: Recipe = None, as_json: AsJson = False
) -> None:
    """Show how training is divided among workers and laid out in memory.

    Nothing is measured: dct bench --workers 1,2,4 does that. Results never depend on the number of
    workers.
    """
    import difflogic
    from difflogic.config import load_config

    several = workers if isinstance(workers, tuple) else ()
    chosen = with_flags(workers=None if several else workers)
    settings = load_config(given.source, [*given.overrides, *chosen], recipe)
    found = difflogic.plan(settings, workers=several)
    output.show(found, as_json, _show)
    for warning in found.plan.warnings:
        note(f"warning: {warning}")


def _show(found: Planned) -> None:
    plan = found.plan
    grid = plan.rollouts.grid
    steps = counted(plan.rollouts.steps, "automaton step")
    typer.echo(
        f"{found.config.name} · {grid.height}×{grid.width} cells, {steps}, batch {plan.batch} · "
        f"{counted(plan.machine.cores, 'core')}\n"
    )
    output.show_lines(_decisions(plan))
    typer.echo()
    heads = "workers | tasks at once | samples in flight | memory"
    output.show_table(heads, (_row(*each) for each in found.others.items()), texts=0)


def _decisions(plan: ParallelPlan) -> dict[str, str]:
    searches = f" ({show_bytes(plan.search_bytes)} of it for searches)" if plan.search_bytes else ""
    limit = "" if plan.budget is None else f"; at most {show_bytes(plan.budget)}"
    return {
        "workers": f"{plan.workers}",
        "strategy": ", then ".join(plan.strategies) or "sequential",
        "tasks": f"{plan.tasks} at the same time",
        "chunks": f"{len(plan.chunks)} of {counted(plan.tiles_per_chunk, 'tile')}",
        "groups": f"{plan.groups} of {counted(plan.samples_per_group, 'sample')}",
        "waves": f"{plan.waves} of {counted(plan.wave, 'sample')}",
        "memory": f"{show_bytes(plan.bytes)} of buffers: {show_bytes(plan.bytes_per_worker)} per "
        f"worker, {show_bytes(plan.bytes_shared)} shared{searches}{limit}",
        "besides": f"{show_bytes(BESIDES_BYTES)} or more, for the interpreter and its libraries",
    }


def _row(asked: int, plan: ParallelPlan) -> tuple[Any, ...]:
    workers = asked if plan.workers == asked else f"{plan.workers} of {asked}"
    return workers, plan.tasks, plan.wave, show_bytes(plan.bytes)
