"""Comparisons of the fast paths with independent references."""

from __future__ import annotations

from difflogic.verification.checks import equivalence
from difflogic.verification.deviation import Deviation
from difflogic.verification.rank_checks import ranks_change_nothing

__all__ = ["Deviation", "equivalence", "ranks_change_nothing"]
