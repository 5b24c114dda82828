"""`dct bench`: measures training steps, and shows times, rates, memory and noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import typer

from cli.app import WITHOUT_RICH, Entry, LazyGroup
from cli.calling import calls
from cli.commands.bench_several import Compared, machine_facts, show_ranks, show_several, times
from cli.errors import FAILURE, note
from cli.options import (
    AsJson,
    ConfigOption,
    Oversubscribe,
    RankCounts,
    Small,
    WorkerCounts,
    choose_config,
    with_flags,
)
from cli.progress import compile_kernels, show_progress
from cli.terminal import display, output
from difflogic.library.options import Count, Set
from difflogic.system import machine
from difflogic.system.errors import ConfigError
from difflogic.system.measuring import poor_gain
from difflogic.system.quantities import counted, show_bytes

if TYPE_CHECKING:
    from difflogic.config import Config
    from difflogic.scale.speed.benchmark import Baseline, Report
    from difflogic.scale.speed.rows import Row
    from difflogic.system.measuring import Spread

QUIET_NOISE = 0.03
BUSY_NOISE = 0.10
"""Above this, the noise is as large as the differences worth measuring."""

FEWEST_REPEATS = 5
"""With fewer, the fastest and the median step do not show the noise."""

PROFILE_REPEATS = 20
PROFILE_COLUMNS = 96


class Bench(LazyGroup):
    """`dct bench`: a command with options, and a group with the command `simulate`."""

    entries: ClassVar[dict[str, Entry]] = {
        "simulate": Entry(
            "bench_simulate:bench_simulate", "Measure how fast a circuit is simulated"
        )
    }


app = typer.Typer(cls=Bench, **WITHOUT_RICH)


@app.callback(invoke_without_command=True)
@calls()
def bench(
    context: typer.Context,
    small: Small = False,
    config: ConfigOption = None,
    overrides: Set = (),
    compare: str | None = None,
    workers: WorkerCounts = None,
    profile: bool = False,
    repeat: Count | None = None,
    as_json: AsJson = False,
    ranks: RankCounts = (),
    oversubscribe: Oversubscribe = False,
) -> None:
    """Measure how long a configuration's training steps take, after a warm-up.

    A step is a whole epoch: samples, rollout, gradients, hard evaluation and optimizer. The batch
    size is the published one, unless --set training.batch=N changes it. Exits 1 if results differ
    by more than the tolerance.

    --compare takes a strategy of [parallel], oracle for plain NumPy, or several, such as
    samples,cells. Strategies are sequential (one worker), samples (a worker for each), cells, steps
    (a pipeline) and gates (split layers).

    Options:
        compare WAY,…: Compare times and results with sequential, samples, cells, steps, gates or
            oracle
        profile: Show a timeline of each worker, and the bottlenecks
        repeat: Steps to measure, by default 30; 5 with the oracle
    Advanced options:
        ranks N,…: Compare different numbers of MPI processes (needs the mpi extra)
    """
    if context.invoked_subcommand is not None:
        _refuse_options(context)
        return
    from difflogic.config import BENCHMARK, load_config

    compared = Compared.of(workers, compare, ranks or ())
    if profile and (compared.listed or compare):
        raise ConfigError("--profile measures one setting: leave out options that compare several")
    source = choose_config(config, small, "--config")
    own = with_flags(workers=None if compared.listed == "workers" else workers)
    chosen = [*(overrides or ()), *own]
    settings = load_config(source, chosen, BENCHMARK, allow_code=True)
    if settings.published.batch is not None:
        _note_batch(settings, load_config(source, chosen))
    if compared.ranks:
        show_ranks(compared, settings, oversubscribe, repeat, as_json)
        return
    compile_kernels(settings if profile else settings.without_searches())
    if profile:
        _show_profile(settings, repeat or PROFILE_REPEATS, as_json)
    elif compared.listed:
        show_several(compared, settings, repeat, as_json)
    else:
        _show_steps(settings, compare, repeat, as_json)


def _refuse_options(context: typer.Context) -> None:
    """Fail if options stand before a sub-command, which would not see them."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            context.fail(
                f"options of dct bench do not apply to dct bench {context.invoked_subcommand}: put "
                "its own options after it"
            )


