"""Which settings change no bit of what is learned."""

from __future__ import annotations

from typing import Any

from difflogic.config.models import Config

FREE = {
    "parallel": (
        "workers",
        "strategy",
        "parallel_batch",
        "parallel_cells",
        "max_parallel_samples",
        "memory_budget",
        "pin",
    ),
    "checkpoint": ("every_seconds", "every_epochs"),
}
"""Settings that say how a result is computed, and change no bit of it."""


def effective(config: Config) -> dict[str, Any]:
    """Return the configuration as plain tables, without what changes no bit of a result."""
    data = config.to_dict()
    for section, keys in FREE.items():
        kept = {key: value for key, value in data[section].items() if key not in keys}
        data[section] = kept
        if not kept:
            del data[section]
    return data
