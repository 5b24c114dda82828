"""`dct bench`: measures training steps, and shows times, rates, memory and noise.

By itself it is a command with options; `dct bench simulate` is a command of its own below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from cli.app import WITHOUT_RICH, Entry, LazyGroup
from cli.commands.bench_profile import show_profile
from cli.commands.bench_several import Asked, machine_facts, show_ranks, show_several
from cli.errors import FAILURE, note
from cli.options import (
    AUTO_WORKERS,
    AsJson,
    ConfigOption,
    Oversubscribe,
    Set,
    Small,
    choose_config,
    flag,
    number,
    option,
    with_flags,
)
from cli.progress import compile_for, show_progress
from cli.terminal import display, output
from difflogic.system import machine
from difflogic.system.errors import ConfigError
from difflogic.system.measuring import LEAST_GAIN
from difflogic.system.quantities import counted

if TYPE_CHECKING:
    from difflogic.config import Config
    from difflogic.library.benchmarking import Learned
    from difflogic.scale.speed.benchmark import Comparison, Report
    from difflogic.scale.speed.rows import Row
    from difflogic.system.measuring import Spread

QUIET_NOISE = 0.03
BUSY_NOISE = 0.10
"""Beyond this, the noise is as large as the differences worth measuring."""

FEWEST_REPEATS = 5
"""With fewer, the fastest and the median step say nothing about the machine."""


class Bench(LazyGroup):
    """`dct bench`."""

    entries: ClassVar[dict[str, Entry]] = {
        "simulate": Entry(
            "bench_simulate:bench_simulate", "Measure how fast a circuit is simulated"
        )
    }


app = typer.Typer(cls=Bench, **WITHOUT_RICH)


@app.callback(invoke_without_command=True)
def bench(
    context: typer.Context,
    small: Small = False,
    config: ConfigOption = None,
    overrides: Set = None,
    compare: Annotated[
        str | None,
        option(
            "WAY,…",
            "Compare times and results with sequential, batch, cells, steps, gates or oracle",
            shown=False,
        ),
    ] = None,
    workers: Annotated[
        str | None,
        option("N,…", "Worker threads; compares several, such as 1,2,4", shown=AUTO_WORKERS),
    ] = None,
    grid: Annotated[
        list[str] | None,
        option(
            "SECTION.KEY=VALUE,VALUE", "Compare values, and print the fastest as TOML; repeatable"
        ),
    ] = None,
    profile: Annotated[
        bool, flag("--profile", "Show a timeline per worker and the bottlenecks")
    ] = False,
    learning: Annotated[
        int | None, number("Train N epochs without searches, on five seeds; show the losses", 1)
    ] = None,
    repeat: Annotated[
        int | None, number("Steps to measure", 1, shown="30; 5 with the oracle")
    ] = None,
    as_json: AsJson = False,
    ranks: Annotated[
        str | None,
        option(
            "N,…", "Compare numbers of MPI processes (needs the mpi extra)", shown=False, rare=True
        ),
    ] = None,
    oversubscribe: Oversubscribe = False,
) -> None:
    """Measure the training steps of a configuration, after a warm-up.

    A step is a whole epoch: samples, rollout, gradients, hard evaluation and optimizer. It uses the
    published batch size unless --set training.batch=N says otherwise. Exits 1 if compared paths
    disagree.

    --compare takes sequential (one worker), batch (parallel samples), cells, steps (a pipeline),
    gates (split layers), oracle (plain NumPy), or several of them, such as batch,cells.
    """
    if context.invoked_subcommand is not None:
        _refuse_options(context)
        return
    from difflogic.config import BENCHMARK, load_config

    asked = Asked.of(workers, compare, grid or [], ranks)
    if profile and (asked.several or compare):
        raise ConfigError("--profile measures one setting: leave out what compares several")
    if learning is not None and (profile or repeat or compare or asked.several):
        raise ConfigError("--learning measures no steps: leave out the options that do")
    source = choose_config(config, small, "--config")
    single = None if asked.several == "workers" else workers
    chosen = with_flags(overrides, workers=single)
    if learning is not None:
        _show_learning(load_config(source, chosen, allow_code=True), learning, as_json)
        return
    settings = load_config(source, chosen, BENCHMARK, allow_code=True)
    listed = any(axis.startswith("training.batch=") for axis in asked.grid)
    if settings.published.batch is not None and not listed:
        _tell_of_batch(settings, load_config(source, chosen))
    if asked.ranks:
        show_ranks(asked, settings, oversubscribe, repeat, as_json)
        return
    compile_for(settings if profile else settings.without_searches())
    if profile:
        show_profile(settings, repeat, as_json)
        return
    if asked.several:
        show_several(asked, source, chosen, settings, repeat, as_json)
        return
    report = _measure(settings, compare, repeat)
    if as_json:
        output.show_json(report.as_dict() | machine_facts())
    else:
        _show(report, settings)
    if report.compared is not None and not report.compared.equal:
        _refuse(report.path, report.compared)


def _show_learning(config: Config, epochs: int, as_json: bool) -> None:
    """Print what the gradient alone comes to."""
    from difflogic.library.benchmarking import learning

    compile_for(config.without_searches())
    with show_progress() as progress:
        found = learning(config, epochs=epochs, progress=progress)
    if as_json:
        seeds = [vars(each) for each in found]
        output.show_json({"experiment": config.name, "epochs": epochs, "rows": seeds})
        return
    how = f"{counted(epochs, 'epoch')}, batch {config.training.batch}"
    typer.echo(f"{config.name} · by the gradient alone · {how}\n")

    def row(each: Learned) -> list[Any]:
        scores = display.loss(each.soft_loss), display.loss(each.hard_loss)
        shares = display.percent(each.accuracy), display.percent(each.decided)
        return [each.seed, *scores, *shares, f"{each.seconds:.2f}"]

    *rows, medians = map(row, found)
    heads = "seed | soft loss | hard loss | accuracy | decided | CPU seconds"
    output.show_table(heads, [*rows, [], ["median", *medians[1:]]])


def _tell_of_batch(measured: Config, trained: Config) -> None:
    """Say so if the batch size is not that of training."""
    samples, usual = measured.training.batch, trained.training.batch
    if samples != usual:
        note(
            f"note: using the published batch size, {samples}; training uses {usual} "
            f"(--set training.batch={usual})"
        )


def _refuse_options(context: typer.Context) -> None:
    """Fail if there are options before a sub-command, which would not see them."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            context.fail(
                f"options of dct bench do not apply to dct bench {context.invoked_subcommand}: put "
                "its own options after it"
            )


