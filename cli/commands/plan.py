"""`dct plan`: shows how training is divided among workers, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from cli.calling import Call, calls
from cli.errors import note
from cli.options import (
    AsJson,
    Device,
    ShippedConfig,
    Small,
    WorkerCounts,
    choose_config,
    with_flags,
)
from cli.progress import compile_kernels, show_progress
from cli.terminal import output
from difflogic.library.options import AllowCode, Recipe
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import counted, show_bytes

if TYPE_CHECKING:
    from difflogic.config import Config
    from difflogic.library.benchmarking import Planned
    from difflogic.scale.speed.prediction import Curves, Network
    from difflogic.training.plan import ParallelPlan

LABEL = 18
"""Columns of the labels of lines."""


@calls("benchmarking.plan")
def plan(
    run: Call,
    config: ShippedConfig = None,
    small: Small = False,
    *,
    overrides: Sequence[str] | None,
    workers: WorkerCounts = None,
    recipe: Recipe = None,
    device: Device = None,
    machine: str | None,
    measure: bool,
    simulate: tuple[int, int] | None,
    ranks: int | None,
    as_json: AsJson = False,
    allow_code: AllowCode = False,
) -> None:
    """Show how training is divided among workers and laid out in memory, and why.

    Results never depend on the number of workers.
    """
    from difflogic.config import load_config

    source = choose_config(config, small, "CONFIG")
    several = workers if isinstance(workers, tuple) else ()
    chosen = with_flags(workers=None if several else workers, device=device)
    settings = load_config(source, [*(overrides or ()), *chosen], recipe, allow_code=allow_code)
    if settings.parallel.device == "gpu":
        if (machine, simulate, ranks) != (None, None, None) or several:
            raise ConfigError("--device gpu plans this machine's GPU: leave the other options out")
        _show_device(settings, as_json)
        return
    if measure:
        compile_kernels(settings)
    with show_progress() as progress:
        found: Planned = run(config=settings, overrides=(), workers=several, progress=progress)
    output.show(found, as_json, _show)
    for warning in found.plan.warnings:
        note(f"warning: {warning}")


def _show_device(config: Config, as_json: bool) -> None:
    from difflogic.gpu.tables import LANES, THREADS
    from difflogic.training.device_plan import require_fitting

    found = require_fitting(config)
    if as_json:
        output.show_json(found.as_dict())
        return
    shape, adapter = found.shape, found.adapter
    grid, largest = shape.grid, max(shape.bytes, key=shape.bytes.__getitem__)
    typer.echo(
        f"{config.name} · {grid.height}×{grid.width} cells, "
        f"{counted(shape.steps, 'automaton step')}, batch {shape.batch} · {adapter.name}, "
        f"{adapter.kind}\n"
    )
    lines = {
        "workgroups": f"{shape.tiles} of {THREADS} threads, for {LANES} cells each",
        "memory": f"{show_bytes(sum(shape.bytes.values()))} per run",
        "largest buffer": f"{show_bytes(shape.bytes[largest])} per run, for {largest}",
        "adapter's limit": f"{show_bytes(adapter.most_bytes)} per buffer",
        "side by side": f"{counted(found.runs, 'run')} at most",
    }
    output.show_lines(lines, LABEL)


def _show(found: Planned) -> None:
    plan = found.plan
    where = "another machine" if plan.machine.described else "this machine"
    grid, steps = plan.rollouts.grid, counted(plan.rollouts.steps, "automaton step")
    typer.echo(
        f"{found.config.name} · {grid.height}×{grid.width} cells, {steps}, batch {plan.batch} · "
        f"{where}, {counted(plan.machine.cores, 'core')}\n"
    )
    rows = ((each.what, each.value, each.why) for each in found.decisions)
    output.show_table(" | decided | because", rows, texts=3)
    typer.echo()
    heads = "workers | tasks | samples at once | most speed-up | memory | step, ms"
    output.show_table(heads, map(_row, found.by_workers), texts=0)
    if lines := _lines(found):
        typer.echo()
        output.show_lines(lines, LABEL)
    if found.curves is not None:
        curves = found.curves
        typer.echo("\nsimulated speed-up\n")
        speedups = (
            (count, *(f"{curves.speedup(name, count):.2f}×" for name in curves.seconds))
            for count in curves.workers
        )
        output.show_table(" | ".join(("workers", *curves.seconds)), speedups)
        typer.echo("\n" + "\n".join(_comparison(curves)))


def _row(found: dict[str, Any]) -> tuple[Any, ...]:
    """Return the cells of a number of workers; None where there is too little memory."""
    asked, used, seconds = found["workers"], found["used"], found["expected_step_seconds"]
    if not used:
        return asked, None, None, None, "too little", None
    return (
        asked if used == asked else f"{used} of {asked}",
        found["tasks"],
        found["samples_in_flight"],
        f"{found['speedup_ceiling']:.2f}",
        show_bytes(found["bytes"]),
        None if seconds is None else f"{1000 * seconds:.2f}",
    )


def _comparison(curves: Curves) -> list[str]:
    """Compare simulated times with measured ones."""
    from difflogic.scale.speed.prediction import WITHIN

    lines = []
    for count, error in curves.errors.items():
        off = "" if abs(error) <= WITHIN else f", more than {100 * WITHIN:.0f} %: a busy machine?"
        lines.append(
            f"{counted(count, 'worker')}: {1000 * curves.planned[count]:.2f} ms "
            f"simulated, {1000 * curves.measured[count]:.2f} ms measured at best: "
            f"{100 * error:+.0f} %{off}"
        )
    lines.append(
        f"Beyond {max(curves.measured, default=1)} workers this is a prediction, which ignores "
        "shared memory, caches, falling clock rates, and any extra cost of shared gates."
    )
    return lines


def _lines(found: Planned) -> dict[str, str]:
    """Return label and text of each line below the decisions."""
    lines = {}
    if len(found.nodes) > 1:
        each = (
            f"{node.number} ({counted(node.count, 'processor')}"
            f"{'' if node.memory is None else ', ' + show_bytes(node.memory)})"
            for node in found.nodes
        )
        largest = max(found.nodes, key=lambda node: node.count)
        lines["nodes"] = ", ".join(each)
        lines["on one node"] = (
            f"{largest.prefix} dct train …: up to {counted(largest.count, 'worker')} near to "
            "their memory"
        )
    if found.costs is None or found.expected_on_one_worker is None:
        return lines
    share = found.costs.serial_seconds / found.expected_on_one_worker
    elsewhere = (
        "; steps take the time of this machine's cores" if found.plan.machine.described else ""
    )
    lines["serial share"] = f"{100 * share:.0f} % of a step on one worker, at best{elsewhere}"
    return lines if found.network is None else lines | _network_lines(found.network, found.plan)


def _network_lines(found: Network, plan: ParallelPlan) -> dict[str, str]:
    """Say whether more machines pay off."""
    from difflogic.scale.speed.prediction import BANDWIDTH

    def ms(seconds: float) -> str:
        return f"{1000 * seconds:.3g} ms"

    pays = "never: communication takes longer than it saves"
    if found.saved <= 0:
        pays = f"never: a batch of {plan.batch} is one group of samples, which is not divided"
    elif found.latency is not None:
        pays = (
            f"if a message arrives within {ms(found.latency)}: ({ms(found.saved)} - "
            f"{ms(found.transfer)}) / {found.messages}"
        )
    return {
        "machines": f"{ms(found.on_one_machine)} on one, {ms(found.on_all_machines)} on "
        f"{found.ranks} without communication: {ms(found.saved)} saved",
        "messages": f"{found.messages} in sequence per step, {found.large_messages} with "
        f"{show_bytes(found.bytes_per_large_message)} of sums: {ms(found.transfer)} at "
        f"{8 * BANDWIDTH / 1e9:.0f} Gbit/s",
        "pays off": pays,
    }
