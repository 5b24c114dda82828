"""`dct bench`: measures training steps, and shows times, rates and noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.failures import FAILURE, note
from cli.options import AsJson, ConfiguredByOption, WorkerCounts, with_flags
from cli.progress import show_progress
from cli.terminal import output
from difflogic.run.story import PHASE_NAMES
from difflogic.system import machine
from difflogic.system.declaration import Count, Opt
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import counted, show_bytes

if TYPE_CHECKING:
    from difflogic.config import Config
    from difflogic.speed.benchmark import Benchmark
    from difflogic.speed.measurements import Comparison, Measurement
    from difflogic.speed.spread import Spread

QUIET_NOISE = 0.03
BUSY_NOISE = 0.10
"""Above this, the noise is as large as the differences worth measuring."""

FEWEST_REPEATS = 5
"""With fewer, the fastest and the median step do not show the noise."""

OVERSUBSCRIBED = " *"
"""Marks a row with more workers than cores."""
HEADS = {"--workers": "workers", "--compare": "way"}
"""Options that list settings to compare, and the head of their column."""


def bench(
    chosen: ConfiguredByOption,
    compare: Annotated[
        tuple[str, ...],
        Opt(
            "Compare times and results with sequential, samples, cells or steps",
            "WAY,…",
            parse=lambda text: tuple(text.split(",")),
            shown=False,
        ),
    ] = (),
    workers: WorkerCounts = None,
    repeat: Annotated[Count | None, Opt("Steps to measure", shown="30")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how long a configuration's training steps take, after a warm-up.

    A step is a whole epoch: samples, rollout, gradients, hard evaluation and optimizer. The batch
    size is the published one, unless --set training.batch=N changes it. Exits 1 if results differ.

    --compare takes a strategy of [parallel] or several, such as samples,cells. Strategies are
    sequential (one worker), samples (a worker for each), cells, and steps (a pipeline).
    """
    from difflogic.config import BENCHMARK, load_config

    lists: dict[str, Any] = {
        "--workers": workers if isinstance(workers, tuple) else (),
        "--compare": compare or (),
    }
    given = [option for option, asked in lists.items() if asked]
    if len(given) > 1:
        raise ConfigError(f"{' and '.join(given)} measure different things: give only one of them")
    source = chosen.source
    own = with_flags(workers=None if lists["--workers"] else workers)
    overrides = [*chosen.overrides, *own]
    settings = load_config(source, overrides, BENCHMARK, allow_code=True)
    if settings.published.batch is not None:
        samples = settings.training.batch
        usual = load_config(source, overrides).training.batch
        if samples != usual:
            note(
                f"note: using the published batch size, {samples}; training uses {usual} "
                f"(--set training.batch={usual})"
            )
    import difflogic
    from difflogic.experiment.searching import compile_kernels

    compile_kernels(settings.without_searches())

    # The workers of a step wait for each other: stop only between steps.
    with show_progress():
        if not given:
            report = difflogic.bench(settings, repeat=repeat)
        else:
            found = difflogic.compare(
                settings, workers=lists["--workers"], ways=lists["--compare"], repeat=repeat
            )
    if given:
        _show_several(HEADS[given[0]], settings, found, as_json)
    elif as_json:
        output.show_json(report.as_dict() | machine_facts())
    else:
        _show(report)


def machine_facts() -> dict[str, Any]:
    """Return the facts about the machine in the JSON of a measurement."""
    return {"versions": machine.versions(), "cpu": machine.cpu()}


def _show(report: Benchmark) -> None:
    config = report.config
    task = report.config.task
    path = report.path
    typer.echo(
        f"{config.name} · {task.height}×{task.width} cells, "
        f"{counted(config.automaton.steps, 'automaton step')}, batch {config.training.batch} · "
        f"{config.training.precision} · {counted(path.workers, 'worker')} · "
        f"{counted(len(path.steps), 'repeat')}\n"
    )
    parts = {PHASE_NAMES.get(name, name): path.phase(name) for name in path.phases}
    rows: list[list[str]] = [
        [name, *milliseconds(spread), f"{100 * spread.median / path.total.median:.0f} %"]
        for name, spread in parts.items()
        if spread.maximum
    ]
    rows += [[], ["all", *milliseconds(path.total), "100 %"]]
    output.show_table("ms per step | min | median | max | share", rows)
    typer.echo()
    output.show_lines(_rates(report))


