"""B/S notation, such as B3/S23: the numbers of living neighbours for birth and survival."""

from __future__ import annotations

from collections.abc import Iterable

CONWAY = "B3/S23"
"""The Game of Life."""


def counts_of(rule: str) -> tuple[list[int], list[int]]:
    """Return the numbers for birth, and those for survival."""
    born, stays = ([int(digit) for digit in part[1:]] for part in rule.split("/"))
    return born, stays


def notation(born: Iterable[object], stays: Iterable[object]) -> str:
    """Return a rule's name; Hensel's letters may follow each number."""
    return f"B{''.join(map(str, born))}/S{''.join(map(str, stays))}"
