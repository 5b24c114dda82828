"""Is a signal ever 1? Decided by simulation, by all cases, or by a SAT solver; or not decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from heapq import heappop, heappush
from typing import Literal, ParamSpec

import numpy as np

from difflogic.circuit.cases import MOST_INPUTS, Words, first_case
from difflogic.circuit.evaluate import Bits, evaluate
from difflogic.circuit.xag import Kind, Xag
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import Deadline

Answer = Literal["yes", "no", "not decided"]

_RANDOM_WORDS = 48

Asked = ParamSpec("Asked")


@dataclass(frozen=True)
class Decision:
    """An answer, and how it was found."""

    answer: Answer
    method: str


def in_time(question: Callable[Asked, Decision]) -> Callable[Asked, Decision]:
    """Decorate a question: one that runs out of time is not decided."""

    @wraps(question)
    def answer(*asked: Asked.args, **named: Asked.kwargs) -> Decision:
        try:
            return question(*asked, **named)
        except TimeoutError:
            return Decision("not decided", "time limit")

    return answer


def decide_all_zero(xag: Xag, literals: Sequence[int], deadline: Deadline) -> Decision:
    """Decide whether all of the literals are 0 for all inputs. Raises TimeoutError.

    "no" is found by a case that was computed. "yes" is found by computing all cases, for literals
    of at most MOST_INPUTS inputs, or by a SAT solver.
    """
    asked = sorted(literal for literal in set(literals) if not _cancels(xag, literal))
    if not asked:
        return Decision("yes", "equal gates")

    def values(nodes: Sequence[int], given: Mapping[int, Words], bits: Bits) -> list[Words]:
        inputs = [given.get(node, bits.constant(0)) for node in range(1 + xag.inputs)]
        return evaluate(xag, inputs, bits, nodes, deadline.check)

    nodes = xag.cone(asked)
    random = dict(enumerate(_random_inputs(xag.inputs), 1))
    rows = values(nodes, random, Bits(np.full(_RANDOM_WORDS, ~np.uint64(0))))
    if any((~rows[x >> 1] if x & 1 else rows[x >> 1]).any() for x in asked):
        return Decision("no", "simulation")

    def is_ever_one(literal: int, cone: Sequence[int], inputs: Sequence[int]) -> bool:
        def look(given: list[Words], bits: Bits) -> Words:
            deadline.check()
            found = values(cone, dict(zip(inputs, given, strict=True)), bits)[literal >> 1]
            return bits.not_(found) if literal & 1 else found

        return first_case(len(inputs), len(cone), look) is not None

    methods, large = set(), []
    for literal in asked:
        cone = xag.cone([literal])
        inputs = [node for node in cone if node <= xag.inputs]
        if len(inputs) > MOST_INPUTS:
            large.append(literal)
        elif is_ever_one(literal, cone, inputs):
            return Decision("no", "all cases")
        else:
            methods.add("all cases")
    if large:
        decision = _by_solver(xag, nodes, large, deadline)
        if decision.answer != "yes":
            return decision
        methods.add(decision.method)
    return Decision("yes", " and ".join(sorted(methods)))


def _cancels(xag: Xag, literal: int) -> bool:
    """Return whether a literal is a XOR of terms that all occur twice: SAT is slow to see it."""
    odd = {literal >> 1}
    waiting = [-node for node in odd]  # the highest node first
    while waiting:
        node = -heappop(waiting)
        gate = node - xag.first_gate
        if node not in odd or gate < 0 or xag.kind[gate] is Kind.AND:
            continue
        odd.remove(node)
        for part in (xag.x[gate] >> 1, xag.y[gate] >> 1):  # which a XOR reads as they are
            odd ^= {part}
            heappush(waiting, -part)
    return odd <= {0} and not literal & 1


def _random_inputs(inputs: int) -> Words:
    """Return cases, a third each with few, half and most of the bits set; always the same."""
    rng = np.random.default_rng(0)
    shape = (3, inputs, _RANDOM_WORDS // 3)
    few, half, most = rng.integers(0, 2**64, shape, dtype=np.uint64)
    for _ in range(2):
        few &= rng.integers(0, 2**64, shape[1:], dtype=np.uint64)
        most |= rng.integers(0, 2**64, shape[1:], dtype=np.uint64)
    return np.concatenate([few, half, most], axis=1)


def _by_solver(
    xag: Xag, nodes: Sequence[int], asked: Sequence[int], deadline: Deadline
) -> Decision:
    """Decide by a SAT solver whether literals, none of them a constant, are 0 for all inputs."""
    with Formula() as formula:
        inputs = [formula.constant(0), *(formula.variable() for _ in range(xag.inputs))]
        literals = evaluate(xag, inputs, formula, nodes, deadline.check)
        for literal in asked:
            own = literals[literal >> 1]
            own = formula.not_(own) if literal & 1 else own
            found = formula.solve([own], deadline)
            if found is None:
                return Decision("not decided", "time limit")
            if found:
                return Decision("no", "SAT")
            formula.add([formula.not_(own)])  # helps with the next ones
    return Decision("yes", "SAT")
