"""`dct plan`: shows how training is divided among workers, and why."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import note
from cli.options import (
    MOST_WORKERS,
    AllowCode,
    AsJson,
    Device,
    Set,
    ShippedConfig,
    Small,
    Workers,
    choose_config,
    number,
    option,
    with_flags,
)
from cli.progress import compile_kernels, show_progress
from cli.terminal import output
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import counted, show_bytes

if TYPE_CHECKING:
    from difflogic.config import Config
    from difflogic.library.benchmarking import Planned
    from difflogic.scale.speed.prediction import Curves, Network

LABEL = 18
"""Columns of the labels of lines."""


def plan(
    config: ShippedConfig = None,
    small: Small = False,
    overrides: Set = None,
    workers: Workers = None,
    device: Device = None,
    machine: Annotated[
        str | None,
        option(
            "KEY=VALUE,…",
            "Machine to plan for, such as cores=64,l2=1MB; other keys: vector, memory",
            shown="this one",
        ),
    ] = None,
    measure: Annotated[
        bool, option(None, "Time a few steps, for the estimates", "--measure/--no-measure")
    ] = True,
    simulate: Annotated[
        str | None,
        option("N-M", "Simulate a step on N to M workers, such as 1-128, with each strategy"),
    ] = None,
    ranks: Annotated[
        int | None, number("Estimate whether N machines pay off", 2, 4096, shown=False)
    ] = None,
    as_json: AsJson = False,
    allow_code: AllowCode = False,
) -> None:
    """Show how training is divided among workers and laid out in memory, and why.

    Results never depend on the number of workers.
    """
    from difflogic.config import load_config
    from difflogic.engine.hardware import Machine
    from difflogic.library.benchmarking import plan as make_plan

    source = choose_config(config, small, "CONFIG")
    chosen = with_flags(overrides, workers=workers, device=device)
    settings = load_config(source, chosen, allow_code=allow_code)
    if settings.parallel.device == "gpu":
        if (machine, simulate, ranks) != (None, None, None):
            raise ConfigError("--device gpu plans this machine's GPU: leave the other options out")
        _show_device(settings, as_json)
        return
    workers_between = None if simulate is None else _between(simulate)
    try:
        where = None if machine is None else Machine.parse(machine)
    except ConfigError as error:
        raise ConfigError(f"--{error}") from None
    if measure:
        compile_kernels(settings)
    with show_progress() as progress:
        found = make_plan(
            settings,
            machine=where,
            measure=measure,
            simulate=workers_between,
            ranks=ranks,
            progress=progress,
        )
    if as_json:
        output.show_json(found.as_dict())
    else:
        _show(found)
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


def _between(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([0-9]{1,4})-([0-9]{1,4})", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]) <= MOST_WORKERS:
        raise ConfigError(
            f'--simulate "{text}": must be a range of workers, such as 1-128, within 1 to '
            f"{MOST_WORKERS}"
        )
    return int(found[1]), int(found[2])


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
    output.show_lines(_lines(found), LABEL)
    if found.curves is not None:
        curves = found.curves
        typer.echo("\nsimulated speed-up\n")
        lines = (
            (count, *(f"{curves.speedup(name, count):.2f}×" for name in curves.seconds))
            for count in curves.workers
        )
        output.show_table(" | ".join(("workers", *curves.seconds)), lines)
        typer.echo("\n" + "\n".join(_comparison(curves)))


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
    plan = found.plan
    counts = sorted({1, 2, 4, 8, 16, plan.workers})
    ceilings = ", ".join(f"{count}: {plan.ceiling(count):.2f}" for count in counts)
    lines = {"ceiling by tasks": f"{ceilings} (workers: speed-up over one)"}
    if found.costs is None or found.expected is None or found.expected_on_one_worker is None:
        return lines
    share = found.costs.serial_seconds / found.expected_on_one_worker
    elsewhere = ", at the speed of this machine's cores" if plan.machine.described else ""
    lines["expected step"] = (
        f"{1000 * found.expected:.2f} ms{elsewhere}; "
        f"{1000 * found.expected_on_one_worker:.2f} ms on one worker, at best"
    )
    lines["serial share"] = f"{100 * share:.0f} % of a step on one worker"
    return lines if found.network is None else lines | _network_lines(found.network)


def _network_lines(found: Network) -> dict[str, str]:
    """Say whether more machines pay off."""
    from difflogic.scale.speed.prediction import BANDWIDTH

    def ms(seconds: float) -> str:
        return f"{1000 * seconds:.3g} ms"

    pays = "never: communication takes longer than it saves"
    if found.saved <= 0:
        pays = "never: the batch has too few samples to divide"
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
