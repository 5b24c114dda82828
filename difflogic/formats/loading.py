"""Reading automata from what users name: a run's directory, a model file, or a circuit's JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from difflogic.errors import CircuitError
from difflogic.formats import circuit_json
from difflogic.logic.automaton import Automaton, from_model
from difflogic.model import Model
from difflogic.training.run_directory import saved_model

MAX_TEXT_BYTES = 2**26
"""No larger text is read: a circuit of the most gates that are accepted takes less."""

_ZIP = b"PK"


def load(path: Path) -> Automaton:
    """Return the hard automaton that `path` holds, as it is, nothing simplified.

    Raises CircuitError, ModelFileError or RunDirectoryError for whatever is none.
    """
    path = saved_model(path)
    if _begins_with(path, _ZIP):
        return from_model(Model.load(path))
    return circuit_json.parse(read_json(path), str(path))


def read_json(path: Path) -> Any:
    """Return what a JSON file holds, of at most MAX_TEXT_BYTES. Raises CircuitError."""
    try:
        with path.open("rb") as file:
            text = file.read(MAX_TEXT_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise CircuitError(f"{path}: cannot be read: {reason.lower()}") from None
    if len(text) > MAX_TEXT_BYTES:
        raise CircuitError(f"{path}: is larger than any circuit ({MAX_TEXT_BYTES} bytes)")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise CircuitError(
            f"{path}: is neither a model nor a circuit in JSON, or only the beginning of one"
        ) from None


def _begins_with(path: Path, magic: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(magic)) == magic
    except (OSError, ValueError):
        return False
