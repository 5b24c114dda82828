"""How long the search for a small circuit goes on, in moves: the result is the same every time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """The bounds of the stages that search."""

    passes: int
    """Times that the windows are swept, unless a pass finds nothing."""
    window_leaves: tuple[int, ...]
    """Leaves of the windows that are annealed, one pass each."""
    window_moves: int
    """Moves of annealing per gate of the window."""
    whole_inputs: int
    """Inputs up to which the whole circuit is one window, and is also rebuilt."""
    whole_moves: int
    """Moves of annealing from each circuit that the search begins with; then twice as many from
    the better half of what was found, and so on."""
    last_runs: int
    """Times that the best circuit is annealed in the end, as long as the longest before."""


EFFORTS = {
    "low": Effort(2, (), 0, 0, 0, 0),
    "normal": Effort(8, (8, 10), 20, 10, 20_000, 4),
    "high": Effort(8, (8, 10, 12, 10, 12), 300, 12, 300_000, 12),
}
"""By the names that users give."""
