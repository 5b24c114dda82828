"""What the models know about themselves: sections, keys, meaning and accepted values."""

from __future__ import annotations

from functools import cache
from typing import Any

from difflogic.config.models import Config, Section

TOP_LEVEL = ""
"""Stands for the keys above the first section."""


@cache
def sections() -> dict[str, type[Section]]:
    """Return the models of all sections, by name, in the order of the file."""
    models = {}
    for name, field in Config.model_fields.items():
        annotation = field.annotation
        if isinstance(annotation, type) and issubclass(annotation, Section):
            models[name] = annotation
    return models


@cache
def keys(section: str) -> tuple[str, ...]:
    """Return the names of a section's keys; those of the top level for ``TOP_LEVEL``."""
    if section == TOP_LEVEL:
        return tuple(name for name in Config.model_fields if name not in sections())
    return tuple(sections()[section].model_fields)


def meaning(section: str, key: str) -> str:
    """Return what a key means, with its unit."""
    return _schema(section)[key]["description"]


def accepted(section: str, key: str, item: bool = False) -> str:
    """Say which values a key accepts, or one item of its list: "an integer from 1 to 1024"."""
    schema = _schema(section)[key]
    return _phrase(schema["items"] if item and "items" in schema else schema)


def choices(section: str, key: str) -> list[str]:
    """Return the words that a key accepts; empty where it takes no fixed words."""
    schema = _schema(section)[key]
    options = schema.get("anyOf", [schema])
    words = [word for option in options for word in (option.get("const"), *option.get("enum", ()))]
    return [word for word in words if isinstance(word, str)]


@cache
def _schema(section: str) -> dict[str, Any]:
    model = Config if section == TOP_LEVEL else sections()[section]
    return model.model_json_schema()["properties"]


def _phrase(schema: dict[str, Any]) -> str:
    if "accepted" in schema:
        return schema["accepted"]
    if "anyOf" in schema:
        options = [option for option in schema["anyOf"] if option.get("type") != "null"]
        return " or ".join(_phrase(option) for option in options)
    if "const" in schema:
        return _literal(schema["const"])
    if "enum" in schema:
        return " or ".join(_literal(choice) for choice in schema["enum"])
    match schema["type"]:
        case "array":
            item = _phrase(schema["items"]).replace("an integer", "integers")
            return f"a list of {schema['minItems']} to {schema['maxItems']} {item}"
        case "boolean":
            return "true or false"
        case "integer":
            return "an integer" + _range(schema)
        case _:
            return "a number" + _range(schema)


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _range(schema: dict[str, Any]) -> str:
    low, above = schema.get("minimum"), schema.get("exclusiveMinimum")
    high, below = schema.get("maximum"), schema.get("exclusiveMaximum")
    if high is None and below is not None:
        high = below - 1  # only integers are bounded from above by an excluded number
    start = f" from {low:g}" if isinstance(low, float) else f" from {low}"
    if above is not None:
        start = f" above {above:g}"
    if high is None:
        return start
    end = f"{high:g}" if isinstance(high, float) else str(high)
    return f"{start}, at most {end}" if above is not None else f"{start} to {end}"
