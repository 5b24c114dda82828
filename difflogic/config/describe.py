"""A configuration as TOML in which every key carries its meaning, unit and range."""

from __future__ import annotations

import textwrap
from typing import Any

import tomli_w

from difflogic.config import schema
from difflogic.config.models import Config
from difflogic.config.schema import TOP_LEVEL
from difflogic.tasks import own, task_class
from difflogic.tasks.sections import Section

_COLUMNS = 96


def describe(config: Config) -> str:
    """Return `config` as TOML with a comment above every key; it loads back to the same."""
    data = config.to_dict()
    lines = []
    for key in schema.keys(TOP_LEVEL):
        lines += _entry(TOP_LEVEL, key, data[key], Config)
    for section in schema.sections():
        models = _models(config, section)
        lines += ["", *_comment(models[0].__doc__ or ""), f"[{section}]"]
        for key, value in data[section].items():
            known = next((model for model in models if key in model.model_fields), None)
            lines += _entry(section, key, value, known)
    return "\n".join(lines) + "\n"


def _models(config: Config, section: str) -> list[type[Section]]:
    """Return what describes the keys of a section, the nearest first."""
    if section != schema.TASK:
        return [schema.sections()[section]]
    kind = type(config.task)
    return [task_class(config.task).Section, kind] if own.is_loaded(config.task) else [kind]


def _entry(section: str, key: str, value: Any, model: type[Section] | None) -> list[str]:
    """Return a key with its comment, but for keys of code that is not loaded."""
    shown = f"{key} = {_value(value)}"
    if model is None:
        return [shown]
    meaning = schema.meaning(section, key, model)
    return [*_comment(f"{meaning} ({schema.accepted(section, key, model=model)})"), shown]


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text, _COLUMNS, break_on_hyphens=False)]


def _value(value: Any) -> str:
    """Return a value in TOML, a list on one line (tomli-w gives each item its own)."""
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    text = tomli_w.dumps({"value": value}, multiline_strings=True)
    return text.removeprefix("value = ").rstrip("\n")
