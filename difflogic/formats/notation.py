"""What writers share: a file's head, names, gates as expressions, and texts with a template.

A template, such as `write_c.jinja`, stands beside its module.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import Text
from difflogic.system import templates
from difflogic.version import __version__

COMMENT_COLUMNS = 96
"""Columns of a comment, without its comment sign."""


def row_names(circuit: Circuit) -> list[str]:
    """Return a name for each row: NW0 … SE0 for inputs, g0, g1, … for gates."""
    inputs = [circuit.input_name(row) for row in range(circuit.inputs)]
    return inputs + [f"g{gate}" for gate in range(circuit.gates)]


def expressions(
    circuit: Circuit, names: Sequence[str], zero: str, one: str
) -> Iterator[tuple[str, str]]:
    """Yield each gate's name and expression, with the operators ~, &, | and ^, in order.

    `names` has a name for each row; `zero` and `one` are the language's constants.
    """
    text = Text(zero, one)
    (ops, a, b) = circuit.lists
    known = [*names, ""]
    for row, op, x, y in zip(range(circuit.inputs, circuit.rows), ops, a, b, strict=True):
        yield names[row], text.gate(op, known[x], known[y])


def identifier(automaton: Automaton) -> str:
    """Return the automaton's name as a prefix of identifiers."""
    name = re.sub(r"\W", "_", automaton.name, flags=re.ASCII)
    return name if name[:1].isalpha() else f"ca_{name}"


def head(automaton: Automaton, *usage: str) -> list[str]:
    """Return the lines of a comment that says what a file holds and how to use it."""
    text = templates.rendered(
        templates.PACKAGE / "formats" / "head.jinja",
        automaton=automaton,
        circuit=automaton.circuit,
        usage=usage,
        version=__version__,
    )
    return [line for each in text.splitlines() for line in textwrap.wrap(each, COMMENT_COLUMNS)]


def folded(items: Sequence[str], width: int = COMMENT_COLUMNS) -> list[str]:
    """Join items by blanks into lines of at most `width` columns, or of one longer item."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + 1 + len(item) <= width:
            lines[-1] += f" {item}"
        else:
            lines.append(item)
    return lines


def rendered(name: str, automaton: Automaton, *usage: str, **values: Any) -> str:
    """Return the text of `name`.jinja, such as "formats/write_c", for an automaton.

    `usage` ends the comment at its head. Templates know `values` and what is set here; the filter
    `listed` joins items by commas, in lines after the first indented by some columns.
    """
    return templates.rendered(
        templates.PACKAGE / f"{name}.jinja",
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
