"""Decides whether signals are ever 1, by simulation, by all cases, or by a SAT solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Literal

import numpy as np

from difflogic.circuit.cases import MOST_INPUTS, Words, first_case
from difflogic.circuit.evaluate import Bits, evaluate
from difflogic.circuit.xag import Kind, Xag
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import Deadline

Answer = Literal["yes", "no", "not decided"]

_RANDOM_WORDS = 48


@dataclass(frozen=True)
class Decision:
    """An answer, and how it was found."""

    answer: Answer
    method: str


def decide_all_zero(xag: Xag, literals: Sequence[int], deadline: Deadline) -> Decision:
    """Decide whether all literals are 0 for all inputs. Raises TimeoutError.

    "no" rests on a computed case. "yes" rests on all cases, for literals of at most MOST_INPUTS
    inputs, or on a SAT solver.
    """
    open_ = sorted(literal for literal in set(literals) if not _cancels(xag, literal))
    if not open_:
        return Decision("yes", "equal gates")

    def values(nodes: Sequence[int], given: Mapping[int, Words], bits: Bits) -> list[Words]:
        inputs = [given.get(node, bits.constant(0)) for node in range(1 + xag.inputs)]
        return evaluate(xag, inputs, bits, nodes, deadline.check)

    nodes = xag.cone(open_)
    random = dict(enumerate(_random_inputs(xag.inputs), 1))
    rows = values(nodes, random, Bits(np.full(_RANDOM_WORDS, ~np.uint64(0))))
    if any((~rows[x >> 1] if x & 1 else rows[x >> 1]).any() for x in open_):
        return Decision("no", "simulation")

    def is_ever_one(literal: int, cone: Sequence[int], inputs: Sequence[int]) -> bool:
        def compute(given: list[Words], bits: Bits) -> Words:
            deadline.check()
            found = values(cone, dict(zip(inputs, given, strict=True)), bits)[literal >> 1]
            return bits.not_(found) if literal & 1 else found

        return first_case(len(inputs), len(cone), compute) is not None

    methods, large = set(), []
    for literal in open_:
        cone = xag.cone([literal])
        inputs = [node for node in cone if node <= xag.inputs]
        if len(inputs) > MOST_INPUTS:
            large.append(literal)
        elif is_ever_one(literal, cone, inputs):
            return Decision("no", "all cases")
        else:
            methods.add("all cases")
    if large:
        if not _zero_by_solver(xag, nodes, large, deadline):
            return Decision("no", "SAT")
        methods.add("SAT")
    return Decision("yes", " and ".join(sorted(methods)))


def _cancels(xag: Xag, literal: int) -> bool:
    """Return whether a literal is a XOR whose terms all occur twice. SAT is slow to see this."""
    odd = {literal >> 1}
    waiting = [-node for node in odd]  # the highest node first
    while waiting:
        node = -heappop(waiting)
        gate = node - xag.first_gate
        if node not in odd or gate < 0 or xag.kind[gate] is Kind.AND:
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
                raise TimeoutError
            if found:
                return False
            formula.add([formula.not_(value)])  # helps with the remaining ones
    return True
