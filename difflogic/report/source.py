"""What a report is made from, read from a run's directory, a model, or a circuit's file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difflogic.errors import RunDirectoryError
from difflogic.files import open_plain, refused
from difflogic.formats.loading import is_archive, load
from difflogic.logic.automaton import Automaton
from difflogic.model import Model
from difflogic.training.metrics import History, from_csv
from difflogic.training.run_directory import METRICS, RunDirectory, saved_model

MOST_METRICS_BYTES = 2**28


@dataclass(frozen=True)
class Source:
    """A trained automaton, with as much of its training as there is."""

    automaton: Automaton
    """As trained, with every gate; a circuit's own file is as it is."""
    model: Model | None = None
    history: History | None = None
    summary: dict[str, Any] | None = None


def read(path: Path) -> Source:
    """Read all that there is. Raises DctError for what is no run, no model and no circuit."""
    automaton = load(path)
    file = saved_model(path)
    if not is_archive(file):
        return Source(automaton)
    model = Model.load(file)
    if not path.is_dir() and file == path:
        return Source(automaton, model)
    directory = file.parent
    run = RunDirectory.at(directory)
    return Source(automaton, model, _history(directory / METRICS), run.read_summary())


def _history(path: Path) -> History | None:
    """Read all whole rows of metrics.csv; None if there are none."""
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
        return from_csv(text, max(0, text.count("\n") - 1)) or None
    except ValueError as error:
        raise RunDirectoryError(f"{path}: is damaged: {error}") from None
