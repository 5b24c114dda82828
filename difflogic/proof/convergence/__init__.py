"""Proofs that every start ends in the target: docs/certificates.md explains how."""

from difflogic.proof.convergence.deciding import by_sets, right_from
from difflogic.proof.convergence.findings import Bits, Finding, Question, Verdict
from difflogic.proof.convergence.orbits import resting_picture

__all__ = ["Bits", "Finding", "Question", "Verdict", "by_sets", "resting_picture", "right_from"]
