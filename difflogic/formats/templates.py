"""Formats whose text stands in a template beside their module, such as `write_c.jinja`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from difflogic.circuit.automaton import Automaton
from difflogic.formats.common import folded, head, identifier
from difflogic.system import templates


def rendered(name: str, automaton: Automaton, *usage: str, **values: Any) -> str:
    """Return the text of `name`.jinja, such as "formats/write_c", for an automaton.

    `usage` ends the comment at its head. Templates know `values` and what is set here; the filter
    `listed` joins items by commas, in lines after the first indented by some columns.
    """
    return templates.rendered(
        templates.ROOT / f"{name}.jinja",
        {"folded": folded, "listed": _listed},
        automaton=automaton,
        circuit=automaton.circuit,
        name=identifier(automaton),
        head=head(automaton, *usage),
        asynchronous=automaton.fire_rate < 1,
        periodic=automaton.boundary == "periodic",
        rate=f"{automaton.fire_rate:g}",
        **values,
    )


def _listed(items: Iterable[str], indent: int) -> str:
    return f"\n{' ' * indent}".join(folded([f"{item}," for item in items], 84))[:-1]
