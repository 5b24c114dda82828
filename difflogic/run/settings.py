"""The settings of a run: those in its config.toml, and which of them may change when it resumes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from stat import S_IFLNK
from typing import Any

from difflogic.config import Config, load_config
from difflogic.config.sections import CHANGEABLE
from difflogic.run.run_directory import RunDirectory
from difflogic.system.errors import ConfigError, RunDirectoryError, shorten
from difflogic.system.files import kind_of
from difflogic.system.toml import flat
from difflogic.tasks.custom import code_of

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
    old = flat(before.effective())
    new = flat(now.effective())
    pairs = {key: (old.get(key), new.get(key)) for key in old | new}
    return {key: (x, y) for key, (x, y) in pairs.items() if x != y}


def _show(value: Any) -> str:
    return "not set" if value is None else shorten(repr(value))


def refuse_changes(path: Path, stored: Config, given: Config) -> None:
    """Raise RunDirectoryError if the run in `path`, as `stored`, cannot resume as `given`."""
    changes = differing(stored, given)
    if changes:
        raise RunDirectoryError(
            f"{path}: is a run with other settings, which cannot change when it resumes:\n  "
            + "\n  ".join(changes)
            + "\nKeep these settings, or start a new run"
        )
    old = stored.training.epochs
    new = given.training.epochs
    if new < old:
        raise RunDirectoryError(
            f"{path}: is a run of {old} epochs, which is more than {new}: a run can be extended, "
            f"but not shortened: ask for {old} epochs or more, or continue it with --resume alone"
        )


def with_free_settings(stored: Config, given: Config) -> Config:
    """Return `stored` with the epochs of `given`, and its settings that affect no result."""
    free = {section: getattr(given, section) for section in CHANGEABLE}
    return extended(stored, given).model_copy(update=free)


def extended(stored: Config, given: Config) -> Config:
    """Return `stored` with the epochs of `given`."""
    return stored.with_sections(training={"epochs": given.training.epochs})


def run_name(config: Config) -> str:
    """Return the part of a run directory's name that names the experiment and its seed."""
    return f"{config.name}-seed{config.training.seed}"


def write_config(run: RunDirectory, config: Config, plan: str = "") -> Path:
    """Write the resolved configuration and the time to config.toml; copy a task's own code.

    `plan` is a one-line comment with the meaning of "auto" on this machine.
    """
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}"
    resolved = f"# auto is here: {plan}\n" if plan else ""
    path = run.write(run.config, f"# written {now}Z by dct\n{resolved}{config.to_toml()}")
    code = code_of(config.task)
    if code is not None:
        code.keep(run.path)
    return path


def read_config(run: RunDirectory) -> Config | None:
    """Return the run's configuration, or None if it has none yet.

    Raises ConfigError if it is damaged, and UnreadableError.
    """
    found = kind_of(run.config, follow=False)
    if found == S_IFLNK:
        raise ConfigError(
            f"{run.config}: is a link, and links are not followed here: replace it with the file"
        )
    return load_config(run.config) if found else None
