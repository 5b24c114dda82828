"""What a JSON Schema accepts, in the words of messages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

HexColor = Annotated[
    str,
    Field(pattern=r"^#[0-9a-f]{6}$", json_schema_extra={"accepted": "a colour such as #d63031"}),
]


def phrase(schema: Mapping[str, Any]) -> str:
    """Describe the values that a JSON Schema accepts: "an integer from 1 to 9".

    What it says under "accepted" is taken as it is.
    """
    if "accepted" in schema:
        return str(schema["accepted"])
    if "anyOf" in schema:
        options = [option for option in schema["anyOf"] if option.get("type") != "null"]
        return " or ".join(phrase(option) for option in options)
    if "const" in schema:
        return literal(schema["const"])
    if "enum" in schema:
        return " or ".join(literal(choice) for choice in schema["enum"])
    match schema.get("type"):
        case "array" if "prefixItems" in schema:
            return f"a list of {schema['maxItems']} numbers"
        case "array" if "maxItems" in schema:
            items = re.sub(r"^an? (\w+)", r"\1s", phrase(schema["items"]))
            least = f"{schema['minItems']} to" if "minItems" in schema else "at most"
            return f"a list of {least} {schema['maxItems']} {items}"
        case "boolean":
            return "true or false"
        case "integer":
            return "an integer" + _range(schema)
        case "number":
            return "a number" + _range(schema)
        case "string" if {"minLength", "maxLength"} <= schema.keys():
            return f"a text of {schema['minLength']} to {schema['maxLength']} characters"
        case "string":
            return "a text"
        case "array":
            return "a list"
        case _:
            return "a value"


def literal(value: object) -> str:
    """Return a value as messages show it."""
    return f'"{value}"' if isinstance(value, str) else str(value)


def _range(schema: Mapping[str, Any]) -> str:
    low = schema.get("minimum")
    above = schema.get("exclusiveMinimum")
    high = schema.get("maximum")
    below = schema.get("exclusiveMaximum")
    if high is None and below is not None and schema["type"] == "integer":
        high = below - 1
    start = f" from {low:g}" if isinstance(low, float) else f" from {low}"
    if above is not None:
        start = f" above {above:g}"
    if high is None:
        return start if below is None else f"{start}, below {below:g}"
    end = f"{high:g}" if isinstance(high, float) else str(high)
    return f"{start}, at most {end}" if above is not None else f"{start} to {end}"
