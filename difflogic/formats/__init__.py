"""File formats of circuits, one module each.

The function `write_blif` of the module `write_blif` turns an `Automaton` into the file's text, and
so do the others, some into bytes. `FORMATS` lists them. `importing` reads circuits back.
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
    writer: str
    """The function from an automaton to text or bytes, in the module of the same name."""
    module: str = ""
    """The module, if its name is another."""
    comparable: bool = False
    """Whether the function accepts an `interface`: the circuit's inputs and outputs."""
    named: bool = False
    """Whether the file contains its own name, given as `rule`."""
    numbered: bool = True
    """Whether the file contains each channel's number in training."""

    def require_comparable(self) -> None:
        """Raise ConfigError unless the function accepts an `interface`."""
        if not self.comparable:
            takers = ", ".join(each.name for each in FORMATS.values() if each.comparable)
            raise ConfigError(
                f"--comparable does not apply to the format {self.name}, only to {takers}"
            )

    def render(
        self, automaton: Automaton, file: Path | None = None, interface: Interface | None = None
    ) -> bytes:
        """Return the content of `file`."""
        given: dict[str, Any] = {} if interface is None else {"interface": interface}
        if file is not None and self.named:
            given["rule"] = file.stem
        module = importlib.import_module(f"difflogic.formats.{self.module or self.writer}")
        rendered: str | bytes = getattr(module, self.writer)(automaton, **given)
        return rendered if isinstance(rendered, bytes) else rendered.encode()


FORMATS = {
    format.name: format
    for format in (
        Format(
            "json",
            ".json",
            "dct's own circuit file, which dct reads",
            "write_circuit",
            "circuit_file",
        ),
        Format("verilog", ".v", "modules of a cell and of a whole grid", "write_verilog"),
        Format("blif", ".blif", "one cell, for abc and yosys", "write_blif", comparable=True),
        Format(
            "aiger",
            ".aig",
            "one cell as an and-inverter graph, binary",
            "write_aiger",
            comparable=True,
        ),
        Format("c", ".h", "a C99 header without dependencies: 64 cells to a word", "write_c"),
        Format("python", ".py", "a module that needs only NumPy", "write_python"),
        Format(
            "logicars",
            ".logicars.json",
            "the JSON of the Rust port logicars, which dct import reads",
            "write_logicars",
            "logicars",
            numbered=False,
        ),
        Format(
            "golly",
            ".rule",
            "the rule of an automaton of up to eight channels, for Golly",
            "write_golly",
            named=True,
        ),
        Format("svg", ".svg", "a picture of the circuit", "write_svg"),
        Format("dot", ".dot", "the circuit as a graph, for Graphviz", "write_dot"),
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
