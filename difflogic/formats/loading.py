"""Reading automata from what users name: a run's directory, a model file, or a circuit's JSON."""

from __future__ import annotations

from pathlib import Path

from difflogic.errors import CircuitError
from difflogic.files import open_plain
from difflogic.formats import read_circuit
from difflogic.logic.automaton import Automaton, from_model
from difflogic.model import Model
from difflogic.training.run_directory import saved_model

_ARCHIVE = b"PK"


def load(path: Path) -> Automaton:
    """Return the hard automaton that `path` holds, as it is, nothing simplified.

    Raises CircuitError, ModelFileError or RunDirectoryError for whatever is none.
    """
    try:
        path = saved_model(path)
    except OSError as error:  # a name that is too long, or a directory that may not be entered
        reason = (error.strerror or str(error)).lower()
        raise CircuitError(f"{path}: cannot be read: {reason}") from None
    if is_archive(path):
        return from_model(Model.load(path))
    return read_circuit.read_circuit(path)


def is_trained(path: Path) -> bool:
    """Return whether `path` means a run or a model, as against a circuit's own file."""
    return is_archive(saved_model(path))


def is_archive(path: Path) -> bool:
    """Return whether a file begins as a model does."""
    try:
        with open_plain(path) as file:
            return file.read(len(_ARCHIVE)) == _ARCHIVE
    except (OSError, ValueError):
        return False
