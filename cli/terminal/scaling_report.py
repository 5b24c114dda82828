"""Training steps with several settings, as a table with conclusions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from cli.terminal import output

if TYPE_CHECKING:
    from difflogic.scale.speed.laws import Fit
    from difflogic.scale.speed.rows import Comparison, Row

OVERSUBSCRIBED = " *"
"""Marks a row with more workers than cores."""


CHANGES_BITS = "parallel.chunk"

ABOVE_CEILING = (
    "speed-ups shown as - are above their ceiling: other programs disturbed the measurement"
)


def show(found: Comparison, what: str) -> None:
    """Print the table and the lines below it; `what` is the head of its first column."""
    columns = [
        "min",
        "ms",
        "max",
        "speed-up",
        "efficiency",
        "ceiling",
        "backward",
        "speed-up",
        "stolen",
        "waiting",
        "per worker",
        "all",
        "samples/s",
        "run",
        "equal",
    ]
    ranked = any(row.setting.ranks > 1 for row in found.rows)
    table = output.new_table(what, *columns, *(("reduce", "exchange") if ranked else ()))
    for row in found.rows:
        table.add_row(*cells(row, found.rows[0]), *(handing_over(row) if ranked else ()))
    output.show_table(table, ["samples/s", "max", "all", "per worker"])
    typer.echo()
    for text in lines(found):
        typer.echo(text)


def cells(row: Row, first: Row) -> list[str]:
    """Return the cells of a row."""
    from difflogic.system.quantities import show_bytes

    plan, speedup, efficiency = row.plan, row.speedup(first), row.efficiency(first)
    total = row.total
    mark = OVERSUBSCRIBED if row.oversubscribed else ""
    return [
        row.setting.label + mark,
        *(f"{1000 * value:.2f}" for value in (total.minimum, total.median, total.maximum)),
        _times(speedup),
        "-" if efficiency is None else f"{100 * efficiency:.0f} %",
        _times(row.ceiling),
        _backward(row),
        _times(row.backward_speedup(first)),
        "-" if plan is None else f"{100 * row.steal_ratio:.1f} %",
        "-" if plan is None else f"{100 * row.waiting:.1f} %",
        "-" if plan is None else show_bytes(plan.bytes_per_worker),
        "-" if plan is None else show_bytes(plan.bytes * row.setting.ranks),
        f"{row.samples_per_second:.0f}",
        _duration(row.run_seconds),
        "-" if row.difference is None else "yes" if row.equal else f"NO: {row.difference:.2g}",
    ]


def handing_over(row: Row) -> list[str]:
    """Return the cells of a row among those of several ranks: median and least milliseconds."""
    from statistics import median

    exchange = f"{1000 * min(row.exchange):.3f}" if row.exchange else "-"
    return [f"{1000 * median(row.reduce):.2f}", exchange]


def lines(found: Comparison) -> list[str]:
    """Return what stands below the table."""
    from difflogic.system.quantities import show_bytes

    config = found.rows[0].setting.config
    said = [
        "ceiling: speed-up limit from the number and size of tasks; stolen: share of tasks; "
        f"waiting: share of workers' time; run: {config.training.epochs} epochs at the median step"
    ]
    if any(row.oversubscribed for row in found.rows):
        said.append("*: oversubscribed, more workers than cores: does not predict a larger machine")
    if any(row.hides(found.rows[0]) for row in found.rows):
        said.append(ABOVE_CEILING)
    last = found.rows[-1]
    if last.exchange:
        said.append(
            "reduce: median ms to add up gradients, with waiting for other ranks; exchange: least "
            f"ms to exchange {show_bytes(last.exchanged_bytes)} once all are ready"
        )
    if len({row.threads for row in found.rows}) > 1 and found.doubt is not None:
        said.append(f"no conclusion for other numbers of workers: {found.doubt}")
    if found.fit is not None:
        said += _laws(found.fit, found.fitted_oversubscribed)
    return said


def _laws(fit: Fit, oversubscribed: bool) -> list[str]:
    if fit.amdahl is None:
        return ["Amdahl's law: needs two worker counts within the cores"]
    counts = ", ".join(map(str, fit.workers))
    limit = "without limit" if fit.amdahl.serial < 1e-6 else f"at most {fit.amdahl.limit:.1f}×"
    said = [
        f"Amdahl's law, fitted to {counts} workers: {100 * fit.amdahl.serial:.1f} % serial, {limit}"
    ]
    law = fit.scalability
    if law is None:
        return [*said, "Universal Scalability Law: needs three worker counts"]
    best = "more is always better" if fit.best is None else f"best with {fit.best}"
    said.append(
        f"Universal Scalability Law: contention {100 * law.contention:.1f} %, coherency "
        f"{100 * law.coherency:.2f} %: {best}"
    )
    if oversubscribed:
        said.append(
            "the latter fit includes oversubscribed rows, as fewer than three rows fit the cores: "
            "it holds for these cores only"
        )
    return said


def proposal(found: Comparison) -> list[str]:
    """Return what is said of the fastest row, with its lines for a configuration."""
    if len(found.rows) == 1:
        return ["one setting: nothing to compare"]
    best = found.best
    if best is None:
        return [f"no difference found: {', '.join(row.setting.label for row in found.tied)}"]
    if CHANGES_BITS in best.setting.label:
        return [
            f"the fastest: {best.setting.label}",
            f"not proposed, since {CHANGES_BITS} changes the bits of results",
        ]
    return ["the fastest, for a configuration:", "", *toml_lines(best)]


def toml_lines(best: Row) -> list[str]:
    """Return the lines of a configuration that a row stands for."""
    sections: dict[str, list[str]] = {}
    for part in best.setting.label.split(" "):
        place, _, value = part.partition("=")
        section, _, key = place.rpartition(".")
        sections.setdefault(section, []).append(f"{key} = {value}")
    return [line for name, keys in sections.items() for line in (f"[{name}]", *keys)]


def _backward(row: Row) -> str:
    from statistics import median

    return f"{1000 * median(row.backward):.2f}" if any(row.backward) else "-"


def _times(factor: float | None) -> str:
    return "-" if factor is None else f"{factor:.2f}×"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
