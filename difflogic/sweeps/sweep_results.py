"""Results of a sweep: a row per run, numbers per variant, and the tables of both."""

from __future__ import annotations

import csv
import io
import json
import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from functools import partial
from statistics import NormalDist
from typing import Any, Literal

from difflogic.run.run_directory import TABLES
from difflogic.run.summary import Summary
from difflogic.sweeps.directory import SweepDirectory
from difflogic.sweeps.sweep_plan import SweepPlan, Variant
from difflogic.system.json_values import json_value
from difflogic.system.quantities import format_ranges

CONFIDENCE = 0.95

HEADINGS = (
    "exact",
    "proved",
    "95 % interval",
    "epochs to exact (range)",
    "active gates",
    "proved from step (range)",
    "s per run",
    "CPU s",
    "s, summed",
    "failed",
    "missing",
)

RunStatus = Literal["exact", "not exact", "failed", "missing"]


@dataclass(frozen=True)
class Row:
    """One run."""

    variant: str
    values: Mapping[str, Any]
    seed: int
    status: RunStatus
    """missing: not run yet, or interrupted."""
    epochs: int | None = None
    epochs_to_exact: int | None = None
    """Epoch of the first verification as exact; None if the run does not end exact."""
    wrong_cells: int | None = None
    """After the trained number of steps, over all tested starts or cases."""
    active_gates: int | None = None
    seconds: float | None = None
    """Of the whole run, by the wall clock."""
    processor_seconds: float | None = None
    """Processor time of the whole run, of all threads and child processes."""
    proved: bool | None = None
    from_step: int | None = None
    """Step, or round, from which the target is proved to stay; None without such a proof."""
    assurance: str | None = None
    """What is proved, in words."""
    attempts: int | None = None
    """Number of attempts; None for a configuration without restarts."""
    error: str | None = None


RUN_COLUMNS = tuple(each.name for each in fields(Row) if each.name != "values")


@dataclass(frozen=True)
class VariantResult:
    """Numbers of all runs of a variant. Medians are None without values."""

    variant: str
    values: Mapping[str, Any]
    seeds: int
    """Runs that ended, including failed ones: the denominator of the share."""
    exact: int
    exact_low: float
    """95 % Wilson interval of the share of exact runs."""
    exact_high: float
    epochs_to_exact: float | None
    """Median over the exact runs."""
    epochs_to_exact_min: int | None
    epochs_to_exact_max: int | None
    active_gates: float | None
    """Median over the exact runs."""
    seconds: float | None
    """Median over the runs that ended without failing."""
    seconds_total: float
    processor_seconds: float | None
    """Median over the same runs."""
    failed: int
    missing: int
    proved: int
    """Exact runs with a proof for every start or every case."""
    from_step: float | None
    """Median of the proved steps over these runs."""
    from_step_min: int | None
    from_step_max: int | None


def make_row(variant: Variant, seed: int, summary: Summary | None, error: str | None = None) -> Row:
    """Return a run's row from its summary or its error; without both, it has not ended."""
    row = partial(Row, variant.name, variant.values, seed)
    if error is not None:
        return row("failed", error=error)
    if summary is None or not summary.finished:
        return row("missing")
    checked = summary.scores.checked
    assurance = summary.scores.assurance
    reached = None
    if checked.exact:
        reached = summary.epochs if summary.exact_epoch is None else summary.exact_epoch
    return row(
        "exact" if checked.exact else "not exact",
        epochs=summary.epochs,
        epochs_to_exact=reached,
        wrong_cells=checked.wrong_cells,
        active_gates=checked.active_gates,
        seconds=summary.seconds.all,
        processor_seconds=summary.seconds.processor,
        proved=assurance.verdict == "proved",
        from_step=assurance.from_step,
        assurance=assurance.text,
        attempts=summary.attempts.begun if summary.attempts else None,
    )


def aggregate(plan: SweepPlan, rows: Sequence[Row]) -> list[VariantResult]:
    """Return one result per variant, in the plan's order."""
    of_variant: dict[str, list[Row]] = {variant.name: [] for variant in plan.variants}
    for row in rows:
        of_variant[row.variant].append(row)
    return [_aggregate(variant, of_variant[variant.name]) for variant in plan.variants]


