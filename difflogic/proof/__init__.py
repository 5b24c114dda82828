"""Proofs that one circuit does the same as another. Nothing here knows how either was made."""

from difflogic.proof.equivalence import prove as prove
from difflogic.proof.findings import Counterexample as Counterexample
from difflogic.proof.findings import OutputProof as OutputProof
from difflogic.proof.findings import Proof as Proof
from difflogic.proof.findings import Verdict as Verdict
from difflogic.proof.findings import differences as differences
