"""What a report is made from: an automaton, and as much of its training as there is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difflogic.errors import RunDirectoryError
from difflogic.files import open_plain, refused
from difflogic.logic.automaton import Automaton
from difflogic.model import Model
from difflogic.training.metrics import History, from_csv
from difflogic.training.run_directory import METRICS, RunDirectory

MOST_METRICS_BYTES = 2**28


@dataclass(frozen=True)
class Source:
    """A trained automaton, with as much of its training as there is."""

    automaton: Automaton
    """As trained, with every gate; a circuit's own file is as it is."""
    model: Model | None = None
    history: History | None = None
    summary: dict[str, Any] | None = None


def read_training(directory: Path) -> tuple[History | None, dict[str, Any] | None]:
    """Return all whole rows of a run's metrics, and its summary, as far as they are there.

    Raises RunDirectoryError for metrics that are damaged, or cannot be read.
    """
    return _history(directory / METRICS), RunDirectory.at(directory).read_summary()


def _history(path: Path) -> History | None:
    if not path.exists():
        return None
    try:
        with open_plain(path) as file:
            content = file.read(MOST_METRICS_BYTES + 1)
    except OSError as error:
        raise refused(path, "read", error) from None
    if len(content) > MOST_METRICS_BYTES:
        raise RunDirectoryError(f"{path}: is larger than any that dct writes")
    try:
        text = content.decode()
        # What follows the last line's end is a row that is still being written.
        return from_csv(text, max(0, text.count("\n") - 1)) or None
    except ValueError as error:
        raise RunDirectoryError(f"{path}: is damaged: {error}") from None
