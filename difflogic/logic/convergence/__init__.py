"""Whether every start ends in the target, by theorem: docs/certificates.md says how."""

from difflogic.logic.convergence.deciding import by_sets, decide
from difflogic.logic.convergence.findings import (
    Attempt,
    Counterexample,
    Finding,
    Method,
    Question,
    Verdict,
)
from difflogic.logic.convergence.orbits import Orbit, orbit

__all__ = [
    "Attempt", "Counterexample", "Finding", "Method", "Orbit", "Question", "Verdict", "by_sets",
    "decide", "orbit",
]  # fmt: skip
