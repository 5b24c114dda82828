"""Proves that every start ends in the target: docs/certificates.md explains how."""

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
from difflogic.proof.convergence.orbits import (
    NEVER,
    UNKNOWN,
    Orbit,
    orbit,
    resting_picture,
    run_from,
    steps_to_heal,
)

__all__ = [
    "NEVER",
    "UNKNOWN",
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
