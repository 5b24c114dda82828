"""Named ways to learn, which replace what a configuration says about learning.

A shipped configuration states the recipe that works best. The defaults of the learning levers are
the reference, the recipe of the DiffLogic CA notebook: `reference` goes back to them. `benchmark`
is what `dct bench` measures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from difflogic.config import schema
from difflogic.system.errors import ConfigError, did_you_mean

KEPT = ("seed", "epochs", "batch", "learning_rate", "precision")
"""Keys of [training] that belong to the experiment, not to the way it is learned."""

PUBLISHED = ("epochs", "batch", "learning_rate")
"""Keys of [training] that are as [published] has them, where it does."""

LEVER_KEYS: tuple[tuple[str, str], ...] = (("perception", "directions"), ("update", "carry"))
"""Learning levers outside [training]."""

LEVER_SECTIONS: tuple[str, ...] = ("pool", "finishing")
"""Sections that hold nothing but learning levers."""


def reference(data: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration with every lever at its default, and what is published.

    Where no epochs are published, what was one attempt of several is all.
    """
    changed = {key: value for key, value in data.items() if key not in LEVER_SECTIONS}
    attempt = _restarts(data.get("training"))
    levers = [("training", key) for key in schema.keys("training") if key not in KEPT]
    for section, key in (*levers, *LEVER_KEYS):
        if isinstance(changed.get(section), dict):
            changed[section] = {k: v for k, v in changed[section].items() if k != key}
    if attempt > 0 and isinstance(changed.get("training"), dict):
        changed["training"]["epochs"] = attempt
    return _as_published(changed, PUBLISHED)


def benchmark(data: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration with the published number of samples per step, where there is one.

    A step of the same work is measured whatever number learns best: figures stay comparable with
    those of before and with those of others.
    """
    return _as_published(data, ("batch",))


def _as_published(data: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """Return the tables with some keys of [training] as [published] has them, where it does."""
    published, training = data.get("published"), data.get("training")
    if not isinstance(training, dict) or not isinstance(published, dict):
        return data
    return data | {"training": training | {k: published[k] for k in keys if k in published}}


def _restarts(section: object) -> int:
    """Return the epochs that a section counts until learning starts over; 0 if it does not."""
    epochs = section.get("restart_every") if isinstance(section, dict) else 0
    return epochs if isinstance(epochs, int) and epochs > 0 else 0


BENCHMARK = "benchmark"

RECIPES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "reference": reference,
    BENCHMARK: benchmark,
}
"""Maps tables as read from a file to tables; the check comes after it."""


def apply_recipe(name: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return the tables of a configuration as a recipe wants them; `data` is not changed.

    Raises ConfigError if there is no such recipe.
    """
    if name not in RECIPES:
        raise ConfigError(f'no recipe "{name}": {did_you_mean(name, RECIPES)}')
    return RECIPES[name](data)