def _note_batch(measured: Config, trained: Config) -> None:
    """Say so if the batch size is not that of training."""
    samples, usual = measured.training.batch, trained.training.batch
    if samples != usual:
        note(
            f"note: using the published batch size, {samples}; training uses {usual} "
            f"(--set training.batch={usual})"
        )


def _show_profile(config: Config, repeat: int, as_json: bool) -> None:
    """Print a timeline per worker, and a table of the bottlenecks."""
    from difflogic.library.benchmarking import profile
    from difflogic.scale.speed.profile import timeline

    with show_progress() as progress:
        found = profile(config, repeat=repeat, progress=progress)
    if as_json:
        output.show_json(found.as_dict())
        return
    config, workers = found.config, found.plan.workers
    typer.echo(
        f"{config.name} · batch {config.training.batch} · {counted(workers, 'worker')}, "
        f"{', '.join(found.plan.strategies) or 'sequential'} · "
        f"a step of {1000 * found.step_seconds:.2f} ms, the median of {len(found.seconds)}\n"
    )
    for worker, line in enumerate(timeline(found.typical, workers, PROFILE_COLUMNS)):
        typer.echo(f"{worker:>4} {line.rstrip()}")
    typer.echo(
        "\nparallel: F forward, L loss, B backward, . waiting; one thread: s sample, m mix of ops, "
        "r reduce,\nh hard evaluation, o optimizer, f search, c checkpoint; blank: hand-over\n"
    )
    mean = sum(found.seconds) / len(found.seconds)
    rows = (
        (
            part.what,
            part.kind,
            f"{1000 * part.seconds:.3f}",
            f"{100 * part.seconds / mean:.1f} %",
            f"{100 * part.gain / mean:.1f} %" if part.gain else None,
            part.remedy,
        )
        for part in found.bottlenecks
    )
    table = output.make_table("part | kind | ms | share | gain | remedy", rows, texts=2)
    table.columns[-1].justify = "left"
    output.print_table(table)
    cost = f"{100 * found.cost:.1f} %" if found.cost > 0 else "less than can be measured"
    typer.echo(
        f"\nserial share {100 * found.serial_share:.1f} %; tracing costs {cost}, the median of "
        "pairs; tasks and waits are means over workers"
    )
    if workers > 1:
        typer.echo(f"tasks: {tasks(found.tasks)}")
    if found.search is not None and found.search_per_epoch is not None:
        every = found.config.finishing.every
        typer.echo(
            f"searching: {1000 * found.search:.1f} ms after these steps; once in "
            f"{counted(every, 'epoch')}, {1000 * found.search_per_epoch:.2f} ms of each"
        )


def _show_steps(settings: Config, compare: str | None, repeat: int | None, as_json: bool) -> None:
    """Measure steps, alone or compared with one other way; exit 1 if their results disagree."""
    from difflogic.library.benchmarking import bench as measure

    way: Baseline | None = None
    if compare is not None:
        way = "oracle" if compare == "oracle" else "sequential"
    # The workers of a step wait for each other: stop only between steps.
    with show_progress() as progress:
        report = measure(settings, compare=way, repeat=repeat, progress=progress)
    if as_json:
        output.show_json(report.as_dict() | machine_facts())
    else:
        _show(report, settings)
    path, other = report.path, report.compared
    if other is not None and not other.equal:
        note(
            f"error: {path.setting.label} and {other.setting.label} disagree: "
            f"{_difference(other)}. Ignore the times above. Run dct verify equivalence to find "
            "out where."
        )
        raise typer.Exit(FAILURE)


def _show(report: Report, requested: Config) -> None:
    config, task = report.config, report.config.task
    typer.echo(
        f"{config.name} · {task.height}×{task.width} cells, "
        f"{counted(config.automaton.steps, 'automaton step')}, batch {config.training.batch} · "
        f"{config.training.precision} · {counted(report.path.workers, 'worker')} · "
        f"{len(report.path.steps)} repeats\n"
    )
    if report.compared is not None and report.compared.setting.oracle:
        sizes = {
            "automaton steps": (requested.automaton.steps, config.automaton.steps),
            "batch": (requested.training.batch, config.training.batch),
        }
        changes = ", ".join(f"{name} from {a} to {b}" for name, (a, b) in sizes.items() if a != b)
        reduced = f"Reduced for the oracle, which is slow: {changes}."
        typer.echo(f"{reduced if changes else 'Small enough for the oracle.'}\n")
    heads = f"ms per step | {report.path.setting.label} min | median | max | share"
    if report.compared is not None:
        heads += f" | {report.compared.setting.label} min | median | max | speed-up"
    output.show_table(heads, rows(report))
    typer.echo()
    found = lines(report)
    output.show_lines(found, max(map(len, found)) + 2)


