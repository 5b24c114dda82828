"""Conversion of results to JSON values, under the names they have in the library."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any

from difflogic.system.errors import ConfigError, shorten


def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object, for `json.loads`. Raises ConfigError if a key occurs twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        key, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ConfigError(f'key "{shorten(key)}" occurs twice in an object')
    return found


def json_value(value: Any) -> Any:
    """Convert results, dataclasses, enums, NumPy arrays and numbers, tuples, dates and paths.

    NaN and infinity become None.
    """
    match value:
        case Mapping():
            return {str(key): json_value(item) for key, item in value.items()}
        case list() | tuple():
            return [json_value(item) for item in value]
        case _ if hasattr(value, "as_dict"):
            return json_value(value.as_dict())
        case _ if hasattr(value, "tolist"):  # NumPy's, without importing it
            return json_value(value.tolist())
        case float() if not math.isfinite(value):
            return None
        case Path():
            return str(value)
        case datetime():
            return value.isoformat()
        case Enum():
            return value.value
        case _ if is_dataclass(value):
            return fields_of(value)
        case _:
            return value


def fields_of(item: Any, *properties: str) -> dict[str, Any]:
    """Return the fields of a dataclass, and some `properties`, as JSON values by name."""
    return chosen(item, *(each.name for each in fields(item)), *properties)


def chosen(item: Any, *names: str) -> dict[str, Any]:
    """Return the attributes with these `names`, as JSON values by name."""
    return {name: json_value(getattr(item, name)) for name in names}
