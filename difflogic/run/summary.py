"""summary.json: the results of a run. Sealed when written, checked before anything relies on it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, ValidationError

from difflogic.evaluation.scores import Entries, Scores
from difflogic.run.run_directory import RunDirectory
from difflogic.system.errors import RunDirectoryError
from difflogic.system.files import digest, for_shell, is_folder, read_inside

if TYPE_CHECKING:
    from difflogic.config.models import Config

MOST_SUMMARY_BYTES = 2**24
"""A summary has 5 kB."""

SEAL = "sha256"


class Seconds(Entries):
    """Wall seconds of a run, but for `processor`."""

    training: float
    start: float
    compilation: float
    tests: float
    all: float
    processor: float
    phases: dict[str, float]
    others: float | None = None
    """Of the ways to learn from examples that did not win."""


class Gain(Entries):
    """What polishing gained, each before and after."""

    gates: tuple[int, int]
    from_step: tuple[int, int] | None


class Corrected(Entries):
    """Gates that correct wrong bits."""

    bits: int
    gates: int


class Attempts(Entries):
    """How many attempts have begun, and which one the circuit is of."""

    begun: int
    result: int


class Cpu(Entries):
    """The processor."""

    name: str
    count: int


class Summary(Entries):
    """The contents of summary.json."""

    experiment: str
    seed: int
    workers: int
    ranks: int | None = None
    plan: dict[str, Any]
    epochs: int
    epochs_requested: int
    finished: bool
    interrupted: bool
    resumed: int
    """How often."""
    exact_epoch: int | None
    """The epoch at which the circuit was verified to be exact."""
    attempts: Attempts | None = None
    searched: bool
    polished: Gain | None
    corrected: Corrected | None
    scores: Scores
    seconds: Seconds
    versions: dict[str, str]
    cpu: Cpu
    start: dict[str, Any] | None = None
    """The model that it started from."""
    files: dict[str, str] = Field(default_factory=dict)
    """The SHA-256 of each file that it sums up, once it is written."""


def write_summary(run: RunDirectory, results: Summary) -> Path:
    """Write summary.json, with the checksums of the files that it sums up.

    Raises RunDirectoryError, and UnreadableError if one of them cannot be read back.
    """
    sums = {path.name: digest(path) for path in run.summed_up}
    there = {name: found for name, found in sums.items() if found is not None}
    return run.write(run.summary, render(results, there))


def read_summary(run: RunDirectory, config: Config | None = None) -> Summary | None:
    """Return summary.json, or None if it is missing.

    Raises RunDirectoryError if it is damaged; with the run's configuration, also if the files of a
    finished run do not match. Raises UnreadableError.
    """
    try:
        found = parse(read_inside(run.summary, MOST_SUMMARY_BYTES))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise RunDirectoryError(f"{run.summary}: is damaged: {error}") from None
    if config is not None and found.finished:
        require_its_files(run, found)
        if (found.seed, found.experiment) != (config.training.seed, config.name):
            raise RunDirectoryError(f"{run.summary}: is that of another run")
    return found


def require_whole(run: RunDirectory, config: Config) -> None:
    """Raise RunDirectoryError, with what to do, if files of a finished run do not match.

    `config` is that of its model.
    """
    try:
        read_summary(run, config)
    except RunDirectoryError as error:
        folder = next(filter(is_folder, (run.summary, *run.summed_up)), None)
        remedy = ""
        if folder is not None:
            remedy = f"; {folder.name} is a directory, which dct did not make: move it away"
        elif run.is_run and run.settings and not str(error).startswith(str(run.config)):
            path = for_shell(run.path)
            remedy = f"; to restore the run from a checkpoint: dct train --resume {path}"
        raise RunDirectoryError(
            f"{error}: to use {run.model.name} anyway, name that file{remedy}"
        ) from None


def require_its_files(run: RunDirectory, results: Summary) -> None:
    """Raise RunDirectoryError if the files of a finished run do not match its summary."""
    for path in run.summed_up:
        found = digest(path)
        if found is None:
            raise RunDirectoryError(f"{path}: is missing")
        if found != results.files.get(path.name):
            what = f"is damaged, or of another run than {run.summary.name} describes"
            raise RunDirectoryError(f"{path}: {what}")


def render(summary: Summary, files: dict[str, str]) -> str:
    """Return the file's text: the summary, the SHA-256 of the run's `files`, and a seal over all.

    NaN and infinity become null.
    """
    data = summary.model_copy(update={"files": files}).as_dict()
    data.pop(SEAL, None)
    return json.dumps({**data, SEAL: _digest(data)}, indent=2, ensure_ascii=False) + "\n"


def parse(content: bytes) -> Summary:
    """Read a sealed summary. Raises ValueError with what is wrong."""
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON, or is cut off") from None
    if not isinstance(data, dict):
        raise ValueError("it holds no object")
    if data.get(SEAL) != _digest({key: value for key, value in data.items() if key != SEAL}):
        raise ValueError("its checksum is wrong")
    try:
        return Summary.model_validate_json(content)
    except ValidationError as error:
        place = ".".join(map(str, error.errors(include_url=False)[0]["loc"]))
        raise ValueError(f'"{place}" is missing or has a wrong type') from None


def _digest(data: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
