"""The files that a circuit is shipped as: one module per format and direction.

The function `write_blif` of the module `write_blif` turns an `Automaton` into the file's text, as
all others do, some into bytes; `FORMATS` lists them for the command line. `read_circuit` and
`read_logicars` go the other way.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from difflogic.system.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from difflogic.model.automaton import Automaton

FLAGS = {"array": "--array", "interface": "--comparable"}
"""What users call the options of formats."""


@dataclass(frozen=True)
class Format:
    """A format that circuits are exported as."""

    name: str
    suffix: str
    """What names of such files end in. Several formats may share the end of a suffix."""
    summary: str
    writer: str
    """The module here, and its function from an automaton to text or bytes."""
    options: tuple[str, ...] = ()
    """What else the function accepts, by keyword; it does without."""
    numbered: bool = True
    """Whether the files say what number each channel had in training."""

    def require(self, *options: str) -> None:
        """Raise ConfigError if one of these options is none of this format."""
        for name in options:
            if name not in self.options:
                takers = [format.name for format in FORMATS.values() if name in format.options]
                raise ConfigError(
                    f"{FLAGS[name]} means nothing to the format {self.name}, only to "
                    f"{', '.join(takers)}"
                )

    def render(self, automaton: Automaton, options: Mapping[str, Any] | None = None) -> str | bytes:
        """Return the file. Raises ConfigError if an option is none of this format."""
        given = dict(options or {})
        self.require(*given)
        module = importlib.import_module(f"difflogic.formats.{self.writer}")
        text: str | bytes = getattr(module, self.writer)(automaton, **given)
        return text


FORMATS = {
    format.name: format
    for format in (
        Format("json", ".json", "dct's own netlist, read back by dct", "write_circuit"),
        Format(
            "verilog", ".v", "modules of a cell and of a whole grid", "write_verilog", ("array",)
        ),
        Format("blif", ".blif", "one cell, for abc and yosys", "write_blif", ("interface",)),
        Format(
            "aiger",
            ".aag",
            "one cell as an and-inverter graph, ASCII",
            "write_aiger",
            ("interface",),
        ),
        Format(
            "aiger-binary",
            ".aig",
            "the same in binary, as abc reads it",
            "write_aiger_binary",
            ("interface",),
        ),
        Format("c", ".h", "a C99 header without dependencies: 64 cells to a word", "write_c"),
        Format("python", ".py", "a module that needs only NumPy", "write_python"),
        Format(
            "logicars",
            ".logicars.json",
            "the JSON of the Rust port logicars, read back by dct import",
            "write_logicars",
            numbered=False,
        ),
        Format(
            "digitaljs",
            ".digitaljs.json",
            "one cell, for the viewer and simulator digitaljs",
            "write_digitaljs",
        ),
        Format(
            "golly",
            ".rule",
            "the rule of an automaton of one channel, for Golly",
            "write_golly",
            ("rule",),
        ),
        Format("svg", ".svg", "a picture of the circuit", "write_svg"),
        Format("dot", ".dot", "the circuit as a graph, for Graphviz", "write_dot"),
    )
}


def by_name(name: str) -> Format:
    """Return a format. Raises ConfigError, with the nearest name, if there is none."""
    if name not in FORMATS:
        raise ConfigError(f'no format "{name}": {did_you_mean(name, FORMATS)}')
    return FORMATS[name]


def by_file(name: str) -> Format:
    """Return the format whose suffix a file's name ends in: the longest, the first of equals.

    Raises ConfigError if it ends in none.
    """
    fitting = [format for format in FORMATS.values() if name.lower().endswith(format.suffix)]
    if not fitting:
        suffixes = ", ".join(f"{format.suffix} ({format.name})" for format in FORMATS.values())
        raise ConfigError(
            f'"{name}": no format has files that end so: choose one with --format, or end the '
            f"name in one of {suffixes}"
        )
    return max(fitting, key=lambda format: len(format.suffix))
