"""Results on stdout: tables for people, JSON for machines."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cli.failures import note
from difflogic.system.quantities import counted, format_ranges
from difflogic.system.templates import rendered

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


PLAIN: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False}
"""Options of a console that shows texts as they are."""
MOST_COLUMNS = 1000
"""Wide enough that no table is folded."""


def show_json(data: Any) -> None:
    """Print as JSON. Infinity and NaN become null."""
    from difflogic.system.json_values import json_value  # imports NumPy

    typer.echo(json.dumps(json_value(data), indent=2, allow_nan=False))


def show(found: Any, as_json: bool, show: Callable[[Any], None]) -> None:
    """Print what a library function returned: as JSON, or with `show`."""
    if as_json:
        show_json(found.as_dict())
    else:
        show(found)


def page(name: str, **values: Any) -> str:
    """Return the text of NAME.jinja beside this module, which also knows what is set here, folded.

    The filter `folded` folds lines, the columns of their label aside.
    """

    def folded(text: str) -> str:
        return "".join(fold(line, 11) + "\n" for line in text.splitlines())

    text = rendered(
        Path(__file__).with_name(f"{name}.jinja"),
        {"folded": folded},
        counted=counted,
        format_ranges=format_ranges,
        **values,
    )
    return "\n".join(fold(line, 4) for line in text.split("\n"))


def show_lines(lines: Mapping[str, str]) -> None:
    """Print labels, each with its text."""
    width = max(map(len, lines), default=0) + 2
    for label, text in lines.items():
        for index, line in enumerate(text.split("\n")):
            typer.echo(fold(f"{label if index == 0 else '':<{width}}{line}", width))


def fold(line: str, indent: int) -> str:
    """Fold a line between words where stdout is a terminal, with `indent` spaces before the rest.

    A command on a line of its own, or at the end of a sentence, stays whole, to be copied.
    """
    if not sys.stdout.isatty() or len(line) <= (width := _terminal().width):
        return line
    if line.lstrip().startswith("dct "):
        return line
    words, command, rest = line.partition(": dct ")
    parts = textwrap.wrap(
        words + ":" if command else words,
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join([*parts, *([" " * indent + "dct " + rest] if command else [])])


def note_folded(line: str) -> None:
    """Write a line to stderr, folded as `say` does: links, paths and commands stay whole."""
    note(fold(line, 2))


def say(line: str = "") -> None:
    """Print a line, folded where stdout is a terminal."""
    typer.echo(fold(line, 2))


def show_table(heads: str, rows: Iterable[Sequence[Any]], texts: int = 1, spare: str = "") -> None:
    """Print a table of `make_table`.

    On a narrow terminal, columns in `spare`, such as "seed | run", are left out until the rest
    fits: first those that say the same in every row, else in this order.
    """
    names = heads.split(" | ")
    cells = [list(row) for row in rows]

    def varies(name: str) -> bool:
        index = names.index(name)
        return len({str(row[index]) for row in cells if row}) > 1

    table = make_table(heads, cells, texts)
    spares = spare.split(" | ") if spare and sys.stdout.isatty() else []
    for name in sorted(spares, key=varies):
        if _width(table) <= _terminal().width:
            break
        index = names.index(name)
        texts -= index < texts
        for row in (names, *filter(None, cells)):
            del row[index]
        table = make_table(" | ".join(names), cells, texts)
    print_table(table)


def make_table(heads: str, rows: Iterable[Sequence[Any]], texts: int = 1) -> Table:
    """Return a table with `heads`, such as "run | seed".

    None is shown as -, an empty row as a rule. The first `texts` columns hold words, which may
    fold; the others hold numbers.
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
    """Print a table; without colour and frame if stdout is no terminal."""
    console = _terminal()
    if sys.stdout.isatty():
        # If it does not fit, the terminal folds its lines; cut numbers would be worse.
        console.width = max(console.width, _width(table, least=True))
        console.print(table)
        return
    console.width = MOST_COLUMNS
    with console.capture() as text:
        console.print(table)
    for line in text.get().splitlines():
        typer.echo(line.rstrip())


def _terminal() -> Console:
    from rich.console import Console

    return Console(**PLAIN)


def _width(table: Table, least: bool = False) -> int:
    """Return the width of a table, or the least width it can be folded to."""
    console = _terminal()
    found = console.measure(table, options=console.options.update(max_width=MOST_COLUMNS))
    return found.minimum if least else found.maximum
