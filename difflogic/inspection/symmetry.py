"""Decides properties of a rule: symmetries, totalistic notation, linearity and others.

Each becomes the question whether some signals are ever 1, which is decided by simulation or by a
SAT solver. Channels keep their identity: a symmetry that also swaps channels is not
found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from heapq import heappop, heappush
from typing import Literal

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import BitLogic, evaluate
from difflogic.circuit.grid import CENTER, NEIGHBORHOOD, turned
from difflogic.circuit.life_like import notation
from difflogic.circuit.xag import Xag, XagGate
from difflogic.proof.satisfiability import Formula
from difflogic.system.array_types import Bits, Words
from difflogic.system.deadline import Deadline
from difflogic.system.errors import OutOfTimeError

SQUARE_SYMMETRIES = {
    # The matrix maps a neighbour's offset (dy, dx).
    "rotation by 90°": (0, 1, -1, 0),
    "rotation by 180°": (-1, 0, 0, -1),
    "rotation by 270°": (0, -1, 1, 0),
    "reflection left to right": (1, 0, 0, -1),
    "reflection top to bottom": (-1, 0, 0, 1),
    "reflection in the diagonal": (0, 1, 1, 0),
    "reflection in the antidiagonal": (0, -1, -1, 0),
}
"""The square's symmetries (dihedral group D4) except the identity, as row-major matrices."""

_RANDOM_WORDS = 48

Certainty = Literal["yes", "no", "not decided"]

COMPLEMENT = "symmetric under inverting all bits"
LINEAR_RULE = "linear over GF(2)"
AFFINE = "affine over GF(2)"
QUIESCENT = "zeros stay zeros"


@dataclass(frozen=True)
class Decision:
    """An answer, and how it was found."""

    answer: Certainty
    method: str


@dataclass(frozen=True)
class Traits:
    """The properties of a rule."""

    symmetries: dict[str, Decision]
    properties: dict[str, Decision]
    """Linear: each next state is a XOR of inputs. Affine: or the inverse of one."""
    notation: str | None
    """Such as B3/S23, for one channel that depends only on the centre and the neighbours' sum."""
    totalistic: bool | None
    """Whether a rule with a notation depends only on the sum of all nine cells."""


def examine(circuit: Circuit, seconds: float) -> Traits:
    """Decide the properties of a circuit's rule exactly, in about `seconds`."""
    deadline = Deadline.after(seconds)

    def decide(literals: Callable[[], tuple[Xag, list[int]]]) -> Decision:
        try:
            return decide_all_zero(*literals(), deadline)
        except OutOfTimeError:
            return Decision("not decided", "time limit")

    symmetries = {
        name: decide(partial(_moved_differences, circuit, turned(matrix), 0, deadline))
        for name, matrix in SQUARE_SYMMETRIES.items()
    }
    zero = circuit.next_state(np.zeros((circuit.inputs, 1), np.bool_))[:, 0].tolist()
    quiescent = Decision("no" if any(zero) else "yes", "evaluation")
    affine = decide(partial(_affine_differences, circuit, zero, deadline))
    properties = {
        COMPLEMENT: decide(partial(_moved_differences, circuit, range(NEIGHBORHOOD), 1, deadline)),
        LINEAR_RULE: affine if quiescent.answer == "yes" else quiescent,
        AFFINE: affine,
        QUIESCENT: quiescent,
    }
    table = _life_table(circuit)
    return Traits(
        symmetries,
        properties,
        None if table is None else notation(*map(np.flatnonzero, table)),
        # A living centre adds one to the sum of all nine.
        None if table is None else bool((table[0, 1:] == table[1, :-1]).all()),
    )


def _moved_differences(
    circuit: Circuit, cells: Sequence[int], flip: int, deadline: Deadline
) -> tuple[Xag, list[int]]:
    """Return literals that are 0 if moving the nine cells, or inverting all bits, moves along."""
    xag = Xag(circuit.inputs)
    rows = [xag.input(row) for row in range(circuit.inputs)]
    moved = [row ^ flip for n in cells for row in rows[n * circuit.channels :][: circuit.channels]]
    outputs, others = (xag.next_state(circuit, each, deadline) for each in (rows, moved))
    return xag, [xag.xor_(x, y ^ flip) for x, y in zip(outputs, others, strict=True)]


