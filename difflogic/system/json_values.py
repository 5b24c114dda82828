"""Values that JSON can hold, and results as such, by the names that they have in the library."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np


def json_value(value: Any) -> Any:
    """Convert NumPy arrays and numbers, tuples and paths; NaN and infinity become None."""
    match value:
        case Mapping():
            return {str(key): json_value(item) for key, item in value.items()}
        case list() | tuple():
            return [json_value(item) for item in value]
        case np.ndarray() | np.generic():
            return json_value(value.tolist())
        case float() if not math.isfinite(value):
            return None
        case Path():
            return str(value)
        case _:
            return value


def fields_of(item: Any, *properties: str) -> dict[str, Any]:
    """Return the fields of a dataclass, and some of its properties, by their names."""
    return chosen(item, *(each.name for each in fields(item)), *properties)


def chosen(item: Any, *names: str) -> dict[str, Any]:
    """Return some attributes by their names; dataclasses among them become their fields."""
    return {name: _plain(getattr(item, name)) for name in names}


def _plain(value: Any) -> Any:
    match value:
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case _ if hasattr(value, "as_dict"):
            return value.as_dict()
        case _:
            return fields_of(value) if is_dataclass(value) else value
