"""From a circuit's file, dct's own or another program's, to an automaton that dct can run."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from difflogic.formats import read_circuit, read_logicars, strict_json
from difflogic.formats.circuit_file import NAME_LENGTH
from difflogic.formats.write_circuit import require_expressible
from difflogic.model.automaton import Automaton
from difflogic.system.archive import is_archive
from difflogic.system.errors import CircuitError, ConfigError, did_you_mean

AUTO = "auto"
SOURCES = ("dct", "logicars")
"""The formats that are read."""

_SILENT: Mapping[str, Any] = {
    # logicars runs circuits with zeros beyond the edge; its first multi-channel experiment is
    # the checkerboard: 16×16 cells, 20 steps, judged by channel 0.
    "boundary": "zero",
    "height": 16,
    "width": 16,
    "steps": 20,
    "fire_rate": 1.0,
    "start": "random",
    "visible": (0,),
}
"""What a file of logicars does not say."""


@dataclass(frozen=True)
class Imported:
    """An automaton, the format of its file, and what neither file nor caller said."""

    automaton: Automaton
    format: str
    assumed: Mapping[str, Any]


def read(path: Path, format: str = AUTO, given: Mapping[str, Any] | None = None) -> Imported:
    """Read a circuit's file in one of SOURCES, or in the one that it looks like.

    `given` are fields of Automaton, and "channels", their numbers in the file's order; they replace
    what the file says or would be assumed. Raises CircuitError for a damaged file or another kind
    of file, and ConfigError for an unknown format.
    """
    if format not in (AUTO, *SOURCES):
        raise ConfigError(f'no format "{format}": {did_you_mean(format, (AUTO, *SOURCES))}')
    given = dict(given or {})
    channels = given.pop("channels", None)
    if os.path.isdir(path) or is_archive(path):
        raise CircuitError(
            f"{path}: is a run or a model, not circuit JSON: other commands read it directly, and "
            "dct export writes its circuit"
        )
    data = strict_json.read(path, _shrink)
    assumed: Mapping[str, Any] = {}
    if format == AUTO:
        format = "logicars" if read_logicars.looks_like(data) else "dct"
    if format == "dct":
        found = read_circuit.parse(data, str(path))
        circuit = found.circuit if channels is None else found.circuit.relabeled(channels)
        given.setdefault("visible", tuple(circuit.labels[row] for row in found.visible_rows))
        automaton = replace(found, circuit=circuit, **given)
    else:
        circuit = read_logicars.parse(data, str(path))
        silent = {"name": _name(path), **_SILENT}
        around = {key: value for key, value in silent.items() if key not in given}
        assumed = around if channels else {**around, "channels": circuit.labels}
        circuit = circuit if channels is None else circuit.relabeled(channels)
        automaton = Automaton(circuit=circuit, **around, **given)
    require_expressible(automaton)
    return Imported(automaton, format, assumed)


def _shrink(decoded: dict[str, Any]) -> Any:
    small = read_circuit.shrink(decoded)
    return read_logicars.shrink(decoded) if small is decoded else small


def _name(path: Path) -> str:
    """Return a file's name as far as an automaton can be called so."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", path.name.split(".")[0]).strip("-_")
    return name[:NAME_LENGTH] or "imported"
