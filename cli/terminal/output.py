"""Results on stdout: tables for people, JSON for machines."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.table import Table

PLAIN_WIDTH = 1000
"""Columns of a table that goes to no terminal: enough for any to stay unfolded."""


def show_json(data: Any) -> None:
    """Print as one JSON object; JSON knows no infinity and no NaN, which become strings."""
    typer.echo(json.dumps(_finite(data), indent=2, allow_nan=False))


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return str(data)
    return data


def new_table(*columns: str, texts: int = 1) -> Table:
    """Return a table; the first `texts` columns hold words, which may fold, the others numbers."""
    from rich import box
    from rich.table import Table

    terminal = sys.stdout.isatty()
    table = Table(
        box=box.SIMPLE_HEAD if terminal else None,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1) if terminal else (0, 2, 0, 0),
        header_style="bold",
    )
    for index, column in enumerate(columns):
        words = index < texts
        table.add_column(column, justify="left" if words else "right", no_wrap=not words)
    return table


def show_table(table: Table, spare: Sequence[str] = ()) -> None:
    """Print a table, without colour and frame if stdout is no terminal.

    On a terminal that is too narrow the `spare` columns are left out, the first ones first.
    """
    from rich.console import Console

    if sys.stdout.isatty():
        console = Console(highlight=False, markup=False, emoji=False)
        unbounded = console.options.update(max_width=PLAIN_WIDTH)
        for name in spare:
            if console.measure(table, options=unbounded).maximum <= console.width:
                break
            table.columns = [column for column in table.columns if column.header != name]
        # One that still does not fit has its lines folded; cut numbers would be worse.
        console.width = max(console.width, console.measure(table, options=unbounded).minimum)
        console.print(table)
        return
    plain = Console(
        color_system=None,
        force_terminal=False,
        width=PLAIN_WIDTH,
        highlight=False,
        markup=False,
        emoji=False,
    )
    with plain.capture() as captured:
        plain.print(table)
    for line in captured.get().splitlines():
        typer.echo(line.rstrip())
