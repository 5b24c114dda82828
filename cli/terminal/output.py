"""Results on stdout: tables for people, JSON for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PLAIN_WIDTH = 1000
"""Columns of a table that goes to no terminal: enough for any to stay unfolded."""


def show_json(data: Any) -> None:
    """Print as JSON, which knows no infinity and no NaN: they become null."""
    from difflogic.system.json_values import json_value  # imports NumPy

    typer.echo(json.dumps(json_value(data), indent=2, allow_nan=False))


def show_lines(lines: Iterable[tuple[str, Any]], width: int) -> None:
    """Print labels, in `width` characters, each with its text."""
    for label, text in lines:
        typer.echo(f"{label:<{width}}{text}")


def show_table(heads: str, rows: Iterable[Sequence[Any]], texts: int = 1, spare: str = "") -> None:
    """Print a table that `make_table` makes.

    On a terminal that is too narrow the columns that `spare` names, such as "seed | run", are left
    out, the first ones first.
    """
    names, cells = heads.split(" | "), [list(row) for row in rows]
    table = make_table(heads, cells, texts)
    for name in spare.split(" | ") if spare and sys.stdout.isatty() else ():
        if _width(table) <= _terminal().width:
            break
        index = names.index(name)
        texts -= index < texts
        for row in (names, *filter(None, cells)):
            del row[index]
        table = make_table(" | ".join(names), cells, texts)
    print_table(table)


def make_table(heads: str, rows: Iterable[Sequence[Any]], texts: int = 1) -> Table:
    """Return a table with `heads`, a text such as "run | seed", whose cells are any values.

    None is shown as -, a row of no cells as a rule. The first `texts` columns hold words,
    which may fold, the others numbers.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    terminal = sys.stdout.isatty()
    table = Table(
        box=box.SIMPLE_HEAD if terminal else None,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1) if terminal else (0, 2, 0, 0),
        header_style="bold",
    )
    for index, head in enumerate(heads.split(" | ")):
        words = index < texts
        table.add_column(head, justify="left" if words else "right", no_wrap=not words)
    for row in rows:
        if not row:
            table.add_section()
        else:
            shown = ("-" if cell is None else cell for cell in row)
            table.add_row(*(cell if isinstance(cell, Text) else str(cell) for cell in shown))
    return table


def print_table(table: Table) -> None:
    """Print a table, without colour and frame if stdout is no terminal."""
    from rich.console import Console

    if sys.stdout.isatty():
        console = _terminal()
        # One that does not fit has its lines folded; cut numbers would be worse.
        console.width = max(console.width, _width(table, least=True))
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


def _terminal() -> Console:
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def _width(table: Table, least: bool = False) -> int:
    """Return the columns that a table takes, or the least that it can do with."""
    console = _terminal()
    found = console.measure(table, options=console.options.update(max_width=PLAIN_WIDTH))
    return found.minimum if least else found.maximum