def _measure(settings: Config, compare: str | None, asked: int | None) -> Report:
    from difflogic.library.benchmarking import bench as measure

    way: Comparison | None = None
    if compare is not None:
        way = "oracle" if compare == "oracle" else "sequential"
    # The workers of a step wait for each other, so it can only stop between steps.
    with show_progress() as progress:
        return measure(settings, compare=way, repeat=asked, progress=progress)


def _refuse(path: Row, compared: Row) -> None:
    note(
        f"error: {path.setting.label} and {compared.setting.label} disagree: "
        f"{_difference(compared)}. Ignore the times above. Run dct verify equivalence to find "
        "out where."
    )
    raise typer.Exit(FAILURE)


def _show(report: Report, asked: Config) -> None:
    typer.echo(_title(report) + "\n")
    if report.compared is not None and report.compared.setting.oracle:
        typer.echo(_cut(report.config, asked) + "\n")
    heads = f"ms per step | {report.path.setting.label} min | median | max | share"
    if report.compared is not None:
        heads += f" | {report.compared.setting.label} min | median | max | speed-up"
    output.show_table(heads, rows(report))
    typer.echo()
    found = lines(report)
    output.show_lines(found, max(len(label) for label, _ in found) + 2)


def _title(report: Report) -> str:
    config, task = report.config, report.config.task
    return (
        f"{config.name} · {task.height}×{task.width} cells, "
        f"{counted(config.automaton.steps, 'automaton step')}, batch {config.training.batch} · "
        f"{config.training.precision} · {counted(report.path.workers, 'worker')} · "
        f"{len(report.path.steps)} repeats"
    )


def _cut(measured: Config, asked: Config) -> str:
    """Say how the configuration was reduced for the oracle, which is slow."""
    sizes = {
        "automaton steps": (asked.automaton.steps, measured.automaton.steps),
        "batch": (asked.training.batch, measured.training.batch),
    }
    changes = [f"{name} from {a} to {b}" for name, (a, b) in sizes.items() if a != b]
    if not changes:
        return "Small enough for the oracle."
    return f"Reduced for the oracle: {', '.join(changes)}."


def rows(report: Report) -> list[list[str]]:
    """Return the table's rows: one per phase that took any time, a rule, and whole steps."""
    paths = [each for each in (report.path, report.compared) if each is not None]

    def row(name: str, spreads: Sequence[Spread], speedup: float | None) -> list[str]:
        share = 100 * spreads[0].median / paths[0].total.median
        cells = [name, *milliseconds(spreads[0]), f"{share:.0f} %" if spreads[0].maximum else "-"]
        return cells + [
            cell for each in spreads[1:] for cell in (*milliseconds(each), times(speedup))
        ]

    found = []
    for phase in report.path.phases:
        spreads = [each.phase(phase) for each in paths]
        if any(spread.maximum for spread in spreads):
            name = display.PHASE_NAMES.get(phase, phase)
            found.append(row(name, spreads, report.phase_speedup(phase)))
    return [*found, [], row("all", [each.total for each in paths], report.speedup)]


