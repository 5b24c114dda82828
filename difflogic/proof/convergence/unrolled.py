"""Steps laid out one after the other, as questions to a SAT solver about all starts.

Where every start is right after exactly m steps, every start is right at every later step too:
the state there is m steps after another state, which is a start as good as any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from difflogic.circuit.grid import OUTSIDE, neighbors
from difflogic.circuit.xag import FALSE, TRUE, Xag
from difflogic.proof.convergence.findings import Question
from difflogic.proof.convergence.planes import Planes, unpack
from difflogic.proof.convergence.sets import Sets
from difflogic.proof.decision import Clauses
from difflogic.system.deadline import Deadline

MOST_GATES = 2**19
"""Of the unrolled steps together: more take longer to build than a solver should be asked for."""


@dataclass(frozen=True)
class Answer:
    """Whether there is a start as asked for, and one if there is; None if time was up."""

    found: bool | None
    start: Planes | None = None


class Unrolled:
    """States of `question` that lie in `within`, and those after them, as literals.

    What `within` knows is put in at every step. If all states from some step on lie in it, then
    what no answer is found for holds of them. A start that is found may be none: run it to see.
    """

    def __init__(self, question: Question, within: Sets) -> None:
        self._question, self._within = question, within
        self._circuit = question.circuit
        table = neighbors(question.height, question.width, question.boundary)
        self._table: list[list[int]] = table.T.tolist()
        known = [unpack(question.board, planes).reshape(-1) for planes in within]
        self._known: list[int | None] = [
            low if low == high else None
            for low, high in zip(*(k.tolist() for k in known), strict=True)
        ]
        self._free = [bit for bit, value in enumerate(self._known) if value is None]
        self._xag = Xag(len(self._free))
        first = [FALSE if value is None else value for value in self._known]
        for number, bit in enumerate(self._free):
            first[bit] = self._xag.input(number)
        self._states = [first]
        """Of each step, the literal of each bit: channel · cells + cell."""

    def advance(self, steps: int, deadline: Deadline) -> bool:
        """Lay out that many steps in all; tell whether that was possible."""
        cells, channels = self._question.board.cells, self._circuit.channels
        while len(self._states) <= steps:
            state = self._states[-1]
            after = [FALSE] * len(state)
            for cell, seen in enumerate(self._table):
                if deadline.passed:
                    return False
                inputs = [
                    FALSE if place == OUTSIDE else state[channel * cells + place]
                    for place in seen
                    for channel in range(channels)
                ]
                outputs = self._xag.next_state(self._circuit, inputs)
                for channel, literal in enumerate(outputs):
                    after[channel * cells + cell] = literal
            for bit, value in enumerate(self._known):
                if value is not None:
                    after[bit] = value
            self._states.append(after)
            if self._xag.nodes > MOST_GATES:
                return False
        return True

    def wrong(self, step: int) -> list[int]:
        """Return literals one of which is 1 if and only if the target is missed at a step."""
        cells, found = self._question.board.cells, set()
        for channel, target in zip(self._question.shown, self._question.target, strict=True):
            for cell, bit in enumerate(target.ravel().tolist()):
                found.add(self._states[step][channel * cells + cell] ^ bit)
        return sorted(found - {FALSE})

    def ask_late(self, step: int, deadline: Deadline) -> Answer:
        """Ask for a start that misses the target at a step."""
        return self._ask([self.wrong(step)], deadline)

    def ask_cycle(self, period: int, deadline: Deadline) -> Answer:
        """Ask for a state that misses the target and comes back after `period` steps."""
        pairs = zip(self._states[0], self._states[period], strict=True)
        same = [[self._xag.xor_(a, b) ^ 1] for a, b in pairs]
        return self._ask([self.wrong(0), *same], deadline)

    def _ask(self, clauses: Sequence[Sequence[int]], deadline: Deadline) -> Answer:
        """Ask for a start for which every clause has a literal that is 1."""
        open_clauses = [clause for clause in clauses if TRUE not in clause]
        stripped = [[literal for literal in c if literal != FALSE] for c in open_clauses]
        if not all(stripped):
            return Answer(False)
        literals = sorted({literal for clause in stripped for literal in clause})
        inputs = [1 + number for number in range(len(self._free))]
        nodes = sorted({*self._xag.cone(literals), *inputs})
        with Clauses(self._xag, nodes) as formula:
            for clause in stripped:
                formula.demand(*clause)
            answer = formula.solve(deadline)
            if not answer:
                return Answer(answer)
            return Answer(True, self._start(formula.true_among(inputs)))

    def _start(self, true: set[int]) -> Planes:
        bits = np.array([value or 0 for value in self._known], np.uint8)
        bits[[self._free[node - 1] for node in true]] = 1
        question = self._question
        shape = (self._circuit.channels, question.height, question.width)
        return tuple(question.board.pack(channel) for channel in bits.reshape(shape))
