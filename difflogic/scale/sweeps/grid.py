"""The axes of a sweep: ``section.key=value1,value2``, several of them multiplied."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from difflogic.system.errors import ConfigError

MAX_VARIANTS = 10_000
"""A guard against a slip of the keyboard."""

MAX_NAME = 100
"""Characters of a variant's directory; file systems allow 255 bytes."""

_BRACKETS = {"]": "[", "}": "{"}


@dataclass(frozen=True)
class Axis:
    """One key and the values that it is to take, each as text that an override accepts."""

    key: str
    values: tuple[str, ...]


def parse_axes(options: Sequence[str]) -> tuple[Axis, ...]:
    """Read the axes. Raises ConfigError for a malformed one, or a key that is given twice."""
    axes: list[Axis] = []
    for option in options:
        axis = _parse_axis(option)
        if axis.key in {other.key for other in axes}:
            raise ConfigError(
                f"--grid {option}: {axis.key} has an axis already: list all its values there"
            )
        axes.append(axis)
    variants = 1
    for axis in axes:
        variants *= len(axis.values)
    if variants > MAX_VARIANTS:
        raise ConfigError(f"--grid: {variants} combinations are too many: at most {MAX_VARIANTS}")
    return tuple(axes)


def combinations(axes: Sequence[Axis]) -> list[dict[str, str]]:
    """Return every combination of values, key → text; the last axis varies fastest.

    Without axes that is one empty combination.
    """
    keys = [axis.key for axis in axes]
    products = itertools.product(*(axis.values for axis in axes))
    return [dict(zip(keys, values, strict=True)) for values in products]


def variant_name(values: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    """Name a variant's directory after its values, as ``batch=2,weight_decay=0.0``.

    `values` are the values of the axes by key, `texts` the same as they were written: a picture
    has a short name there. What a file name should not hold is replaced, and then a digest of the
    values keeps different variants apart.
    """
    last_parts = [key.rpartition(".")[2] for key in values]
    parts = []
    for key, value in values.items():
        short = key.rpartition(".")[2]
        label = short if last_parts.count(short) == 1 else key
        parts.append(f"{label}={_value_name(value, texts[key])}")
    exact = ",".join(parts)
    name = re.sub(r"[^A-Za-z0-9._+=,-]+", "_", exact)[:MAX_NAME]
    if name != exact:
        name += "-" + hashlib.sha256(exact.encode()).hexdigest()[:8]
    return name


def _value_name(value: Any, text: str) -> str:
    match value:
        case bool():
            return str(value).lower()
        case list():
            return "-".join(_value_name(item, str(item)) for item in value)
        case str():
            return text.strip("\"'")
        case _:
            return str(value)


def _parse_axis(option: str) -> Axis:
    key, equals, text = option.partition("=")
    key = ".".join(part.strip() for part in key.split("."))
    if not equals or not key:
        raise ConfigError(
            f"--grid {option}: write it as section.key=value,value, such as "
            "training.weight_decay=0.0,0.01"
        )
    if key == "training.seed":
        raise ConfigError(f"--grid {option}: seeds are no axis: dct sweep has --seeds 0-15")
    values = tuple(part.strip() for part in _split(text))
    if "" in values:
        raise ConfigError(f"--grid {option}: a value is missing beside a comma or the equals sign")
    repeated = next((value for value in values if values.count(value) > 1), None)
    if repeated is not None:
        raise ConfigError(f"--grid {option}: {repeated} is there twice: list it once")
    return Axis(key, values)


def _split(text: str) -> list[str]:
    """Split at the commas that stand outside of brackets and quotes."""
    parts, start = [], 0
    open_brackets: list[str] = []
    quote = ""
    for position, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote and text[position - 1] != "\\" else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "[{":
            open_brackets.append(sign)
        elif open_brackets and _BRACKETS.get(sign) == open_brackets[-1]:
            open_brackets.pop()
        elif sign == "," and not open_brackets:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]
