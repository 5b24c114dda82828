"""Whether every start ends in the target, by theorem: docs/certificates.md says how."""

from difflogic.logic.convergence.deciding import by_sets, decide, decide_quickly
from difflogic.logic.convergence.findings import (
    Attempt,
    Bits,
    Counterexample,
    Finding,
    Method,
    Question,
    Verdict,
)
from difflogic.logic.convergence.healing import NEVER, run_from, steps_to_heal
from difflogic.logic.convergence.orbits import Orbit, orbit, resting_picture

__all__ = [
    "NEVER", "Attempt", "Bits", "Counterexample", "Finding", "Method", "Orbit", "Question",
    "Verdict", "by_sets", "decide", "decide_quickly", "orbit", "resting_picture",
    "run_from", "steps_to_heal",
]  # fmt: skip
