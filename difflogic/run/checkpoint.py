"""Checkpoints: files from which a run resumes exactly, named by epoch and checked.

A checkpoint is an npz file with the arrays of the trainer's state, nothing executable, and a header
in JSON: format, version, configuration, and a checksum over all of it. It alone says where a run
stands: see `find_resume_point`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from difflogic.config import Config, config_from_dict
from difflogic.run.metrics import History, read_metrics
from difflogic.run.run_directory import RunDirectory, epoch_of
from difflogic.run.settings import differing
from difflogic.system import machine
from difflogic.system.archive import NpzReader, write_npz
from difflogic.system.array_types import Array
from difflogic.system.errors import ConfigError, ModelFileError, RunDirectoryError
from difflogic.system.files import for_shell, kind_of, write_whole
from difflogic.system.rounding import rounding
from difflogic.system.work import say

FORMAT = "dct-checkpoint"
VERSION = 1
"""Increases when earlier versions of the program can no longer read the file."""

CHECKPOINTS_KEPT = 2
"""One to resume from, and another in case the first is damaged."""

MAX_HEADER_BYTES = 2**22
"""A configuration may hold a picture of 1 MB."""

_PREFIX = "state_"
_OVERHEAD_BYTES = 2**20

State = Mapping[str, Array]


class CheckpointError(RunDirectoryError):
    """A checkpoint is damaged or of another run; an earlier one may be usable."""


class Checkpoint(BaseModel):
    """A point from which a run can continue."""

    model_config = ConfigDict(strict=True)

    epoch: int
    """Number of finished epochs."""
    resumed: int
    """Number of times the run had been resumed."""
    config: dict[str, Any]
    """The configuration, as plain tables."""
    state: dict[str, Any]
    """As `Trainer.state` returned it."""
    seconds: dict[str, float]
    """As `PhaseTimer.account` returned it."""
    history: str = ""
    """The digest of the metrics up to the epoch."""
    made_with: dict[str, str] = Field(default_factory=lambda: made_with())
    """Versions of the libraries, and how the device rounds."""


def write_checkpoint(run: RunDirectory, checkpoint: Checkpoint) -> Path:
    """Write ``checkpoint-<epoch>.npz``, then remove all but CHECKPOINTS_KEPT up to that epoch.

    Raises RunDirectoryError if it cannot be written; earlier ones are then unchanged.
    """
    state = checkpoint.state
    header = {"format": FORMAT, "version": VERSION, **dict(checkpoint), "state": list(state)}
    header["sha256"] = _digest(header, state)
    arrays = {"header": np.frombuffer(json.dumps(header).encode(), np.uint8)}
    arrays |= {_PREFIX + name: array for name, array in state.items()}
    path = run.checkpoint(checkpoint.epoch)
    write_whole(path, lambda file: write_npz(file, arrays))
    _prune(run, checkpoint.epoch)
    return path


def read_checkpoint(path: Path, template: State) -> Checkpoint:
    """Read a checkpoint whose state has the names, shapes and types of `template`.

    Raises CheckpointError if the file is damaged, foreign or of another circuit, and another
    RunDirectoryError if a later version of this program wrote it.
    """
    largest = sum(array.nbytes for array in template.values())
    largest += MAX_HEADER_BYTES + _OVERHEAD_BYTES
    try:
        with NpzReader(path, largest, "checkpoint", follow=False) as reader:
            header = _read_header(reader)
            if header.get("state") != list(template):
                raise reader.error("holds the state of a different trainer")
            state = {
                name: reader.array(_PREFIX + name, array.shape, (array.dtype,))
                for name, array in template.items()
            }
    except ModelFileError as error:
        raise CheckpointError(str(error)) from None
    expected = header.pop("sha256", None)
    if expected != _digest(header, state):
        raise CheckpointError(f"{path}: is damaged: its checksum is wrong")
    try:
        found = Checkpoint.model_validate({**header, "state": state})
    except ValidationError:
        raise CheckpointError(f"{path}: is not a checkpoint of dct") from None
    if path != RunDirectory(path.parent).checkpoint(found.epoch):
        raise CheckpointError(f"{path}: holds epoch {found.epoch}: it was renamed")
    return found


def made_with(device: str = "cpu") -> dict[str, str]:
    """Return what a result's last bits may depend on besides the configuration."""
    versions = machine.versions()
    kept = {name: versions[name] for name in ("dct", "numpy", "numba")}
    return {**kept, "rounding": rounding(device)}


