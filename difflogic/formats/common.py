"""Shared by the writers: a file's header, names, and gates as expressions."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import Text
from difflogic.system.templates import rendered
from difflogic.version import __version__

LINE = 96
"""Columns of a comment, without its comment sign."""


def row_names(circuit: Circuit) -> list[str]:
    """Return a name for each row: NW0 … SE0 for inputs, g0, g1, … for gates."""
    inputs = [circuit.input_name(row) for row in range(circuit.inputs)]
    return inputs + [f"g{gate}" for gate in range(circuit.gates)]


def expressions(
    circuit: Circuit, names: Sequence[str], zero: str, one: str
) -> Iterator[tuple[str, str]]:
    """Yield each gate's name and expression, in order.

    `names` has a name for each row; `zero` and `one` are the language's constants.
    """
    text, (ops, a, b) = Text(zero, one), circuit.lists
    known = [*names, ""]
    for row, op, x, y in zip(range(circuit.inputs, circuit.rows), ops, a, b, strict=True):
        yield names[row], text.gate(op, known[x], known[y])


def identifier(automaton: Automaton) -> str:
    """Return the automaton's name as a prefix of identifiers."""
    name = re.sub(r"\W", "_", automaton.name, flags=re.ASCII)
    return name if name[:1].isalpha() else f"ca_{name}"


def head(automaton: Automaton, *usage: str) -> list[str]:
    """Return the lines of a comment that says what a file holds and how to use it."""
    text = rendered(
        Path(__file__).with_name("head.jinja"),
        automaton=automaton,
        circuit=automaton.circuit,
        usage=usage,
        version=__version__,
    )
    return [line for each in text.splitlines() for line in textwrap.wrap(each, LINE)]


def leb128(value: int) -> bytes:
    """Encode a number >= 0: seven bits per byte, lowest first; the eighth bit means more follow."""
    found = bytearray()
    while value >= 0x80:
        found.append(0x80 | value & 0x7F)
        value >>= 7
    return bytes([*found, value])


def folded(items: Sequence[str], width: int = LINE) -> list[str]:
    """Join items by blanks into lines of at most `width` columns, or of one longer item."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + 1 + len(item) <= width:
            lines[-1] += f" {item}"
        else:
            lines.append(item)
    return lines
