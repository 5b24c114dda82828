"""Whether every start ends in the target, by theorem: docs/certificates.md says how."""

from difflogic.proof.convergence.deciding import by_sets, decide, decide_quickly
from difflogic.proof.convergence.findings import (
    Attempt,
    Bits,
    Counterexample,
    Finding,
    Method,
    Question,
    Verdict,
)
from difflogic.proof.convergence.healing import NEVER, run_from, steps_to_heal
from difflogic.proof.convergence.orbits import Orbit, orbit, resting_picture

__all__ = [
    "NEVER",
    "Attempt",
    "Bits",
    "Counterexample",
    "Finding",
    "Method",
    "Orbit",
    "Question",
    "Verdict",
    "by_sets",
    "decide",
    "decide_quickly",
    "orbit",
    "resting_picture",
    "run_from",
    "steps_to_heal",
]
