"""Reading a circuit's file, dct's or logicars', as an automaton."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from difflogic.circuit.automaton import Automaton
from difflogic.formats import circuit_file, logicars, strict_json
from difflogic.system.archive import is_archive
from difflogic.system.errors import CircuitError

_ASSUMED: Mapping[str, Any] = {
    # logicars has zeros beyond the edge. Its first experiment with several channels is the
    # checkerboard: 16×16 cells, 20 steps, judged by channel 0.
    "boundary": "zero",
    "height": 16,
    "width": 16,
    "steps": 20,
    "fire_rate": 1.0,
    "start": "random",
}
"""What logicars' files do not say."""


@dataclass(frozen=True)
class Imported:
    """An automaton, the program that wrote its file, and what the file does not say."""

    automaton: Automaton
    format: str
    assumed: Mapping[str, Any]


def read(path: Path, channels: Sequence[int] = (), visible: Sequence[int] = ()) -> Imported:
    """Read a circuit's file, dct's or logicars'.

    `channels` renumbers the channels, in the file's order; `visible` are the numbers of those that
    the automaton is judged by. Raises CircuitError for a damaged file or another kind of file.
    """
    if os.path.isdir(path) or is_archive(path):
        raise CircuitError(
            f"{path}: is a run or a model, not circuit JSON: other commands read it directly, and "
            "dct export writes its circuit"
        )
    data = strict_json.read(path, _shrink)
    assumed: dict[str, Any] = {}
    if circuit_file.is_of_logicars(data):
        assumed = {"name": _name(path), **_ASSUMED}
        found = Automaton(circuit=logicars.parse(data, str(path)), visible=(0,), **assumed)
    else:
        found = circuit_file.parse(data, str(path))
    circuit = found.circuit.relabeled(channels) if channels else found.circuit
    shown = tuple(visible) or tuple(circuit.labels[row] for row in found.visible_rows)
    automaton = replace(found, circuit=circuit, visible=shown)
    circuit_file.require_expressible(automaton)
    if not assumed:
        return Imported(automaton, "dct", assumed)
    assumed |= {} if channels else {"channels": circuit.labels}
    assumed |= {} if visible else {"visible": shown}
    return Imported(automaton, "logicars", assumed)


def _shrink(decoded: dict[str, Any]) -> Any:
    small = circuit_file.shrink(decoded)
    return logicars.shrink(decoded) if small is decoded else small


def _name(path: Path) -> str:
    """Return a valid name of an automaton, made from the file's."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", path.name.split(".")[0]).strip("-_")
    return name[: circuit_file.NAME_LENGTH] or "imported"
