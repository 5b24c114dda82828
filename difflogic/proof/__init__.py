"""Proofs about circuits and automata, however they were made. This one: two circuits are equal."""

from difflogic.proof.equivalence import Difference as Difference
from difflogic.proof.equivalence import OutputProof as OutputProof
from difflogic.proof.equivalence import Proof as Proof
from difflogic.proof.equivalence import decide_equality as decide_equality
from difflogic.proof.verdict import Verdict as Verdict
