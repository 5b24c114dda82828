"""Patterns of the Game of Life's programs: their states, and where they lie.

Golly's run-length encoding (.rle) and plaintext (.cells). Source: the LifeWiki's pages on these
formats.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from difflogic.circuit.life_like import usual
from difflogic.pictures.text import rows_of
from difflogic.system.array_types import Bits
from difflogic.system.errors import ConfigError
from difflogic.system.files import text_of

MOST_PATTERN_CELLS = 2**26
FARTHEST = 10**9
"""Rows and columns from the middle of a universe."""
PATTERNS = (".rle", ".cells")

_HEAD = re.compile(r"x\s*=\s*(\d{1,9})\s*,\s*y\s*=\s*(\d{1,9})\b(?:\s*,\s*rule\s*=\s*(.*))?.*")


@dataclass(frozen=True)
class PatternFile:
    """A pattern, and what its file says about the universe that it is cut from."""

    cells: Bits
    """States, shape (rows, columns)."""
    corner: tuple[int, int] | None = None
    """Row and column of the first cell in the universe, if the file has Golly's #CXRLE line."""
    rule: str = ""
    """Without the size of the universe."""
    topology: str = ""
    """The universe's size, as in Golly: T64,32 is a torus 64 cells wide; empty if unbounded."""

    @property
    def cropped(self) -> bool:
        """Whether all four edges have live cells, as where Golly cuts a pattern out."""
        edges = (self.cells[0], self.cells[-1], self.cells[:, 0], self.cells[:, -1])
        return all(edge.any() for edge in edges)


def parse_pattern(content: bytes) -> PatternFile:
    """Read a pattern of up to 256 states. Raises ConfigError for any other file."""
    text = text_of(content)
    first = text.lstrip().partition("\n")[0].strip()
    if first.startswith("!") or (first and not first.strip(".O*")):
        return _plain(rows_of("\n".join(line for line in text.split("\n") if line[:1] != "!")))
    comments = [line for line in text.splitlines() if line.startswith("#")]
    lines = [line.strip() for line in text.splitlines() if not line.startswith("#")]
    head = _HEAD.fullmatch(lines[0] if lines else "")
    if head is None:
        raise ConfigError(
            'is not a run-length encoded pattern: "x = …, y = …" is missing; nor does it start '
            "like plaintext (! or . and O)"
        )
    columns = int(head[1])
    rows = int(head[2])
    cells = _zeros(rows, columns)
    y = x = 0
    body, _, _ = "".join(lines[1:]).partition("!")
    signs = re.findall(r"(\d{0,9})([p-y]?[A-X]|.)", body.replace(" ", ""))
    for count, sign in signs:
        run = int(count or 1)
        if sign == "$":
            y, x = y + run, 0
        elif sign in ("b", "o", ".") or (sign[-1].isupper() and _state(sign) < 256):
            if y >= rows or x + run > columns:
                reach = "is one too many" if y >= rows else f"has {x + run} cells or more"
                raise ConfigError(f"row {y + 1} {reach}: it declares {rows}×{columns} cells")
            cells[y, x : x + run] = _state(sign)
            x += run
        else:
            raise ConfigError(
                f'"{sign}" is not allowed in a pattern: use b, o, $ and !, or ., A to X and pA to '
                "yO for states"
            )
    corner = None
    for line in comments:
        if line.startswith("#CXRLE"):
            at = re.search(r"\bPos\s*=\s*([^\s,]*\s*,\s*\S*)", line)
            if at is None and "Pos" in line:
                raise ConfigError(f'"{line:.60}" names no place, such as #CXRLE Pos=0,1')
            corner = _place(at[1].replace(",", " ")) if at else (0, 0)
    rule, _, topology = (head[3] or "").strip().partition(":")
    return PatternFile(cells, corner, usual(rule), topology)


def _zeros(rows: int, columns: int) -> Bits:
    if not 0 < rows * columns <= MOST_PATTERN_CELLS:
        raise ConfigError(f"{rows}×{columns} cells: there must be from 1 to {MOST_PATTERN_CELLS}")
    return np.zeros((rows, columns), np.uint8)


def _plain(rows: list[str]) -> PatternFile:
    wrong = re.search(r"[^.O*]", "".join(rows))
    if wrong:
        raise ConfigError(
            f'"{wrong[0]}" is not allowed in a pattern: use . for 0, and O or * for 1'
        )
    cells = _zeros(len(rows), max(map(len, rows), default=0))
    for row, signs in zip(cells, rows, strict=True):
        row[: len(signs)] = [sign != "." for sign in signs]
    return PatternFile(cells)


def _place(text: str) -> tuple[int, int]:
    """Return the row and column of a text such as -1 2, the column first."""
    numbers = re.fullmatch(r"\s*([+-]?\d{1,99})\s+([+-]?\d{1,99})\s*", text)
    if numbers is None:
        raise ConfigError(f'"{text.strip():.40}" is no place: give column and row, such as -1 2')
    column, row = map(int, numbers.groups())
    if max(abs(column), abs(row)) > FARTHEST:
        raise ConfigError(
            f'"{text.strip():.40}" is too far away: columns and rows go from -{FARTHEST} to '
            f"{FARTHEST}"
        )
    return row, column


def _state(sign: str) -> int:
    """Return the state that a sign stands for: A is 1, X is 24, pA is 25, yO is 255."""
    if sign in ("b", "o", "."):
        return int(sign == "o")
    high = ord(sign[0]) - ord("p") + 1 if len(sign) == 2 else 0
    return 24 * high + ord(sign[-1]) - ord("A") + 1
