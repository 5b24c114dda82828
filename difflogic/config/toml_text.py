"""TOML from anybody: bounded before it is parsed."""

from __future__ import annotations

import re
import tomllib
from typing import Any

MAX_KEY_PARTS = 8
"""Parts of a dotted key or of a section's name. A configuration has two; the parser's memory grows
with the square of their number."""

# Linear in the length of any text: no quantifier gives back what it took, and a text without an end
# lasts to the end of its line or of the file.
_TEXT_OR_COMMENT = re.compile(
    r'"""(?:\\.|[^\\"]|"(?!""))*+(?:"{3,5}|\\?\Z)'
    r"|'''(?:[^']|'(?!''))*+(?:'{3,5}|\Z)"
    r'|"(?:\\[^\n]|[^"\\\n])*+"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+",
    flags=re.DOTALL,
)
_DEEP_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{MAX_KEY_PARTS}}}")


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML. Raises ValueError for anything else, with the line if it is known."""
    bare = _TEXT_OR_COMMENT.sub(_same_lines, text)
    deep = _DEEP_KEY.search(bare)
    if deep is not None:
        line = bare.count("\n", 0, deep.start()) + 1
        raise ValueError(f"a key of more than {MAX_KEY_PARTS} parts (at line {line})")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _same_lines(found: re.Match[str]) -> str:
    """Return what stands for a text: a part of a key, on as many lines."""
    return "s" + "\n" * found[0].count("\n")