def _rates(report: Benchmark) -> dict[str, str]:
    """Return label and text of each line below the table of phases."""
    path = report.path
    plan = report.path.plan
    memory = report.peak_memory
    workers = counted(path.workers, "worker")
    peak = f"{report.peak / 1e9:.0f} billion fused multiply-adds per second on {workers}"
    lines = {"gate evaluations": f"{report.gate_rate / 1e9:.2f} billion per second"}
    lines["arithmetic peak"] = f"{peak}, in vectors of {report.vector_bits} bits"
    share = f"{100 * report.share_of_peak:.0f} % of the peak reached"
    if report.share_of_peak > 1:
        share = "above the peak, which other programs slowed down: measure again"
    lines["arithmetic limit"] = f"{1000 * report.limit:.3f} ms per step: {share}"
    each = show_bytes(plan.bytes_per_worker)
    return lines | {
        "buffers": f"{each} per worker, {show_bytes(plan.bytes_shared)} shared",
        "process": f"{show_bytes(memory)} at most" if memory else "memory unknown on this system",
        "processors": f"{machine.cpu_name()}, {counted(machine.cpu_count(), 'worker')} by default",
        "noise": noise(report.noise, len(path.steps)),
        "core": core(path),
    }


def core(path: Measurement) -> str:
    """Say whether the core was shared with another thread while it measured."""
    if not path.shared:
        return "not shared with another thread"
    return (
        f"shared with another thread beside {100 * path.shared:.0f} % of the steps "
        f"({min(path.passed):.1f} instead of {max(path.passed):.1f} instructions a cycle): "
        "measure again"
    )


def noise(share: float, repeats: int) -> str:
    """Describe how far the median step is above the fastest."""
    if repeats < FEWEST_REPEATS:
        return f"unknown from {counted(repeats, 'repeat')}: use --repeat 10"
    text = f"{100 * share:.1f} % from fastest to median step: "
    if share <= QUIET_NOISE:
        return text + "quiet"
    if share <= BUSY_NOISE:
        return text + "normal"
    return text + "busy; use the minimum, or measure again"


def milliseconds(spread: Spread) -> list[str]:
    """Format minimum, median and maximum."""
    return [f"{1000 * value:.3f}" for value in (spread.minimum, spread.median, spread.maximum)]


def _show_several(head: str, config: Config, found: Comparison, as_json: bool) -> None:
    """Print a row for each setting; exit 1 if results disagree that must be equal."""
    if as_json:
        output.show_json(found.as_dict() | machine_facts())
    else:
        grid = f"{config.task.height}×{config.task.width} cells"
        typer.echo(
            f"{config.name} · {grid} · {counted(len(found.rows[0].steps), 'round')} in turn\n"
        )
        _show_table(found, head)
        typer.echo("\nwaiting: share of workers' time; equal: results, to those of the first row")
        if any(row.oversubscribed for row in found.rows):
            typer.echo(
                "*: oversubscribed, more workers than cores: does not predict a larger machine"
            )
    if not found.equal:
        wrong = ", ".join(
            f"{row.label} (by {row.difference:.2g})" for row in found.rows if not row.equal
        )
        note(
            f"error: {wrong} and {found.rows[0].label} disagree. Ignore the times. Run "
            "dct verify equivalence to find out where."
        )
        raise typer.Exit(FAILURE)


def _show_table(found: Comparison, head: str) -> None:
    heads = f"{head} | min | ms | max | speed-up | efficiency | waiting | equal"
    rows = (_cells(row, found.rows[0]) for row in found.rows)
    output.show_table(heads, rows, spare="max")


def _cells(row: Measurement, first: Measurement) -> list[Any]:
    total = row.total
    efficiency = row.efficiency(first)
    equal = None
    if row.difference is not None:
        equal = "yes" if row.equal else f"NO: {row.difference:.2g}"
    return [
        row.label + (OVERSUBSCRIBED if row.oversubscribed else ""),
        *(f"{1000 * value:.2f}" for value in (total.minimum, total.median, total.maximum)),
        times(row.speedup(first)),
        None if efficiency is None else f"{100 * efficiency:.0f} %",
        f"{100 * row.waiting:.1f} %",
        equal,
    ]


def times(factor: float | None) -> str | None:
    """Format a factor; None if unknown."""
    if factor is None:
        return None
    digits = 0 if factor >= 100 else 2
    return f"{factor:.{4 if factor < 0.1 else digits}f}×"
