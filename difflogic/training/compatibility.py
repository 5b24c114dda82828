"""Which settings of a run may change when it goes on, and which make it another run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from difflogic.config import Config
from difflogic.config.effects import FREE
from difflogic.engine.kernels.structures import LANES
from difflogic.system.errors import RunDirectoryError

NOTES = {"task.sha256": " (the file with the task's code has changed)"}
"""What a changed setting means, where its name does not say it."""


def differing(stored: Config, asked: Config) -> list[str]:
    """Return "section.key: old → new" for each setting that a run cannot change on its way.

    Neither what changes no result, nor the number of epochs, which may grow.
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
            f"{path}: holds a run with other settings, which it cannot change on its way:\n  "
            + "\n  ".join(changes)
            + "\nLeave them as they are, or begin a new run"
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
    """Return `config` with the cut that a run began with, where it leaves that open.

    Another machine might choose another, and the run's last bits would not be what they were to be.
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
    """Return `config`, made out of `source`, without [published] if it is another experiment."""
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