def rows(report: Report) -> list[list[str]]:
    """Return one row for each phase that took any time, a rule, and a row of whole steps."""
    paths = [each for each in (report.path, report.compared) if each is not None]

    def row(name: str, spreads: Sequence[Spread], speedup: float | None) -> list[str]:
        share = 100 * spreads[0].median / paths[0].total.median
        cells = [name, *milliseconds(spreads[0]), f"{share:.0f} %" if spreads[0].maximum else "-"]
        return cells + [
            cell for each in spreads[1:] for cell in (*milliseconds(each), times(speedup) or "-")
        ]

    found = []
    for phase in report.path.phases:
        spreads = [each.phase(phase) for each in paths]
        if any(spread.maximum for spread in spreads):
            name = display.PHASE_NAMES.get(phase, phase)
            found.append(row(name, spreads, report.phase_speedup(phase)))
    return [*found, [], row("all", [each.total for each in paths], report.speedup)]


def lines(report: Report) -> dict[str, str]:
    """Return label and text of each line below the table."""
    found = {}
    path, compared, plan = report.path, report.compared, report.path.plan
    workers = counted(path.workers, "worker")
    assert plan is not None, "only the oracle has no plan"
    if compared is not None:
        found["speed-up in all"] = (
            f"{times(report.speedup)} over {compared.setting.label}, median of pairs of steps"
            if report.speedup is not None
            else f"above its ceiling of {times(path.ceiling)}: other programs disturbed it"
        )
        verdict = "yes" if compared.equal else "NO"
        found["equal results"] = f"{verdict}, {_difference(compared)}"
    one, every = (f"{rate / 1e9:.0f}" for rate in (report.peak_one_core, report.peak_all_workers))
    peak = f"{one} billion fused multiply-adds per second on one core"
    if path.workers > 1:
        peak += f", {every} on {workers}"
    buffers = f"{show_bytes(plan.bytes_per_worker)} per worker, {show_bytes(plan.bytes_shared)}"
    found |= {
        "gate evaluations": f"{report.gate_rate / 1e9:.2f} billion per second",
        "arithmetic peak": peak,
        "arithmetic limit": f"{1000 * report.limit:.3f} ms per step: "
        f"{100 * report.share_of_peak:.0f} % of the peak reached",
        **({"tasks": tasks(path.tasks)} if path.workers > 1 else {}),
        "buffers": f"{buffers} shared",
        "process": "memory unknown on this system"
        if report.peak_memory is None
        else f"{show_bytes(report.peak_memory)} at most",
        "processors": processors(machine.processors()),
        "noise": noise(report.noise, len(path.steps)),
    }
    if shared := poor_gain(report.peak_all_workers / report.peak_one_core, path.workers):
        found[""] = shared
    return found


def tasks(counts: Mapping[str, float]) -> str:
    """Describe the tasks of a step, and who took them."""
    return "{created:g} per step: {own:.1f} taken by their own worker, {stolen:.1f} stolen".format(
        **counts
    )


def _difference(row: Row) -> str:
    return f"{row.compared}: largest difference {row.difference:.2g}, tolerance {row.tolerance:.2g}"


def processors(found: machine.Processors) -> str:
    """Describe the processors, and the limits on the number of workers."""
    physical = f"on {counted(found.physical, 'core')}"
    text = f"{found.logical} {physical}"
    if found.affinity < found.logical:
        text += f"; {found.affinity} by CPU affinity"
    if found.quota is not None:
        text += f"; a quota of {found.quota:g}"
    return f"{text}: {counted(found.usable, 'worker')} by default"


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
    """Format minimum, median and maximum; dashes if there was nothing to do."""
    if spread.maximum == 0:
        return ["-", "-", "-"]
    return [f"{1000 * value:.3f}" for value in (spread.minimum, spread.median, spread.maximum)]
