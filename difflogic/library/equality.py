"""Circuits that are proved equal to others, smaller ones above all."""

from __future__ import annotations

import time

from difflogic import simplification
from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.library.exchange import Progress, ProgressCallback, counter, ticks
from difflogic.proof import Proof, decide_equality
from difflogic.system.deadline import NEVER, Deadline

SIMPLIFYING, PROVING = "simplifying, steps done:", "outputs proved:"
"""Labels of progress."""

PROOF_SECONDS = 60.0
"""Default time limit of a proof."""

SEARCH_SHARE = 0.5
"""Share of a time limit that the search may use; the proof gets the rest."""


def smaller(
    automaton: Automaton, effort: str, time_limit: float | None, progress: ProgressCallback
) -> tuple[simplification.Simplification, Proof, float]:
    """Return a smaller circuit, whether it is equal, and the seconds that the search took.

    `time_limit` is as in `simplify`.
    """
    progress(Progress(SIMPLIFYING, 0))

    def deadline() -> Deadline:
        return NEVER if time_limit is None else Deadline.after(SEARCH_SHARE * time_limit)

    if not simplification.is_compiled():  # what compiles is not counted
        first = simplification.EFFORTS["low" if effort == "low" else "normal"]
        simplification.simplify(automaton, first, lambda: None, deadline())
    began = time.perf_counter()
    chosen = simplification.EFFORTS[effort]
    found = simplification.simplify(automaton, chosen, ticks(progress, SIMPLIFYING), deadline())
    seconds = time.perf_counter() - began
    left = None if time_limit is None else max(time_limit - seconds, 0.0)
    return found, proved(automaton, found.circuit, left, progress), seconds


def proved(
    automaton: Automaton, circuit: Circuit, seconds: float | None, progress: ProgressCallback
) -> Proof:
    """Compare a circuit with the automaton's, for at most `seconds`, by default PROOF_SECONDS."""
    count = counter(progress, PROVING, circuit.channels)
    seconds = PROOF_SECONDS if seconds is None else seconds
    return decide_equality(automaton.circuit, circuit, automaton.visible, seconds, count)
