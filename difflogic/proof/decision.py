"""Is a signal ever 1? Decided by simulation, by all cases, or by a SAT solver; or not decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Literal

import numpy as np
import numpy.typing as npt

from difflogic.circuit.cases import MOST_INPUTS, words, words_of
from difflogic.circuit.evaluate import Bits, evaluate
from difflogic.circuit.xag import Kind, Xag
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import Deadline

Answer = Literal["yes", "no", "not decided"]

_BLOCK = 1024  # words of 64 cases that are computed at once…
_MOST_WORDS = 2**22  # …and words of all nodes together: 32 MiB
_RANDOM_WORDS = 48


@dataclass(frozen=True)
class Decision:
    """An answer, and how it was found."""

    answer: Answer
    method: str

    def __bool__(self) -> bool:
        raise TypeError("three answers are possible: compare the answer")


def in_time(question: Callable[[], Decision]) -> Decision:
    """Return the answer to a question, which is not decided if it is out of time."""
    try:
        return question()
    except TimeoutError:
        return Decision("not decided", "time limit")


def never(xag: Xag, literals: Sequence[int], deadline: Deadline) -> Decision:
    """Decide whether all of the literals are 0 for all inputs.

    "no" is found by a case that was computed. "yes" is found by computing all cases, for literals
    of at most MOST_INPUTS inputs, or by a SAT solver.
    """
    return in_time(lambda: _never(xag, literals, deadline))


def _never(xag: Xag, literals: Sequence[int], deadline: Deadline) -> Decision:
    asked = sorted(literal for literal in set(literals) if not _cancels(xag, literal))
    if not asked:
        return Decision("yes", "equal gates")
    nodes = xag.cone(asked)
    rows = _evaluate(xag, nodes, _random_inputs(xag), deadline)
    if any(_value(rows, literal).any() for literal in asked):
        return Decision("no", "simulation")
    methods, large = set(), []
    for literal in asked:
        own = xag.cone([literal])
        inputs = [node for node in own if node <= xag.inputs]
        if len(inputs) > MOST_INPUTS:
            large.append(literal)
            continue
        decision = _try_all(xag, own, inputs, literal, deadline)
        if decision.answer != "yes":
            return decision
        methods.add(decision.method)
    if large:
        decision = by_solver(xag, nodes, large, deadline)
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


def _random_inputs(xag: Xag) -> npt.NDArray[np.uint64]:
    """Return cases, a third each with few, half and most of the bits set; always the same."""
    rng = np.random.default_rng(0)
    shape = (3, xag.inputs, _RANDOM_WORDS // 3)
    few, half, most = rng.integers(0, 2**64, shape, dtype=np.uint64)
    for _ in range(2):
        few &= rng.integers(0, 2**64, shape[1:], dtype=np.uint64)
        most |= rng.integers(0, 2**64, shape[1:], dtype=np.uint64)
    return np.concatenate([few, half, most], axis=1)


Words = npt.NDArray[np.uint64]


def _evaluate(xag: Xag, nodes: Sequence[int], inputs: Words, deadline: Deadline) -> list[Words]:
    """Return the words of all nodes; only those of the cone `nodes` have a meaning.

    `inputs` has the shape (inputs, words); every bit is a case of its own.
    """
    zeros = np.zeros(inputs.shape[1], np.uint64)
    return evaluate(xag, [zeros, *inputs], Bits(~zeros), nodes, deadline.check)


def _value(rows: Sequence[Words], literal: int) -> Words:
    return ~rows[literal >> 1] if literal & 1 else rows[literal >> 1]


def _try_all(
    xag: Xag, nodes: Sequence[int], inputs: Sequence[int], literal: int, deadline: Deadline
) -> Decision:
    total = words_of(len(inputs))
    block = max(1, min(_BLOCK, _MOST_WORDS // len(nodes)))
    for first in range(0, total, block):
        deadline.check()
        values = np.zeros((xag.inputs, min(block, total - first)), np.uint64)
        for number, node in enumerate(inputs):
            values[node - 1] = words(number, first, values.shape[1])
        if _value(_evaluate(xag, nodes, values, deadline), literal).any():
            return Decision("no", "all cases")
    return Decision("yes", "all cases")


def by_solver(xag: Xag, nodes: Sequence[int], asked: Sequence[int], deadline: Deadline) -> Decision:
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
