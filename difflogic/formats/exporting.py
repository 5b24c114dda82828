"""From an automaton to the bytes of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from difflogic.formats import Format
from difflogic.formats.common import Interface
from difflogic.model.automaton import Automaton


def export(
    automaton: Automaton,
    format: Format,
    *,
    interface: Interface | None = None,
    array: tuple[int, int] | None = None,
    file: Path | None = None,
) -> bytes:
    """Render an automaton.

    `interface` says which inputs and outputs the circuit gets, `array` the default height and
    width of a Verilog grid; `file` is where the result will stand, for the formats whose files
    say their own name. Raises ConfigError if the format has no such option.
    """
    options: dict[str, Any] = {}
    if interface is not None:
        options["interface"] = interface
    if array is not None:
        options["array"] = array
    if file is not None and "rule" in format.options:
        options["rule"] = file.stem
    rendered = format.render(automaton, options)
    return rendered if isinstance(rendered, bytes) else rendered.encode()
