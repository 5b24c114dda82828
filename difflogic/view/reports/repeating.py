"""The command that trains a run again."""

from __future__ import annotations

import json
import shlex
from typing import Any

from difflogic.config import Config, load_config, shipped_configs
from difflogic.system.errors import ConfigError
from difflogic.training.run_directory import START

MOST_CHANGES = 12
"""Of values on a command line; with more of them a file is easier to read."""

_FREE = ("parallel", "checkpoint", "published")
"""Sections that change no result."""


def command(config: Config) -> tuple[str, str]:
    """Return the command that trains with this configuration, and what has to be said with it."""
    if config.training.start_from is not None:
        return (
            f"dct train {config.name}.toml --from {START}",
            f"with the configuration below saved under that name, and {START} out of the run's "
            "directory",
        )
    changes = _changes(config)
    if changes is None or len(changes) > MOST_CHANGES:
        return (
            f"dct train {config.name}.toml",
            "with the configuration below saved under that name",
        )
    parts = ["dct", "train", config.name, "--seed", str(config.training.seed)]
    for change in changes:
        parts += ["--set", change]
    return shlex.join(parts), ""


def _changes(config: Config) -> list[str] | None:
    """Return what differs from the shipped configuration of this name; None if none is near."""
    if config.name not in shipped_configs():
        return None
    try:
        shipped = load_config(config.name, [f"training.seed={config.training.seed}"])
    except ConfigError:
        return None
    ours, theirs = _flat(config), _flat(shipped)
    if ours.keys() != theirs.keys():
        return None
    differing = [key for key in ours if ours[key] != theirs[key]]
    if "task.target" in differing:
        return None
    return [f"{key}={json.dumps(ours[key])}" for key in differing]


def _flat(config: Config) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for section, values in config.to_dict().items():
        if isinstance(values, dict) and section not in _FREE:
            found.update({f"{section}.{key}": value for key, value in values.items()})
    return found
