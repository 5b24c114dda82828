"""What `dct sweep` prints when it is over."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cli.errors import FAILURE, note, printable

if TYPE_CHECKING:
    from difflogic.scale.sweeps.question import Question
    from difflogic.scale.sweeps.results import Row


def report(path: Path, question: Question, rows: Sequence[Row], code: int, as_json: bool) -> None:
    """Say what failed and what is missing, and print the variants' table, or all as JSON.

    `code` is that of an interruption, FAILURE for a sweep that could not go on, or else 0.
    """
    from cli.terminal.output import new_table, show_json, show_table
    from difflogic.scale.sweeps import tables
    from difflogic.scale.sweeps.results import aggregate

    missing = sum(row.status == "missing" for row in rows)
    for row in rows:
        if row.status == "failed":
            note(f"error: {row.variant}, seed {row.seed}: {row.error}")
    if missing:
        what = "not finished" if code in (0, FAILURE) else "interrupted"
        note(
            f"{what}: {len(rows) - missing} of {len(rows)} runs have ended; go on with: "
            f"dct sweep --dir {shlex.quote(str(path))}"
        )
    if as_json:
        data = tables.to_data(question, rows)
        show_json({"directory": str(path), "interrupted": code not in (0, FAILURE), **data})
        return
    headings = tables.value_headings(question)
    lines = [tables.to_cells(question, result) for result in aggregate(question, rows)]
    table = new_table(*headings, *tables.HEADINGS, texts=len(headings))
    for line in lines:
        table.add_row(*line)
    for column, *texts in zip(table.columns, *lines, strict=True):
        # On a narrow terminal lines fold; else whole columns would vanish.
        column.min_width = max(map(len, [str(column.header), *texts]))
    show_table(table)
    typer.echo(f"\nsweep      {printable(str(path))}   (table.csv, table.json, table.md)")