def _read_header(reader: NpzReader) -> dict[str, Any]:
    header = reader.header(FORMAT, MAX_HEADER_BYTES, "is not a checkpoint of dct")
    version = header.get("version")
    if type(version) is int and version > VERSION:
        # It is not damaged: no earlier one is tried.
        raise RunDirectoryError(
            f"{reader.error('is')} of format version {version}, and this program reads up to "
            f"{VERSION}: install a newer dct"
        )
    return header


def _digest(header: Mapping[str, Any], state: State) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name, array in state.items():
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.asarray(array, order="C").tobytes())
    return digest.hexdigest()


def _prune(run: RunDirectory, epoch: int) -> None:
    """Remove all but CHECKPOINTS_KEPT up to `epoch`; the run went back behind any later ones."""
    valid = [path for path in run.checkpoints if epoch_of(path) <= epoch]
    for path in run.checkpoints:
        if path not in valid[:CHECKPOINTS_KEPT]:
            with suppress(OSError):  # a leftover only takes up space
                path.unlink()


def find_resume_point(
    run: RunDirectory, config: Config, template: State
) -> tuple[Checkpoint, History] | None:
    """Return the latest usable checkpoint and the metrics up to it.

    `template` has the names, shapes and types of the trainer's state. Skips a checkpoint that is
    damaged or foreign, and says so. The checkpoint alone tells where the run stands: of damaged
    metrics, the rows before the damage are kept. Returns None if the run has neither checkpoints
    nor results. Raises RunDirectoryError if no checkpoint is usable, if a newer program wrote one,
    or for the metrics of another run; UnreadableError for what cannot be read.
    """
    problems: list[str] = []
    for path in run.checkpoints:
        try:
            checkpoint = _read(path, config, template)
        except CheckpointError as error:
            problems.append(str(error))
            continue
        for problem in problems:
            say(f"warning: {problem}: went back to {path.name}")
        _note_other_origin(checkpoint, config.parallel.device)
        return checkpoint, _covered(run, checkpoint)
    if not (problems or kind_of(run.model) or kind_of(run.summary)):  # written after an epoch
        return None
    listed = "\n  ".join(problems or ["there is no checkpoint in it"])
    kept = config.run.start_sha256 is not None
    source = f" --from {for_shell(run.start)}" if kept else ""
    raise RunDirectoryError(
        f"{run.path}: cannot be resumed:\n  {listed}\nStart the run again with: "
        f"dct train {for_shell(run.config)}{source}"
    )


def _read(path: Path, config: Config, template: State) -> Checkpoint:
    checkpoint = read_checkpoint(path, template)
    try:
        changes = differing(config_from_dict(checkpoint.config, str(path)), config)
    except ConfigError as error:
        raise CheckpointError(f"{path}: its configuration is damaged: {error}") from None
    if changes:
        raise CheckpointError(f"{path}: is of another run: {', '.join(changes)}")
    return checkpoint


def _covered(run: RunDirectory, checkpoint: Checkpoint) -> History:
    """Return the metrics up to a checkpoint, as far as they are good."""
    history, problem = read_metrics(run, checkpoint.epoch)
    if problem is not None:
        say(f"warning: {problem}: the run goes on without the rows that are lost")
    elif checkpoint.history != history.digest:
        raise RunDirectoryError(
            f"{run.metrics}: is of another run: put back this run's own, or remove it"
        )
    return history


def _note_other_origin(checkpoint: Checkpoint, device: str) -> None:
    """Report if other libraries or another device may round the last bits differently."""
    others = [
        f"{name} {checkpoint.made_with.get(name, 'unknown')} (now {value})"
        for name, value in made_with(device).items()
        if checkpoint.made_with.get(name) != value
    ]
    if others:
        say(
            f"note: until here this run was computed with {', '.join(others)}: it continues, "
            "but may not end in the same bits"
        )
