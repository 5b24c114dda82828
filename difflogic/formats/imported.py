"""Reading a circuit's file, dct's or Golly's, as an automaton."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difflogic.circuit.automaton import Automaton
from difflogic.formats import circuit_file, read_golly
from difflogic.system.archive import is_archive
from difflogic.system.errors import CircuitError, ConfigError
from difflogic.system.files import read_named, text_of

ASSUMED: Mapping[str, Any] = {
    "boundary": "periodic",
    "height": 16,
    "width": 16,
    "steps": 20,
    "fire_rate": 1.0,
    "start": "random",
}
"""What a rule of Golly does not say."""


@dataclass(frozen=True)
class Imported:
    """An automaton, and what its file does not say: of dct's own, nothing."""

    automaton: Automaton
    assumed: Mapping[str, Any]


def read(path: Path) -> Imported:
    """Read a circuit's file, dct's or Golly's. Raises CircuitError for any other file."""
    if os.path.isdir(path) or is_archive(path):
        raise CircuitError(
            f"{path}: is a run or a model, not circuit JSON: other commands read it directly, and "
            "dct export writes its circuit"
        )
    if path.suffix.lower() != ".rule":
        return Imported(circuit_file.read_circuit(path), {})
    try:
        text = text_of(read_named(path, read_golly.MOST_RULE_BYTES, "a rule"))
        name, circuit, palette = read_golly.read_golly(text)
    except ConfigError as error:
        raise CircuitError(str(error)) from None
    except CircuitError as error:
        raise CircuitError(f"{path}: {error}") from None
    valid = re.sub(r"[^A-Za-z0-9_-]+", "-", name.split(".")[0]).strip("-_")
    valid = valid[: circuit_file.NAME_LENGTH] or "imported"
    automaton = Automaton(valid, circuit, circuit.labels, palette=palette, **ASSUMED)
    circuit_file.require_expressible(automaton)
    return Imported(automaton, ASSUMED)
