"""A configuration as TOML in which every key carries its meaning, unit and range."""

from __future__ import annotations

import textwrap
from typing import Any

import tomli_w

from difflogic.config import schema
from difflogic.config.models import Config
from difflogic.config.schema import TOP_LEVEL

_COLUMNS = 96


def describe(config: Config) -> str:
    """Return `config` as TOML with a comment above every key; it loads back to the same."""
    data = config.to_dict()
    lines = []
    for key in schema.keys(TOP_LEVEL):
        lines += _entry(TOP_LEVEL, key, data[key])
    for section, model in schema.sections().items():
        lines += ["", *_comment(model.__doc__ or ""), f"[{section}]"]
        for key in schema.keys(section):
            if key in data[section]:
                lines += _entry(section, key, data[section][key])
    return "\n".join(lines) + "\n"


def _entry(section: str, key: str, value: Any) -> list[str]:
    text = f"{schema.meaning(section, key)} ({schema.accepted(section, key)})"
    return [*_comment(text), f"{key} = {_value(value)}"]


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text, _COLUMNS, break_on_hyphens=False)]


def _value(value: Any) -> str:
    """Return a value in TOML, a list on one line (tomli-w gives each item its own)."""
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    text = tomli_w.dumps({"value": value}, multiline_strings=True)
    return text.removeprefix("value = ").rstrip("\n")