def _aggregate(variant: Variant, rows: Sequence[Row]) -> VariantResult:
    count = Counter(row.status for row in rows)
    ended = len(rows) - count["missing"]
    low, high = wilson_interval(count["exact"], ended)
    exact = [row for row in rows if row.status == "exact"]
    proved = [row for row in exact if row.proved]
    epochs = _known(exact, "epochs_to_exact")
    seconds = _known(rows, "seconds")
    steps = _known(proved, "from_step")
    return VariantResult(
        variant.name,
        variant.values,
        seeds=ended,
        exact=count["exact"],
        exact_low=low,
        exact_high=high,
        epochs_to_exact=_median(epochs),
        epochs_to_exact_min=min(epochs, default=None),
        epochs_to_exact_max=max(epochs, default=None),
        active_gates=_median(_known(exact, "active_gates")),
        seconds=_median(seconds),
        seconds_total=sum(seconds),
        processor_seconds=_median(_known(rows, "processor_seconds")),
        failed=count["failed"],
        missing=count["missing"],
        proved=len(proved),
        from_step=_median(steps),
        from_step_min=min(steps, default=None),
        from_step_max=max(steps, default=None),
    )


def _known(rows: Sequence[Row], name: str) -> list[Any]:
    """Return the values of an attribute that rows have."""
    return [value for row in rows if (value := getattr(row, name)) is not None]


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def wilson_interval(
    successes: int, trials: int, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Return the Wilson score interval of a share, two numbers from 0 to 1.

    Unlike the normal approximation, it holds for few trials and for shares of 0 and 1: for 16 of
    16, it is 0.81 to 1. Without trials, it is 0 to 1.
    Source: Wilson 1927; Brown, Cai and DasGupta 2001 recommend it for small samples.
    """
    if trials == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = successes / trials
    scale = 1 + z * z / trials
    center = (share + z * z / (2 * trials)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    # Avoid rounding where the formula gives exactly 0 or 1.
    low = 0.0 if successes == 0 else center - half
    high = 1.0 if successes == trials else center + half
    return low, high


def write_tables(directory: SweepDirectory, plan: SweepPlan, rows: Sequence[Row]) -> None:
    """Write table.csv (a line per run) and table.json (all); remove an earlier version's table."""
    with suppress(OSError):
        (directory.path / "table.md").unlink()
    rows_file, whole = (directory.path / name for name in TABLES)
    directory.write(rows_file, to_csv(plan, rows))
    data = json.dumps(to_data(plan, rows), indent=2, ensure_ascii=False, allow_nan=False)
    directory.write(whole, data + "\n")


def to_csv(plan: SweepPlan, rows: Sequence[Row]) -> str:
    """Return a line per run, with a column per key of the grid."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["variant", *plan.axes, *RUN_COLUMNS[1:]])
    for row in rows:
        name, *rest = [_cell_text(getattr(row, column)) for column in RUN_COLUMNS]
        writer.writerow([name, *value_texts(plan, row), *rest])
    return text.getvalue()


def to_data(plan: SweepPlan, rows: Sequence[Row]) -> dict[str, Any]:
    """Return the plan, the variants' results and the runs as JSON values."""
    return {
        "experiment": plan.experiment,
        "seeds": format_ranges(plan.seeds),
        "grid": list(plan.axes),
        "variants": [json_value(asdict(result)) for result in aggregate(plan, rows)],
        "runs": [json_value(asdict(row)) for row in rows],
    }


def to_cells(plan: SweepPlan, result: VariantResult) -> list[str]:
    """Return a variant's line of the table: its values, then a text for each of HEADINGS."""
    values = value_texts(plan, result)
    epochs = number(result.epochs_to_exact)
    if result.exact > 1:
        epochs += f" ({result.epochs_to_exact_min} to {result.epochs_to_exact_max})"
    steps = number(result.from_step)
    if result.from_step_min != result.from_step_max:
        steps += f" ({result.from_step_min} to {result.from_step_max})"
    return [
        *(values or [plan.experiment]),
        f"{result.exact}/{result.seeds}",
        f"{result.proved}/{result.seeds}",
        f"{100 * result.exact_low:.0f} to {100 * result.exact_high:.0f} %" if result.seeds else "-",
        epochs,
        number(result.active_gates),
        steps,
        number(result.seconds, digits=1),
        number(result.processor_seconds, digits=1),
        number(result.seconds_total, digits=1),
        str(result.failed),
        str(result.missing),
    ]


def value_texts(plan: SweepPlan, result: Row | VariantResult) -> list[str]:
    """Return the axes' values as text; a picture, which has several lines, by its name."""
    named = dict(part.partition("=")[::2] for part in result.variant.split(","))
    texts = []
    for key in plan.axes:
        text = _cell_text(result.values[key])
        texts.append(named.get(key.rpartition(".")[2], result.variant) if "\n" in text else text)
    return texts


def number(value: float | None, digits: int = 0) -> str:
    """Format a number with `digits` decimals; 0 digits still show one half."""
    if value is None:
        return "-"
    if digits == 0:
        return f"{value:.0f}" if value == int(value) else f"{value:.1f}"
    return f"{value:.{digits}f}"


def _cell_text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case list():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return str(value)
