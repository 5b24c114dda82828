"""Reading a circuit's file, dct's, logicars' or Golly's, as an automaton."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from difflogic.circuit.automaton import Automaton
from difflogic.formats import circuit_file, logicars, read_golly, strict_json
from difflogic.system.archive import is_archive
from difflogic.system.errors import CircuitError, ConfigError
from difflogic.system.files import read_named, text_of

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
"""What logicars' files do not say; a rule of Golly says no more."""


@dataclass(frozen=True)
class Imported:
    """An automaton, the program that wrote its file, and what the file does not say."""

    automaton: Automaton
    format: str
    assumed: Mapping[str, Any]


def read(path: Path, channels: Sequence[int] = (), visible: Sequence[int] = ()) -> Imported:
    """Read a circuit's file, dct's, logicars' or Golly's.

    `channels` renumbers the channels, in the file's order; `visible` are the numbers of those that
    the automaton is judged by. Raises CircuitError for a damaged file or another kind of file.
    """
    if os.path.isdir(path) or is_archive(path):
        raise CircuitError(
            f"{path}: is a run or a model, not circuit JSON: other commands read it directly, and "
            "dct export writes its circuit"
        )
    assumed = dict[str, Any]()
    program = "dct"
    if path.suffix.lower() == ".rule":
        program = "Golly"
        assumed = {**_ASSUMED, "boundary": "periodic"}
        found = _golly(path, assumed)
    elif circuit_file.is_of_logicars(data := strict_json.read(path, _shrink)):
        program = "logicars"
        assumed = {"name": _name(path.name), **_ASSUMED}
        found = Automaton(circuit=logicars.parse(data, str(path)), visible=(0,), **assumed)
    else:
        found = circuit_file.parse(data, str(path))
    circuit = found.circuit.relabeled(channels) if channels else found.circuit
    shown = tuple(visible) or tuple(circuit.labels[row] for row in found.visible_rows)
    automaton = replace(found, circuit=circuit, visible=shown)
    circuit_file.require_expressible(automaton)
    if program == "logicars":
        assumed |= {} if channels else {"channels": circuit.labels}
        assumed |= {} if visible else {"visible": shown}
    return Imported(automaton, program, assumed)


def _shrink(decoded: dict[str, Any]) -> Any:
    small = circuit_file.shrink(decoded)
    return logicars.shrink(decoded) if small is decoded else small


def _golly(path: Path, assumed: Mapping[str, Any]) -> Automaton:
    try:
        text = text_of(read_named(path, read_golly.MOST_RULE_BYTES, "a rule"))
        name, circuit, palette = read_golly.read_golly(text)
    except ConfigError as error:
        raise CircuitError(str(error)) from None
    except CircuitError as error:
        raise CircuitError(f"{path}: {error}") from None
    return Automaton(_name(name), circuit, circuit.labels, palette=palette, **assumed)


def _name(text: str) -> str:
    """Return a valid name of an automaton, made from a file's or another one."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", text.split(".")[0]).strip("-_")
    return name[: circuit_file.NAME_LENGTH] or "imported"
