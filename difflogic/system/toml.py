"""Reads TOML from anybody: configurations, without what checks them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

MAX_TOML_BYTES = 2**20
"""Most bytes of a file. A configuration has 2 kB; a larger file is something else."""

MAX_KEY_PARTS = 8
"""Most parts of a dotted key or a section's name. A configuration needs two, and the parser's
memory grows with the square of their number."""

# Linear in the length of any text: possessive quantifiers never backtrack, and an unterminated
# string lasts to the end of its line or of the file.
_STRING_OR_COMMENT = re.compile(
    r'"""(?:\\.|[^\\"]|"(?!""))*+(?:"{3,5}|\\?\Z)'
    r"|'''(?:[^']|'(?!''))*+(?:'{3,5}|\Z)"
    r'|"(?:\\[^\n]|[^"\\\n])*+"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+",
    flags=re.DOTALL,
)
_DEEP_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{MAX_KEY_PARTS}}}")


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML from an untrusted source.

    Raises ValueError if it is invalid, nested too deeply, or has a key of more than
    `MAX_KEY_PARTS` parts.
    """

    def blank(found: re.Match[str]) -> str:
        return "s" + "\n" * found[0].count("\n")  # a string may be a part of a key

    bare = _STRING_OR_COMMENT.sub(blank, text)
    deep = _DEEP_KEY.search(bare)
    if deep is not None:
        line = bare.count("\n", 0, deep.start()) + 1
        raise ValueError(f"a key of more than {MAX_KEY_PARTS} parts (at line {line})")
    try:
        data = tomllib.loads(text)
        repr(data)  # a hexadecimal number may have more digits than Python prints
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return data


def flat(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a configuration's tables, by ``section.key``."""
    found: dict[str, Any] = {}
    for name, value in tables.items():
        if isinstance(value, dict):
            found |= {f"{name}.{key}": item for key, item in value.items()}
        else:
            found[name] = value
    return found
