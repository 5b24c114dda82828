"""Comparisons of the fast paths with independent references."""

from __future__ import annotations

from difflogic.scale.verification.checks import equivalence
from difflogic.scale.verification.findings import Deviation
from difflogic.scale.verification.ranks import ranks_change_nothing

__all__ = ["Deviation", "equivalence", "ranks_change_nothing"]
