"""Proofs that one circuit does the same as another. Nothing here knows how either was made."""

from difflogic.logic.proof.equivalence import Limits as Limits
from difflogic.logic.proof.equivalence import prove as prove
from difflogic.logic.proof.findings import Counterexample as Counterexample
from difflogic.logic.proof.findings import OutputProof as OutputProof
from difflogic.logic.proof.findings import Proof as Proof
from difflogic.logic.proof.findings import Verdict as Verdict
from difflogic.logic.proof.findings import differences as differences
