"""Questions about every start, asked of the prover."""

from difflogic.circuit.automaton import Automaton
from difflogic.proof.answer import Budget
from difflogic.proof.convergence.every_size import SIZES, EverySize, Plane, Target
from difflogic.proof.convergence.findings import Convergence, Finding
from difflogic.proof.prover import prove
from difflogic.system.deadline import NEVER, Deadline


def decide(question: Convergence, seconds: float = 60.0) -> Finding:
    """Return what all methods find on one grid."""
    return prove(question, Budget(Deadline.after(seconds))).evidence


def every_size(
    automaton: Automaton,
    target: Target,
    repeats: int | None,
    deadline: Deadline = NEVER,
    compared: bool = True,
) -> EverySize:
    """Return what small grids say about every grid."""
    plane = Plane(automaton, target, repeats, compared)
    return SIZES.decide(plane, Budget(deadline), None).evidence
