"""`dct bench simulate`: measures how fast circuits are simulated, and compares the engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from cli.errors import FAILURE, note
from cli.options import AsJson
from cli.progress import show_progress
from cli.terminal import output
from difflogic.library.options import Count, Natural, Source, Workers
from difflogic.system import machine
from difflogic.system.measuring import poor_gain
from difflogic.system.quantities import counted

if TYPE_CHECKING:
    from difflogic.simulation.benchmark import Report

LARGE = (4096, 4096)
LABEL = 16
"""Columns of the labels below the table."""


def bench_simulate(
    source: Source | None = None,
    size: tuple[int, int] | None = None,
    steps: Natural | None = None,
    repeat: Count = 10,
    workers: Workers = "auto",
    as_json: AsJson = False,
) -> None:
    """Measure how fast a circuit is simulated from a random start.

    The circuit of a run or a model is simplified first. Without a source, the Game of Life is
    measured. Exits 1 unless all engines compute the same bits.

    Options:
        size: Rows and columns of the grid, by default 4096x4096
        steps: Automaton steps, by default as many as take about 0.25 s
        repeat: Number of measurements
    """
    from difflogic.library.benchmarking import bench_simulation
    from difflogic.library.conditions import Conditions

    conditions = Conditions(size or LARGE, steps)
    with show_progress() as progress:
        report = bench_simulation(
            source, conditions, repeat=repeat, workers=workers, progress=progress
        )
    if as_json:
        output.show_json({**report.as_dict(), "versions": machine.versions(), "cpu": machine.cpu()})
    else:
        _show(report)
    if not report.agree:
        wrong = ", ".join(check.what for check in report.checks if not check.equal)
        note(f"error: the engines disagree: {wrong}. Ignore the rates.")
        raise typer.Exit(FAILURE)


def _show(report: Report) -> None:
    g = report.geometry
    typer.echo(
        f"{report.name} · {report.gates} gates, {counted(g.channels, 'channel')} · "
        f"{g.height}×{g.width} cells, {g.boundary} boundary, fire rate {report.fire_rate:g}\n"
    )
    rows = []
    for path in report.paths:
        rates = path.rates(g.cells)
        spread = (f"{rate / 1e9:.3f}" for rate in (rates.minimum, rates.median, rates.maximum))
        speedup, gates = f"{report.speedup(path):.1f}×", f"{report.gates_per_cycle(path):.0f}"
        rows.append(
            (path.name, *spread, speedup, gates, f"{100 * report.share_of_peak(path):.0f} %")
        )
    heads = "billion updates/s | min | median | max | speed-up | gates/cycle | of peak"
    output.show_table(heads, rows)
    typer.echo()
    output.show_lines(lines(report), LABEL)


def lines(report: Report) -> dict[str, str]:
    """Return label and text of each line below the table."""
    from difflogic.simulation.native import CACHE, vector_words

    one, every = (f"{rate / 1e12:.2f}" for rate in (report.peak_one_core, report.peak_all_workers))
    found = {
        "peak": f"{one} trillion two-input bit operations per second on one core, {every} on all, "
        f"{64 * vector_words()} at a time; a processor with ternary logic can join gates in pairs "
        "and exceed it",
        "clock": f"{report.clock / 1e9:.2f} GHz",
        "compiling": f"{report.compile_seconds:.2f} s, once; {1000 * report.load_seconds:.1f} ms "
        f"from {CACHE.directory()}",
        "two grids": f"{report.grid_bytes / 1e6:.1f} MB for each path",
    }
    if report.peak_memory is not None:
        found["process"] = f"{report.peak_memory / 1e6:.0f} MB at most, all paths together"
    workers = max(path.workers for path in report.paths)
    if shared := poor_gain(report.peak_all_workers / report.peak_one_core, workers):
        found["cores"] = shared
    verdicts = (f"{'yes' if check.equal else 'NO'}: {check.what}" for check in report.checks)
    found["equal bits"] = f"\n{'':<{LABEL}}".join(verdicts)
    return found
