"""File formats of circuits, one module each.

The function `write_blif` of the module `write_blif` turns an `Automaton` into the file's text, and
so do the others. `FORMATS` lists them. `importing` reads circuits back.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from difflogic.system.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from difflogic.circuit.automaton import Automaton
    from difflogic.formats.interface import Interface


@dataclass(frozen=True)
class Format:
    """An export format."""

    name: str
    suffix: str
    """The end of the file's name."""
    summary: str
    place: str = ""
    """The module and function from an automaton to text, if they are not called `write_`
    and the format's name."""
    named: bool = False
    """Whether the file contains its own name, given as `file`."""

    def render(
        self, automaton: Automaton, file: Path | None = None, interface: Interface | None = None
    ) -> bytes:
        """Return the content of `file`. Raises CircuitError if no circuit file could hold it.

        Only BLIF takes an `interface`: the circuit's inputs and outputs.
        """
        from difflogic.formats.circuit_file import require_expressible  # a list needs no pydantic

        require_expressible(automaton)  # names and labels become code
        given: dict[str, Any] = {} if interface is None else {"interface": interface}
        if file is not None and self.named:
            given["file"] = file.name
        name = f"write_{self.name}"
        module, _, function = (self.place or f"{name}:{name}").partition(":")
        writer = getattr(importlib.import_module(f"difflogic.formats.{module}"), function)
        text: str = writer(automaton, **given)
        return text.encode()


FORMATS = {
    format.name: format
    for format in (
        Format(
            "json", ".json", "dct's own circuit file, which dct reads", "circuit_file:write_circuit"
        ),
        Format("verilog", ".v", "modules of a cell and of a whole grid"),
        Format("blif", ".blif", "one cell, for abc and yosys"),
        Format("c", ".h", "a C99 header without dependencies: 64 cells to a word", named=True),
        Format(
            "golly",
            ".rule",
            "the rule of an automaton of up to eight channels, for Golly",
            named=True,
        ),
        Format("svg", ".svg", "a picture of the circuit"),
    )
}


def by_name(name: str) -> Format:
    """Return a format. Raises ConfigError, which suggests a name, for an unknown one."""
    if name not in FORMATS:
        raise ConfigError(f'no format "{name}": {did_you_mean(name, FORMATS)}')
    return FORMATS[name]


def by_file(name: str) -> Format:
    """Return the format with the longest suffix that fits. Raises ConfigError if none fits."""
    fitting = [format for format in FORMATS.values() if name.lower().endswith(format.suffix)]
    if not fitting:
        suffixes = ", ".join(f"{format.suffix} ({format.name})" for format in FORMATS.values())
        raise ConfigError(
            f'"{name}": no format has this suffix: choose one with --format, or use one of '
            f"{suffixes}"
        )
    return max(fitting, key=lambda format: len(format.suffix))
