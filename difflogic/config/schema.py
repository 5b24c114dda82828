"""What the models know about themselves: sections, keys, meaning and accepted values."""

from __future__ import annotations

from functools import cache
from typing import Any

from difflogic.config.models import RUN, Config
from difflogic.config.sections import RunFacts
from difflogic.system.json_schema import literal, phrase
from difflogic.tasks import TASKS, CustomSection, TaskSection
from difflogic.tasks.section import Section

TOP_LEVEL = ""
"""Stands for the keys above the first section."""

TASK = "task"
"""The section whose keys depend on its kind."""


@cache
def sections() -> dict[str, type[Section]]:
    """Return the models of all sections of settings, by name, in the order of the file.

    [task] has the keys of every kind; `task_sections` has the others. [run] holds no settings.
    """
    models: dict[str, type[Section]] = {}
    for name, field in Config.model_fields.items():
        annotation = field.annotation
        if name == TASK:
            models[name] = TaskSection
        elif name != RUN and isinstance(annotation, type) and issubclass(annotation, Section):
            models[name] = annotation
    return models


@cache
def task_sections() -> dict[str, type[TaskSection]]:
    """Return the models of [task], by kind."""
    return {kind: task.Section for kind, task in TASKS.items()}


def _models(section: str) -> list[type[Section]]:
    """Return the models that a section may have."""
    match section:
        case "task":
            return [TaskSection, *task_sections().values(), CustomSection]
        case "run":
            return [RunFacts]
        case _:
            return [Config if section == TOP_LEVEL else sections()[section]]


@cache
def keys(section: str) -> tuple[str, ...]:
    """Return a section's keys; those of [task] of any kind. See `TOP_LEVEL`."""
    found = dict.fromkeys(key for model in _models(section) for key in model.model_fields)
    skipped = {*sections(), RUN} if section == TOP_LEVEL else ()
    return tuple(key for key in found if key not in skipped)


def removed(section: str) -> dict[str, Any]:
    """Return what files of earlier runs may have: keys, and the value of each; None for any."""
    return {key: value for model in _models(section) for key, value in model.gone.items()}


def kinds_with(key: str) -> list[str]:
    """Return the kinds of task that have `key`; empty if all have it."""
    if key in TaskSection.model_fields:
        return []
    return [kind for kind, model in task_sections().items() if key in model.model_fields]


def meaning(section: str, key: str, model: type[Section] | None = None) -> str:
    """Return what a key means, with its unit. `model` is the section's, if it has several."""
    return str(_schema(section, key, model).get("description", key))


def accepted(section: str, key: str, item: bool = False, model: type[Section] | None = None) -> str:
    """Describe the values that a key accepts, or an item of its list: "an integer from 1 to 9"."""
    if (section, key) == (TASK, "kind"):
        known = " or ".join(literal(kind) for kind in TASKS)
        return f'{known} or a class of your own, such as "my_task.py:MyTask"'
    schema = _schema(section, key, model)
    return phrase(schema["items"] if item and "items" in schema else schema)


def choices(section: str, key: str, model: type[Section] | None = None) -> list[str]:
    """Return the words that a key accepts, if it accepts only some."""
    if (section, key) == (TASK, "kind"):
        return list(TASKS)
    schema = _schema(section, key, model)
    options = schema.get("anyOf", [schema])
    words = [word for option in options for word in (option.get("const"), *option.get("enum", ()))]
    return [word for word in words if isinstance(word, str)]


def is_text(section: str, key: str = "") -> bool:
    """Whether a key of [task] accepts any text, such as a path."""
    if section != TASK or key not in keys(TASK):
        return False
    schema = _schema(section, key, None)
    return schema.get("type") == "string" and "enum" not in schema


def _schema(section: str, key: str, model: type[Section] | None) -> dict[str, Any]:
    if model is None:
        model = next(model for model in _models(section) if key in model.model_fields)
    schema: dict[str, Any] = _properties(model)[key]
    return schema


@cache
def _properties(model: type[Section]) -> dict[str, Any]:
    properties: dict[str, Any] = model.model_json_schema()["properties"]
    return properties
