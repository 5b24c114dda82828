"""All searches: the first that fits a stage's problem makes its circuits exact."""

from __future__ import annotations

from difflogic.config.problem import Problem
from difflogic.search.corrector import Corrector
from difflogic.search.finisher import AnyFinisher, Finisher, SearchContext
from difflogic.search.rewirer import Rewirer

SEARCHES: tuple[type[AnyFinisher], ...] = (Corrector, Rewirer, Finisher)


def search_of(problem: Problem) -> type[AnyFinisher]:
    """Return the search for a stage of a problem."""
    return next(each for each in SEARCHES if each.fits(problem))


def search_for(context: SearchContext) -> AnyFinisher:
    """Return what makes circuits exact for a stage."""
    return search_of(context.problem).of(context)
