"""summary.json: the results of a run. Sealed when written, checked before anything relies on it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from difflogic.run.run_directory import RunDirectory
from difflogic.system.errors import RunDirectoryError
from difflogic.system.files import digest, for_shell, read_inside
from difflogic.system.json_values import json_value

if TYPE_CHECKING:
    from difflogic.config.models import Config

MOST_SUMMARY_BYTES = 2**24
"""A summary has 5 kB."""

SEAL = "sha256"
FILES = "files"


TwoNumbers = Annotated[list[int], Field(min_length=2, max_length=2)]


class _Entries(BaseModel):
    """The entries that the program reads; a file may have more."""

    model_config = ConfigDict(strict=True)


class _Checked(_Entries):
    tested: str
    starts: int
    cells: int
    step: int
    wrong_cells: int
    later_step: int | None
    wrong_cells_later: int | None
    exact: bool
    active_gates: int


class _Assurance(_Entries):
    text: str
    verdict: str
    from_step: int | None


class _Count(_Entries):
    name: str
    height: int
    width: int
    step: int
    wrong_cells: int
    cells: int


class _Exactness(_Entries):
    counts: list[_Count] = Field(min_length=1)


class _Scores(_Entries):
    soft_loss: float | None
    hard_loss: float | None
    accuracy: float | None
    best_hard_loss: float | None
    best_accuracy: float | None
    best_epoch: int | None
    checked: _Checked
    assurance: _Assurance
    right_pairs: dict[str, TwoNumbers] | None = None
    exactness: _Exactness | None = None


class _Seconds(_Entries):
    training: float
    compilation: float
    processor: float
    phases: dict[str, float]


class _Polished(_Entries):
    gates: TwoNumbers
    from_step: TwoNumbers | None


class _Corrected(_Entries):
    bits: int
    gates: int


class _Attempts(_Entries):
    begun: int
    result: int


class _Cpu(_Entries):
    name: str
    count: int


class _Summary(_Entries):
    experiment: str
    seed: int
    workers: int
    epochs: int
    epochs_requested: int
    finished: bool
    interrupted: bool
    resumed: int
    exact_epoch: int | None
    scores: _Scores
    seconds: _Seconds
    versions: dict[str, str]
    cpu: _Cpu
    files: dict[str, str]
    polished: _Polished | None
    searched: bool = True
    corrected: _Corrected | None = None
    attempts: _Attempts | None = None


def write_summary(run: RunDirectory, results: Mapping[str, Any]) -> Path:
    """Write summary.json, with the checksums of the files that it sums up.

    Raises RunDirectoryError, and UnreadableError if one of them cannot be read back.
    """
    sums = {path.name: digest(path) for path in run.summed_up}
    there = {name: found for name, found in sums.items() if found is not None}
    return run.write(run.summary, render(results, there))


def read_summary(run: RunDirectory, config: Config | None = None) -> dict[str, Any] | None:
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
    if config is not None and found["finished"]:
        require_its_files(run, found)
        if (found["seed"], found["experiment"]) != (config.training.seed, config.name):
            raise RunDirectoryError(f"{run.summary}: is that of another run")
    return found


def require_whole(run: RunDirectory, config: Config) -> None:
    """Raise RunDirectoryError, with what to do, if files of a finished run do not match.

    `config` is that of its model.
    """
    try:
        read_summary(run, config)
    except RunDirectoryError as error:
        raise RunDirectoryError(
            f"{error}: to use {run.model.name} anyway, name that file; to restore the run from a "
            f"checkpoint: dct train --resume {for_shell(run.path)}"
        ) from None


def require_its_files(run: RunDirectory, results: Mapping[str, Any]) -> None:
    """Raise RunDirectoryError if the files of a finished run do not match its summary."""
    for path in run.summed_up:
        found = digest(path)
        if found is None:
            raise RunDirectoryError(f"{path}: is missing")
        if found != results[FILES].get(path.name):
            what = f"is damaged, or of another run than {run.summary.name} describes"
            raise RunDirectoryError(f"{path}: {what}")


def render(summary: Mapping[str, Any], files: Mapping[str, str]) -> str:
    """Return the file's text: the summary, the SHA-256 of the run's `files`, and a seal over all.

    NumPy numbers and paths become JSON values; NaN and infinity become null.
    """
    data = {key: value for key, value in json_value(summary).items() if key not in (FILES, SEAL)}
    data[FILES] = dict(files)
    return json.dumps({**data, SEAL: _digest(data)}, indent=2, ensure_ascii=False) + "\n"


def parse(content: bytes) -> dict[str, Any]:
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
        _Summary.model_validate(data)
    except ValidationError as error:
        place = ".".join(map(str, error.errors(include_url=False)[0]["loc"]))
        raise ValueError(f'"{place}" is missing or has a wrong type') from None
    return data


def _digest(data: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
