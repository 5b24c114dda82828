"""How many starts a search looks at, which its memory follows from."""

from __future__ import annotations

from difflogic.engine.layout import Grid

MOST_SAMPLES = 64
"""Most starts of a search. Each makes every candidate slower."""

FIRST_STARTS = 8
"""Starts at the beginning of a search. Counterexamples join them."""

VERIFIED_STARTS = 1024
"""Further starts on which a circuit must have no wrong cell. A circuit that is wrong on one start
in 200 passes them once in 170 times."""

ROUND = 256
"""Fresh starts that are checked together for counterexamples."""

SEARCH_CELLS = 1024
"""Cells that a gradient is taken over, about: a few grids, or many small ones."""


def most_samples(grid: Grid) -> int:
    """Return the most samples that a gradient is taken over."""
    return max(1, SEARCH_CELLS // grid.cells)
