"""The tables of a sweep: for spreadsheets, for programs, and for a README."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from difflogic.scale.sweeps.directory import SweepDirectory
from difflogic.scale.sweeps.question import Question
from difflogic.scale.sweeps.results import RUN_COLUMNS, Row, VariantResult, aggregate
from difflogic.system.json_values import json_value
from difflogic.system.ranges import format_ranges


def write_tables(directory: SweepDirectory, question: Question, rows: Sequence[Row]) -> None:
    """Write table.csv (one line per run), table.json (all) and table.md (one line per variant)."""
    data = json.dumps(to_data(question, rows), indent=2, ensure_ascii=False, allow_nan=False)
    directory.write("table.csv", to_csv(question, rows))
    directory.write("table.json", data + "\n")
    directory.write("table.md", to_markdown(question, rows))


def to_csv(question: Question, rows: Sequence[Row]) -> str:
    """Return one line per run, with a column per key of the grid."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["variant", *question.axes, *RUN_COLUMNS[1:]])
    for row in rows:
        name, *rest = [_cell_text(getattr(row, column)) for column in RUN_COLUMNS]
        writer.writerow([name, *value_texts(question, row), *rest])
    return text.getvalue()


def to_data(question: Question, rows: Sequence[Row]) -> dict[str, Any]:
    """Return everything as JSON knows it: the question, the variants' results, the runs."""
    return {
        "experiment": question.experiment,
        "command": question.command,
        "seeds": format_ranges(question.seeds),
        "grid": list(question.axes),
        "variants": [json_value(asdict(result)) for result in aggregate(question, rows)],
        "runs": [json_value(asdict(row)) for row in rows],
    }


HEADINGS = (
    "exact",
    "proved",
    "95 % interval",
    "epochs to exact",
    "active gates",
    "proved from step",
    "s per run",
    "processor s",
    "s in all",
    "failed",
    "missing",
)


def to_cells(question: Question, result: VariantResult) -> list[str]:
    """Return a variant's line of the aggregate table: its values, then what HEADINGS name."""
    values = value_texts(question, result)
    epochs = number(result.epochs_to_exact)
    if result.exact > 1:
        epochs += f" ({result.epochs_to_exact_min} to {result.epochs_to_exact_max})"
    steps = number(result.from_step)
    if result.from_step_min != result.from_step_max:
        steps += f" ({result.from_step_min} to {result.from_step_max})"
    return [
        *(values or [question.experiment]),
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


def value_texts(question: Question, result: Row | VariantResult) -> list[str]:
    """Return the values of the axes as text; those of several lines, pictures, by their names."""
    named = dict(part.partition("=")[::2] for part in result.variant.split(","))
    texts = []
    for key in question.axes:
        text = _cell_text(result.values[key])
        texts.append(named.get(key.rpartition(".")[2], result.variant) if "\n" in text else text)
    return texts


def value_headings(question: Question) -> list[str]:
    """Return the headings of the columns before HEADINGS."""
    return list(question.axes) or ["experiment"]


def to_markdown(question: Question, rows: Sequence[Row]) -> str:
    """Return the aggregate table, with the command that makes it."""
    headings = [*value_headings(question), *HEADINGS]
    words = len(headings) - len(HEADINGS)
    lines = [_line(headings), _line([":--"] * words + ["--:"] * len(HEADINGS))]
    for result in aggregate(question, rows):
        lines.append(_line([_escape(text) for text in to_cells(question, result)]))
    note = (
        f"{question.experiment}, seeds {format_ranges(question.seeds)}: `{question.command}`. "
        "Proved: for every start or case, not on samples alone. "
        "Epochs to exact: median (range) over the exact runs; active gates: median over the same; "
        "proved from step: median (range) of the exact runs that are proved for ever; processor s: "
        "median, of all threads of a run, in its last stretch."
    )
    return "\n".join([*lines, "", note, ""])


def number(value: float | None, digits: int = 0) -> str:
    """Format a number with so many decimals, a whole one or one half without needless ones."""
    if value is None:
        return "-"
    if digits == 0:
        return f"{value:.0f}" if value == int(value) else f"{value:.1f}"
    return f"{value:.{digits}f}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


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
