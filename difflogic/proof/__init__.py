"""Proofs about circuits and automata, however they were made. This one: two circuits are equal."""

from difflogic.proof.equivalence import Counterexample as Counterexample
from difflogic.proof.equivalence import OutputProof as OutputProof
from difflogic.proof.equivalence import Proof as Proof
from difflogic.proof.equivalence import Verdict as Verdict
from difflogic.proof.equivalence import prove as prove