def lines(report: Report) -> list[tuple[str, str]]:
    """Return label and text of what stands below the table."""
    found = []
    path, compared, plan = report.path, report.compared, report.path.plan
    assert plan is not None, "only plain NumPy has no plan, and is compared with"
    if compared is not None:
        speedup = f"{times(report.speedup)} over {compared.setting.label}, median of pairs in turn"
        if report.speedup is None:
            speedup = f"above its ceiling of {times(path.ceiling)}: other programs disturbed it"
        found.append(("speed-up in all", speedup))
        verdict = "yes" if compared.equal else "NO"
        found.append(("equal results", f"{verdict}, {_difference(compared)}"))
    one, every = (f"{rate / 1e9:.0f}" for rate in (report.peak_one_core, report.peak_all_workers))
    peak = f"{one} billion fused multiply-adds per second on one core"
    if report.path.workers > 1:
        peak += f", {every} on {counted(report.path.workers, 'worker')}"
    memory = "memory unknown on this system"
    if report.peak_memory is not None:
        memory = f"{megabytes(report.peak_memory)} at most"
    found += [
        ("gate evaluations", f"{report.gate_rate / 1e9:.2f} billion per second"),
        ("arithmetic peak", peak),
        (
            "arithmetic units",
            f"{report.vectors_per_cycle:.1f} vectors of {report.vector} per cycle of one core, "
            f"{report.clock / 1e9:.1f} GHz",
        ),
        (
            "arithmetic limit",
            f"{1000 * report.limit:.3f} ms per step: {100 * report.share_of_peak:.0f} % of the "
            "peak reached",
        ),
        (
            "store limit",
            f"{1000 * report.store_limit:.3f} ms per step, at {report.bytes_per_gate:.1f} bytes "
            "loaded and stored per gate and cell",
        ),
        (
            "buffers",
            f"{megabytes(plan.bytes_per_worker)} per worker, {megabytes(plan.bytes_shared)} shared",
        ),
        ("process", memory),
        ("work", _work(report)),
        ("processors", processors(machine.processors())),
        ("noise", noise(report.noise, len(report.path.steps))),
    ]
    if report.peak_all_workers < LEAST_GAIN * report.path.workers * report.peak_one_core:
        gain = report.peak_all_workers / report.peak_one_core
        text = f"{counted(report.path.workers, 'worker')} reach {gain:.1f} times the peak of one: "
        found.append(("", text + "they share cores, or other programs run"))
    return found


def _work(report: Report) -> str:
    """Say how an automaton step is divided among workers."""
    workers = report.path.workers
    pieces, alone = report.path.pieces
    text = f"{pieces} pieces per automaton step"
    if workers == 1:
        return text
    return f"{text}, {alone} on one worker only; {report.stolen:.1f} stolen per step"


def _difference(row: Row) -> str:
    return f"{row.compared}: largest difference {row.difference:.2g}, tolerance {row.tolerance:.2g}"


def processors(found: machine.Processors) -> str:
    """Say what bounds the number of workers."""
    physical = f"{found.physical} cores" if found.physical < found.logical else "all cores"
    text = f"{found.logical}, {physical}"
    if found.affinity < found.logical:
        text += f"; {found.affinity} by CPU affinity"
    if found.quota is not None:
        text += f"; a quota of {found.quota:g}"
    return f"{text}: {counted(found.usable, 'worker')} by default"


def noise(share: float, repeats: int) -> str:
    """Say how far the median step is above the fastest, and what that means."""
    if repeats < FEWEST_REPEATS:
        return f"unknown from {counted(repeats, 'repeat')}: use --repeat 10"
    text = f"{100 * share:.1f} % from fastest to median step: "
    if share <= QUIET_NOISE:
        return text + "quiet"
    if share <= BUSY_NOISE:
        return text + "normal"
    return text + "busy; use the minimum, or measure again"


def milliseconds(spread: Spread) -> list[str]:
    """Format minimum, median and maximum; a dash if there was nothing to do."""
    if spread.maximum == 0:
        return ["-", "-", "-"]
    return [f"{1000 * value:.3f}" for value in (spread.minimum, spread.median, spread.maximum)]


def times(speedup: float | None) -> str:
    """Format a factor."""
    if speedup is None:
        return "-"
    return f"{speedup:.2f}×" if speedup < 100 else f"{speedup:.0f}×"


def megabytes(size: int) -> str:
    """Format bytes in millions."""
    return f"{size / 1e6:.2f} MB" if size < 1e8 else f"{size / 1e6:.0f} MB"
