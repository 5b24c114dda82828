"""Is a signal ever 1? Decided by simulation, by all cases, or by a SAT solver; or not decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from difflogic.circuit.cases import MOST_INPUTS, words, words_of
from difflogic.circuit.gates import Op
from difflogic.circuit.xag import Kind, Xag
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import GATES_AT_ONCE, NEVER, Deadline

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
        with Clauses(xag, nodes, deadline) as clauses:
            for literal in large:
                decision = clauses.decide(literal, deadline)
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


Rows = dict[int, npt.NDArray[np.uint64]]
"""The words of each node, every bit a case of its own."""


def _evaluate(
    xag: Xag, nodes: Sequence[int], inputs: npt.NDArray[np.uint64], deadline: Deadline
) -> Rows:
    """Return the words of `nodes`, a cone, for `inputs` (inputs, words)."""
    rows = {0: np.zeros(inputs.shape[1], np.uint64)}
    for count, node in enumerate(nodes):
        if not (count + 1) % GATES_AT_ONCE:
            deadline.check()
        if node <= xag.inputs:
            rows[node] = inputs[node - 1]
            continue
        gate = node - xag.first_gate
        x, y = _value(rows, xag.x[gate]), _value(rows, xag.y[gate])
        rows[node] = x & y if xag.kind[gate] is Kind.AND else x ^ y
    return rows


def _value(rows: Rows, literal: int) -> npt.NDArray[np.uint64]:
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


class Clauses:
    """Nodes of a Xag as a formula. Use it in a `with`, as the formula."""

    def __init__(self, xag: Xag, nodes: Sequence[int], deadline: Deadline = NEVER) -> None:
        """Raises TimeoutError if `deadline` passes before all nodes are there."""
        self._formula = Formula()
        self._literals: dict[int, int] = {}
        for count, node in enumerate(nodes):
            if not (count + 1) % GATES_AT_ONCE:
                deadline.check()
            self._literals[node] = self._add(xag, node)

    def __enter__(self) -> Clauses:
        self._formula.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._formula.__exit__(*raised)

    def _add(self, xag: Xag, node: int) -> int:
        gate = node - xag.first_gate
        if gate < 0:
            return self._formula.variable()
        x, y = self._of(xag.x[gate]), self._of(xag.y[gate])
        return self._formula.gate(Op.XOR if xag.kind[gate] is Kind.XOR else Op.AND, x, y)

    def _of(self, literal: int) -> int:
        """Return the formula's literal of one of the Xag, which is no constant."""
        found = self._literals[literal >> 1]
        return -found if literal & 1 else found

    def demand(self, *literals: int) -> None:
        """Demand that one of the literals is 1."""
        self._formula.add([self._of(literal) for literal in literals])

    def solve(self, deadline: Deadline, *literals: int) -> bool | None:
        """Return whether all that is demanded, and these literals, can be; None if time is up."""
        return self._formula.solve([self._of(literal) for literal in literals], deadline)

    def true_among(self, nodes: Sequence[int]) -> set[int]:
        """Return which nodes are 1 in the case that `solve` found."""
        true = self._formula.true_literals()
        return {node for node in nodes if self._literals[node] in true}

    def decide(self, literal: int, deadline: Deadline) -> Decision:
        """Decide whether a literal that is no constant is 0 for all inputs."""
        found = self.solve(deadline, literal)
        if found is None:
            return Decision("not decided", "time limit")
        if not found:
            self.demand(literal ^ 1)  # helps with the next ones
        return Decision("no" if found else "yes", "SAT")
