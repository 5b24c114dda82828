"""Which settings of a run may change when it resumes, and which make it another run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from difflogic.config import Config
from difflogic.config.sections import FREE
from difflogic.engine.kernels.structures import LANES
from difflogic.system.errors import RunDirectoryError

NOTES = {"run.task_sha256": " (the file with the task's code has changed)"}
"""Explains a changed setting whose name does not."""


def differing(stored: Config, asked: Config) -> list[str]:
    """Return "section.key: old → new" for each changed setting that a run cannot change.

    It can change what does not affect results, and the number of epochs.
    """
    old, new = _flat(stored), _flat(asked)
    free = {f"{section}.{key}" for section, keys in FREE.items() for key in keys}
    keys = [key for key in {**old, **new} if key not in free and key != "training.epochs"]
    return [
        f"{key}: {_show(old.get(key))} → {_show(new.get(key))}{NOTES.get(key, '')}"
        for key in keys
        if old.get(key) != new.get(key)
    ]


def refuse_changes(path: Path, stored: Config, asked: Config) -> None:
    """Raise RunDirectoryError if the run in `path`, as `stored`, cannot become what is `asked`."""
    changes = differing(stored, asked)
    if changes:
        raise RunDirectoryError(
            f"{path}: is a run with other settings, which cannot change when it resumes:\n  "
            + "\n  ".join(changes)
            + "\nKeep these settings, or start a new run"
        )
    old, new = stored.training.epochs, asked.training.epochs
    if new < old:
        raise RunDirectoryError(
            f"{path}: is a run of {old} epochs, and {new} are fewer: a run can be extended, but "
            "not shortened; ask for more epochs, or leave them as they are"
        )


def for_this_stretch(stored: Config, asked: Config) -> Config:
    """Return `stored` with the settings of `asked` that change no result, and its epochs."""
    changes: dict[str, Any] = {
        section: getattr(stored, section).model_copy(
            update={key: getattr(getattr(asked, section), key) for key in keys}
        )
        for section, keys in FREE.items()
    }
    return extended(stored, asked).model_copy(update=changes)


def as_begun(config: Config, summary: Mapping[str, Any] | None) -> Config:
    """Return `config` with the tile and chunk sizes that a run began with, where they are "auto".

    Another machine might choose others, and the last bits of the results would differ.
    """
    plan = (summary or {}).get("plan")
    if not isinstance(plan, dict):
        return config
    lanes, chunk = plan.get("lanes"), plan.get("chunk")
    found: dict[str, Any] = {}
    if config.parallel.lanes == "auto" and lanes in LANES:
        found["lanes"] = lanes
    if config.parallel.chunk == "auto" and type(chunk) is int and 1 <= chunk <= 65536:
        found["chunk"] = chunk
    return config.model_copy(update={"parallel": config.parallel.model_copy(update=found)})


def extended(stored: Config, asked: Config) -> Config:
    """Return `stored` with the epochs of `asked`."""
    epochs = {"epochs": asked.training.epochs}
    return stored.model_copy(update={"training": stored.training.model_copy(update=epochs)})


def without_foreign_results(config: Config, source: Config) -> Config:
    """Return `config`, derived from `source`, without [published] if it is another experiment."""
    parts = ("task", "automaton", "perception", "update")
    if all(getattr(config, part) == getattr(source, part) for part in parts):
        return config
    return config.model_copy(update={"published": type(config.published)()})


def _flat(config: Config) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for section, value in config.to_dict().items():
        if isinstance(value, dict):
            flat |= {f"{section}.{key}": item for key, item in value.items()}
        else:
            flat[section] = value
    return flat


def _show(value: Any) -> str:
    if value is None:
        return "not set"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"
