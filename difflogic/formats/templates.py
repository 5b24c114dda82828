"""Formats whose text stands in a template beside their module, such as `write_c.jinja`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from difflogic.circuit.automaton import Automaton
from difflogic.formats.common import LINE, folded, identifier
from difflogic.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment


def rendered(template: str, automaton: Automaton, *usage: str, **values: Any) -> str:
    """Return the text of `template`.jinja, such as "formats/write_c", for an automaton.

    `usage` ends the comment at its head. Templates know `values` and what is set here; the filter
    `listed` joins items by commas, in lines after the first indented by some columns.
    """
    return (
        _environment()
        .get_template(f"{template}.jinja")
        .render(
            automaton=automaton,
            circuit=automaton.circuit,
            name=identifier(automaton),
            head=head(automaton, *usage),
            asynchronous=automaton.fire_rate < 1,
            periodic=automaton.boundary == "periodic",
            rate=f"{automaton.fire_rate:g}",
            **values,
        )
    )


def head(automaton: Automaton, *usage: str) -> list[str]:
    """Return the lines of a comment that says what a file holds and how to use it."""
    text = (
        _environment()
        .get_template("formats/head.jinja")
        .render(automaton=automaton, circuit=automaton.circuit, usage=usage, version=__version__)
    )
    return [line for each in text.splitlines() for line in textwrap.wrap(each, LINE)]


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parents[1]),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"listed": _listed, "folded": folded}
    return environment


def _listed(items: Iterable[str], indent: int) -> str:
    return f"\n{' ' * indent}".join(folded([f"{item}," for item in items], 84))[:-1]
