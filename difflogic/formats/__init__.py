"""The files that a circuit is shipped as: one module per format and direction.

The function `write_blif` of the module `write_blif` turns an `Automaton` into the file's text, as
all others do, some into bytes; `FORMATS` lists them for the command line. `read_circuit` and
`read_logicars` go the other way.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
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
        """Raise ConfigError if this format lacks one of these options."""
        for name in options:
            if name not in self.options:
                takers = [format.name for format in FORMATS.values() if name in format.options]
                raise ConfigError(
                    f"{FLAGS[name]} does not apply to the format {self.name}, only to "
                    f"{', '.join(takers)}"
                )

    def render(self, automaton: Automaton, file: Path | None = None, **options: Any) -> bytes:
        """Return the file's content; options that are None are left out.

        `interface` says which inputs and outputs the circuit gets, `array` the default height and
        width of a Verilog grid; `file` is where the result will stand, for the formats whose files
        say their own name. Raises ConfigError if the format has no such option.
        """
        given = {name: value for name, value in options.items() if value is not None}
        self.require(*given)
        if file is not None and "rule" in self.options:
            given["rule"] = file.stem
        module = importlib.import_module(f"difflogic.formats.{self.writer}")
        rendered: str | bytes = getattr(module, self.writer)(automaton, **given)
        return rendered if isinstance(rendered, bytes) else rendered.encode()


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
            ".aig",
            "one cell as an and-inverter graph, binary",
            "write_aiger",
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
            "golly",
            ".rule",
            "the rule of an automaton of up to eight channels, for Golly",
            "write_golly",
            ("rule",),
        ),
        Format("svg", ".svg", "a picture of the circuit", "write_svg"),
        Format("dot", ".dot", "the circuit as a graph, for Graphviz", "write_dot"),
    )
}


def by_name(name: str) -> Format:
    """Return a format. Raises ConfigError, with the nearest name, for an unknown one."""
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
            f'"{name}": no format has this suffix: choose one with --format, or use one of '
            f"{suffixes}"
        )
    return max(fitting, key=lambda format: len(format.suffix))
