"""Values that JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np


def json_value(value: Any) -> Any:
    """Convert dataclasses, enums, NumPy arrays and numbers, tuples and paths.

    NaN and infinity become None.
    """
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
        case Enum():
            return value.value
        case _ if is_dataclass(value):
            return {each.name: json_value(getattr(value, each.name)) for each in fields(value)}
        case _:
            return value
