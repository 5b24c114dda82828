"""Circuits in the formats of other tools: `export`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from difflogic.circuit.automaton import Automaton
from difflogic.formats import FORMATS, Format, by_file, by_name
from difflogic.formats.interface import common_interface
from difflogic.library.loaded import Source, load
from difflogic.library.simplifying import small_form
from difflogic.system.declaration import TimeLimit, checked
from difflogic.system.errors import ConfigError
from difflogic.system.files import check_output, write_output


@dataclass(frozen=True)
class Exported:
    """A circuit in a format."""

    automaton: Automaton
    """The automaton that was written."""
    format: Format
    data: bytes
    file: Path | None
    """None if no file was written."""


@checked
def export(
    source: Source,
    file: str | Path | None = None,
    format: str | None = None,
    *,
    unsimplified: bool = False,
    comparable: bool = False,
    force: bool = False,
    time_limit: TimeLimit = None,
) -> Exported:
    """Write a circuit for other tools, to `file` or, without one, to the result's `data`.

    The circuit of a run or a model is simplified and proved equal first, unless `unsimplified`.
    Without a `format`, the file's suffix decides. `comparable` gives the simplified and the
    unsimplified circuit the same inputs and outputs, in BLIF. `force` overwrites an earlier file.

    Raises what `load` raises; ConfigError for an unknown format or option; ProofError if the
    simplified circuit cannot be proved equal; RunDirectoryError if the file cannot be written.
    """
    path = None if file is None else Path(file)
    check_output(path, force)
    if format is not None:
        chosen = by_name(format)
    elif path is not None:
        chosen = by_file(path.name)
    else:
        raise ConfigError(f"choose a format with --format: {', '.join(FORMATS)}")
    if comparable and chosen.name != "blif":
        raise ConfigError(f"--comparable does not apply to the format {chosen.name}, only to blif")
    loaded = load(source)
    automaton = loaded.automaton
    interface = None
    if comparable or not unsimplified:
        small = small_form(loaded, time_limit=time_limit)
        if comparable:
            interface = common_interface(automaton.circuit, small.circuit.labels)
        automaton = automaton if unsimplified else small
    data = chosen.render(automaton, path, interface)
    if path is not None:
        write_output(path, data, force)
    return Exported(automaton, chosen, data, path)
