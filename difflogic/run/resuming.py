"""Resuming a run: which settings may change, and from which checkpoint it continues."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from difflogic.config import Config, config_from_dict
from difflogic.config.loading import flat
from difflogic.config.sections import FREE
from difflogic.run.checkpoint import (
    Checkpoint,
    CheckpointError,
    State,
    checkpoints,
    made_with,
    read_checkpoint,
)
from difflogic.run.metrics import History
from difflogic.run.run_directory import RunDirectory
from difflogic.system.errors import ConfigError, RunDirectoryError
from difflogic.system.files import CONFIG, METRICS, START, for_shell

NOTES = {"run.task_sha256": " (the file with the task's code has changed)"}
"""Explains a changed setting whose name does not."""


def differing(stored: Config, given: Config) -> list[str]:
    """Return "section.key: old → new" for each changed setting that makes it another run.

    Settings that do not affect results may change, and so may the number of epochs.
    """
    return [
        f"{key}: {_show(old)} → {_show(new)}{NOTES.get(key, '')}"
        for key, (old, new) in changed(stored, given).items()
        if key != "training.epochs"
    ]


def changed(before: Config, now: Config) -> dict[str, tuple[Any, Any]]:
    """Return both values of each setting that differs and affects results, by "section.key"."""
    old, new = flat(before.effective()), flat(now.effective())
    pairs = {key: (old.get(key), new.get(key)) for key in {**old, **new}}
    return {key: (x, y) for key, (x, y) in pairs.items() if x != y}


def _show(value: Any) -> str:
    if value is None:
        return "not set"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"


def refuse_changes(path: Path, stored: Config, given: Config) -> None:
    """Raise RunDirectoryError if the run in `path`, as `stored`, cannot resume as `given`."""
    changes = differing(stored, given)
    if changes:
        raise RunDirectoryError(
            f"{path}: is a run with other settings, which cannot change when it resumes:\n  "
            + "\n  ".join(changes)
            + "\nKeep these settings, or start a new run"
        )
    old, new = stored.training.epochs, given.training.epochs
    if new < old:
        raise RunDirectoryError(
            f"{path}: is a run of {old} epochs, which is more than {new}: a run can be extended, "
            "but not shortened. Give more epochs, or leave --epochs out"
        )


def with_free_settings(stored: Config, given: Config) -> Config:
    """Return `stored` with the epochs of `given`, and its settings that affect no result."""
    changes: dict[str, Any] = {
        section: getattr(stored, section).model_copy(
            update={key: getattr(getattr(given, section), key) for key in keys}
        )
        for section, keys in FREE.items()
    }
    return extended(stored, given).model_copy(update=changes)


def extended(stored: Config, given: Config) -> Config:
    """Return `stored` with the epochs of `given`."""
    epochs = {"epochs": given.training.epochs}
    return stored.model_copy(update={"training": stored.training.model_copy(update=epochs)})


def without_foreign_results(config: Config, source: Config) -> Config:
    """Return `config`, derived from `source`, without [published] if it is another experiment."""
    parts = ("task", "automaton", "perception", "update")
    if all(getattr(config, part) == getattr(source, part) for part in parts):
        return config
    return config.model_copy(update={"published": type(config.published)()})


def find_resume_point(
    run: RunDirectory, config: Config, template: State, on_message: Callable[[str], None]
) -> tuple[Checkpoint, History] | None:
    """Return the latest usable checkpoint and the metrics up to it.

    `template` has the names, shapes and types of the trainer's state. Skips a checkpoint that is
    damaged, foreign, or not covered by metrics.csv, and tells `on_message`. Returns None if the
    run has neither checkpoints nor results. Raises RunDirectoryError if no checkpoint is usable,
    or if a newer program wrote one.
    """
    problems: list[str] = []
    for path in checkpoints(run.path):
        try:
            checkpoint, history = _read(path, run, config, template)
        except CheckpointError as error:
            problems.append(str(error))
            continue
        for problem in problems:
            on_message(f"warning: {problem}: went back to {path.name}")
        _note_other_origin(checkpoint, config.parallel.device, on_message)
        return checkpoint, history
    if not problems and not run.has_results:
        return None
    listed = "\n  ".join(problems or ["there is no checkpoint in it"])
    kept = config.run.start_sha256 is not None
    source = f" --from {for_shell(run.path / START)}" if kept else ""
    raise RunDirectoryError(
        f"{run.path}: cannot be resumed:\n  {listed}\nStart the run again with: "
        f"dct train {for_shell(run.path / CONFIG)}{source}"
    )


def _read(
    path: Path, run: RunDirectory, config: Config, template: State
) -> tuple[Checkpoint, History]:
    checkpoint = read_checkpoint(path, template)
    try:
        changes = differing(config_from_dict(checkpoint.config, str(path)), config)
    except ConfigError as error:
        raise CheckpointError(f"{path}: its configuration is damaged: {error}") from None
    if changes:
        raise CheckpointError(f"{path}: is of another run: {', '.join(changes)}")
    try:
        history = run.read_metrics(checkpoint.epoch)
    except RunDirectoryError as error:
        raise CheckpointError(f"{path}: cannot be used, since {error}") from None
    if checkpoint.history not in ("", history.digest):
        raise CheckpointError(
            f"{path}: cannot be used, since {run.path / METRICS} is of another run: put back this "
            "run's own"
        )
    return checkpoint, history


def _note_other_origin(
    checkpoint: Checkpoint, device: str, on_message: Callable[[str], None]
) -> None:
    """Report if other libraries or another device may round the last bits differently."""
    others = [
        f"{name} {checkpoint.made_with.get(name, 'unknown')} (now {value})"
        for name, value in made_with(device).items()
        if checkpoint.made_with.get(name) != value
    ]
    if others:
        on_message(
            f"note: until here this run was computed with {', '.join(others)}: it continues, "
            "but may not end in the same bits"
        )
