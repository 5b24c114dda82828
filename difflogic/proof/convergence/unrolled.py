"""Steps laid out one after the other, as questions to a SAT solver about all starts.

Where every start is right after exactly m steps, every start is right at every later step too:
the state there is m steps after another state, which is a start as good as any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from difflogic.circuit.evaluate import evaluate
from difflogic.circuit.grid import OUTSIDE, neighbors
from difflogic.proof.convergence.findings import Question
from difflogic.proof.convergence.planes import Planes, unpack
from difflogic.proof.convergence.sets import Sets
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import Deadline

MOST_GATES = 2**19
"""Of the unrolled steps together: more take longer to build than a solver should be asked for."""


@dataclass(frozen=True)
class Answer:
    """Whether there is a start as asked for, and one if there is; None if time was up."""

    found: bool | None
    start: Planes | None = None


class Unrolled:
    """States of `question` that lie in `within`, and those after them, as literals of a formula.

    What `within` knows is put in at every step. If all states from some step on lie in it, then
    what no answer is found for holds of them. A start that is found may be none: run it to see.
    """

    def __init__(self, question: Question, within: Sets, formula: Formula) -> None:
        self._question, self._formula = question, formula
        self._circuit = question.circuit
        table = neighbors(question.height, question.width, question.boundary)
        self._table: list[list[int]] = table.T.tolist()
        known = [unpack(question.board, planes).reshape(-1) for planes in within]
        self._known = [
            formula.constant(low) if low == high else None
            for low, high in zip(*(k.tolist() for k in known), strict=True)
        ]
        first = [formula.variable() if value is None else value for value in self._known]
        self._states = [first]
        """Of each step, the literal of each bit: channel · cells + cell."""

    def advance(self, steps: int, deadline: Deadline) -> bool:
        """Lay out that many steps in all; tell whether that was possible."""
        formula, circuit = self._formula, self._circuit
        cells, outside = self._question.board.cells, formula.constant(0)
        while len(self._states) <= steps:
            state = self._states[-1]
            after = [outside] * len(state)
            for cell, seen in enumerate(self._table):
                if deadline.passed:
                    return False
                inputs = (
                    outside if place == OUTSIDE else state[channel * cells + place]
                    for place in seen
                    for channel in range(circuit.channels)
                )
                rows = evaluate(circuit, inputs, formula)
                for channel, row in enumerate(circuit.outputs.tolist()):
                    after[channel * cells + cell] = rows[row]
            for bit, value in enumerate(self._known):
                if value is not None:
                    after[bit] = value
            self._states.append(after)
            if formula.variables > MOST_GATES:
                return False
        return True

    def _wrong(self, step: int) -> int:
        """Return a literal that is 1 only if the target is missed at a step."""
        formula, cells = self._formula, self._question.board.cells
        literal = formula.variable()
        formula.add(
            [
                -literal,
                *(
                    -self._states[step][channel * cells + cell]
                    if bit
                    else self._states[step][channel * cells + cell]
                    for channel, target in zip(
                        self._question.shown, self._question.target, strict=True
                    )
                    for cell, bit in enumerate(target.ravel().tolist())
                ),
            ]
        )
        return literal

    def ask_late(self, step: int, deadline: Deadline) -> Answer:
        """Ask for a start that misses the target at a step."""
        return self._ask([self._wrong(step)], deadline)

    def ask_cycle(self, period: int, deadline: Deadline) -> Answer:
        """Ask for a state that misses the target and comes back after `period` steps."""
        pairs = zip(self._states[0], self._states[period], strict=True)
        same = [-self._formula.xor_(a, b) for a, b in pairs]
        return self._ask([self._wrong(0), *same], deadline)

    def _ask(self, literals: Sequence[int], deadline: Deadline) -> Answer:
        """Ask for a start for which all these literals are 1."""
        answer = self._formula.solve(literals, deadline)
        if not answer:
            return Answer(answer)
        true = self._formula.true_literals()
        bits = np.array([literal in true for literal in self._states[0]], np.uint8)
        question = self._question
        shape = (self._circuit.channels, question.height, question.width)
        return Answer(True, tuple(question.board.pack(bit) for bit in bits.reshape(shape)))
