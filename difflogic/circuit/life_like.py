"""B/S notation, such as B3/S23: the numbers of living neighbours for birth and survival."""

from __future__ import annotations

import re
from collections.abc import Iterable

from difflogic.system.errors import ConfigError

CONWAY = "B3/S23"
"""The Game of Life."""
NAMED = {"LIFE": CONWAY, "HIGHLIFE": "B36/S23", "SEEDS": "B2/S"}

HOODS = {"V": "von-neumann", "H": "hexagonal"}
"""The neighbourhood that is counted, by a rule's last letter, as in Golly; without one moore."""

_WRITTEN = re.compile(r"(?:B([0-8]*)/?S([0-8]*)|S?([0-8]*)/B?([0-8]*))([VH]?)")


def counts_of(rule: str) -> tuple[list[int], list[int]]:
    """Return the numbers for birth, and those for survival."""
    born, stays = ([*map(int, part[1:].rstrip("VH"))] for part in rule.split("/"))
    return born, stays


def usual(rule: str) -> str:
    """Return a rule's name as B3/S23 or B2/S34H, whatever notation it is in, such as b3s23 or 23/3.

    Survivals come before births if no letters say so. Names are read that Golly knows. Other texts
    stay as they are. Raises ConfigError for a number that stands twice.
    """
    name = rule.strip().upper()
    found = _WRITTEN.fullmatch(NAMED.get(name, name))
    if found is None:
        return rule
    born = found[1] or found[4] or ""
    stays = found[2] or found[3] or ""
    if len({*born}) < len(born) or len({*stays}) < len(stays):
        raise ConfigError(f'the rule "{rule}" names a number twice')
    return notation(sorted({*born}), sorted({*stays})) + found[5]


def notation(born: Iterable[object], stays: Iterable[object]) -> str:
    """Return a rule's name; Hensel's letters may follow each number."""
    return f"B{''.join(map(str, born))}/S{''.join(map(str, stays))}"