def _affine_differences(
    circuit: Circuit, zero: Sequence[int], deadline: Deadline
) -> tuple[Xag, list[int]]:
    """Return literals of f(x) ⊕ f(y) ⊕ f(x ⊕ y) ⊕ f(0), which are 0 if and only if f is affine."""
    xag = Xag(2 * circuit.inputs)
    count = circuit.inputs
    some, others = ([xag.input(first + row) for row in range(count)] for first in (0, count))
    sums = list(map(xag.xor_, some, others))
    outputs = [xag.next_state(circuit, rows, deadline) for rows in (some, others, sums)]
    return xag, [reduce(xag.xor_, each) for each in zip(*outputs, map(int, zero), strict=True)]


def _life_table(circuit: Circuit) -> Bits | None:
    """Return the next state by centre and sum of the others, (2, 9); None if that is not enough."""
    if circuit.channels > 1:
        return None
    cases = np.arange(2**NEIGHBORHOOD)
    bits = (cases >> np.arange(NEIGHBORHOOD)[:, None] & 1).astype(bool)
    after = circuit.next_state(bits)[0]
    centre = bits[CENTER].astype(int)
    others = bits.sum(axis=0) - bits[CENTER]
    table = np.zeros((2, NEIGHBORHOOD), np.uint8)
    table[centre, others] = after
    return table if (table[centre, others] == after).all() else None


def decide_all_zero(xag: Xag, literals: Sequence[int], deadline: Deadline) -> Decision:
    """Decide whether all literals are 0 for all inputs. Raises OutOfTimeError.

    "no" rests on a computed case, "yes" on equal gates or on a SAT solver.
    """
    open_ = sorted(literal for literal in set(literals) if not _cancels(xag, literal))
    if not open_:
        return Decision("yes", "equal gates")
    nodes = xag.cone(open_)
    bits = BitLogic(np.full(_RANDOM_WORDS, ~np.uint64(0)))
    given = [bits.constant(0), *_random_inputs(xag.inputs)]
    rows = evaluate(xag, given, bits, nodes, deadline.check)
    if any((~rows[x >> 1] if x & 1 else rows[x >> 1]).any() for x in open_):
        return Decision("no", "simulation")
    return Decision("yes" if _zero_by_solver(xag, nodes, open_, deadline) else "no", "SAT")


def _cancels(xag: Xag, literal: int) -> bool:
    """Return whether a literal is a XOR whose terms all occur twice. SAT is slow to see this."""
    odd = {literal >> 1}
    waiting = [-node for node in odd]  # the highest node first
    while waiting:
        node = -heappop(waiting)
        gate = node - xag.first_gate
        if node not in odd or gate < 0 or xag.kind[gate] is XagGate.AND:
            continue
        odd.remove(node)
        for part in (xag.x[gate] >> 1, xag.y[gate] >> 1):  # a XOR's operands are not inverted
            odd ^= {part}
            heappush(waiting, -part)
    return odd <= {0} and not literal & 1


def _random_inputs(inputs: int) -> Words:
    """Return fixed random cases: a third each with few, half and most bits set."""
    rng = np.random.default_rng(0)
    shape = (3, inputs, _RANDOM_WORDS // 3)
    few, half, most = rng.integers(0, 2**64, shape, dtype=np.uint64)
    for _ in range(2):
        few &= rng.integers(0, 2**64, shape[1:], dtype=np.uint64)
        most |= rng.integers(0, 2**64, shape[1:], dtype=np.uint64)
    return np.concatenate([few, half, most], axis=1)


def _zero_by_solver(
    xag: Xag, nodes: Sequence[int], literals: Sequence[int], deadline: Deadline
) -> bool:
    with Formula() as formula:
        inputs = [formula.constant(0), *(formula.variable() for _ in range(xag.inputs))]
        values = evaluate(xag, inputs, formula, nodes, deadline.check)
        for literal in literals:
            value = values[literal >> 1]
            value = formula.not_(value) if literal & 1 else value
            found = formula.solve([value], deadline)
            if found is None:
                raise OutOfTimeError
            if found:
                return False
            formula.add([formula.not_(value)])  # helps with the remaining ones
    return True
