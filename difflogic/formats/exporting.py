"""From an automaton to the bytes of a file, simplified unless that is not wanted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difflogic.formats import Format
from difflogic.formats.common import common_interface
from difflogic.logic.automaton import Automaton
from difflogic.logic.simplification import simplify


@dataclass(frozen=True)
class Export:
    """A file's bytes, and the automaton that they hold."""

    data: bytes
    automaton: Automaton


def export(
    automaton: Automaton,
    format: Format,
    *,
    unsimplified: bool = False,
    comparable: bool = False,
    array: tuple[int, int] | None = None,
    file: Path | None = None,
) -> Export:
    """Render an automaton.

    With `comparable`, the simplified and the unsimplified file have the same inputs and outputs:
    all inputs of the automaton as it is, and the channels that simplifying keeps. `array` is the
    default height and width of a Verilog grid. `file` is where the result will stand, for the
    formats whose files say their own name. Raises ConfigError if the format has no such option.
    """
    chosen = automaton if unsimplified else simplify(automaton).automaton
    options: dict[str, Any] = {}
    if comparable:
        kept = (simplify(automaton).circuit if unsimplified else chosen.circuit).labels
        options["interface"] = common_interface(automaton.circuit, kept)
    if array is not None:
        options["array"] = array
    if file is not None and "rule" in format.options:
        options["rule"] = file.stem
    rendered = format.render(chosen, options)
    return Export(rendered if isinstance(rendered, bytes) else rendered.encode(), chosen)
