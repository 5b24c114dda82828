"""The files that a circuit is shipped as: one module per format.

A module turns an `Automaton` into the file's text; `FORMATS` lists them for the command line.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from difflogic.logic.automaton import Automaton


@dataclass(frozen=True)
class Format:
    """A format that circuits are exported as."""

    name: str
    suffix: str
    summary: str
    module: str
    """Its module has a function `render`, from an automaton to text."""

    @property
    def render(self) -> Callable[[Automaton], str]:
        return importlib.import_module(self.module).render


FORMATS = {
    format.name: format
    for format in (
        Format(
            "json", ".json", "dct's own netlist, read back by dct", "difflogic.formats.circuit_json"
        ),
    )
}
