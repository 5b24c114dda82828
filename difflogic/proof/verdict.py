"""What every proof ends with."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """Whether a claim holds: that two circuits are equal, or that every start ends in a target."""

    proved = "proved"
    refuted = "refuted"
    open = "open"
    """Not decided in time."""
