"""One walk for all searches: changes are proposed, tried, and accepted or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from difflogic.system.work import may_cancel

Proposal = TypeVar("Proposal")


@dataclass(frozen=True)
class SearchProgress:
    """How far a search has come."""

    candidates: int
    """Number of circuits tried."""
    budget: int
    """Largest number of circuits to try."""
    wrong: int
    """Wrong cells of the current circuit, on the starts of the search."""


OnProgress = Callable[[SearchProgress], None]


def walk(
    propose: Callable[[int], Proposal | None], accept: Callable[[Proposal], int], budget: int
) -> int:
    """Try proposals until they cost the budget; return what they cost, in circuits tried.

    `propose` gets what is left of the budget, and ends the walk with None. `accept` tries a
    proposal, goes to the circuits that it accepts, and returns the cost.
    """
    spent = 0
    while spent < budget and (proposal := propose(budget - spent)) is not None:
        may_cancel()
        spent += accept(proposal)
    return spent
