"""Recipes: named ways to learn, which replace what a configuration says about learning.

A shipped configuration has the settings that work best. The recipe `reference` goes back to those
of the DiffLogic CA notebook, which are the defaults of most learning levers; `benchmark` is what
`dct bench` measures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from difflogic.config import schema
from difflogic.system.errors import ConfigError, did_you_mean

KEYS_KEPT = ("seed", "epochs", "batch", "learning_rate", "precision")
"""Keys of [training] that belong to the experiment and are no levers."""

PUBLISHED = ("epochs", "batch", "learning_rate")
"""Keys of [training] that take their value from [published], if it has them."""

LEVER_KEYS: tuple[tuple[str, str], ...] = (("perception", "directions"), ("update", "carry"))
"""Levers outside [training]."""

WOUNDS = ("task", "wounds")
"""The lever of checkerboards alone."""

LEVER_SECTIONS: tuple[str, ...] = ("pool", "finishing")
"""Sections with nothing but levers."""

MOMENTUM = 0.9
"""The notebook's beta1. The default is what every shipped configuration uses: no momentum."""


def reference(data: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration with every lever as in the notebook, and the published values.

    Without published epochs, training takes the epochs of one attempt.
    """
    changed = {key: value for key, value in data.items() if key not in LEVER_SECTIONS}
    levers = [("training", key) for key in schema.keys("training") if key not in KEYS_KEPT]
    for section, key in (*levers, *LEVER_KEYS, WOUNDS):
        if isinstance(changed.get(section), dict):
            changed[section] = {k: v for k, v in changed[section].items() if k != key}
    training = data.get("training")
    if isinstance(training, dict):
        changed["training"]["beta1"] = MOMENTUM
        attempt = training.get("restart_every")
        if isinstance(attempt, int) and attempt > 0:
            changed["training"]["epochs"] = attempt
    return _as_published(changed, PUBLISHED)


def benchmark(data: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration with the published number of samples per step, if there is one.

    It is measured whatever number learns best, so that figures stay comparable.
    """
    return _as_published(data, ("batch",))


def _as_published(data: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    published = data.get("published")
    training = data.get("training")
    if not isinstance(training, dict) or not isinstance(published, dict):
        return data
    return data | {"training": training | {k: published[k] for k in keys if k in published}}


BENCHMARK = "benchmark"

RECIPES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "reference": reference,
    BENCHMARK: benchmark,
}
"""Each takes the tables of a file, not yet checked."""


def apply_recipe(name: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return changed tables of a configuration; `data` itself stays the same.

    Raises ConfigError if there is no such recipe.
    """
    if name not in RECIPES:
        raise ConfigError(f'no recipe "{name}": {did_you_mean(name, RECIPES)}')
    return RECIPES[name](data)
