"""The gates that an output needs, and two of them compared by a SAT solver.

Where a direct answer takes long, inner signals of both that simulation cannot tell apart are
proved equal first, from the inputs to the outputs, each with a small budget; the solver then
needs only short arguments.

Source: SAT sweeping (Kuehlmann, Paruthi, Krohm and Ganai 2002, "Robust Boolean reasoning for
equivalence checking and functional property verification").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import Bits, Logic, Value, evaluate
from difflogic.proof.findings import Verdict
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import Deadline

DIRECT_CONFLICTS = 2000
"""Spent on a direct answer before inner signals are compared: a fraction of a second."""
INNER_CONFLICTS = 300
"""Spent on each pair of inner signals."""
WORDS = 64
"""Words of random cases that inner signals are told apart by."""
MOST_WORDS = 2**23
"""Of all signals together, 64 MiB: those of larger circuits get fewer."""


Place = tuple[int, int]
"""An input: its neighbour's number, and its channel's label."""


@dataclass(frozen=True, eq=False)
class Cone:
    """The part of a circuit that a channel's next state depends on by its wires."""

    circuit: Circuit
    output: int
    """Its row."""
    rows: list[int]
    """All that it depends on, ascending."""
    inputs: dict[Place, int]
    """The input rows that it reads."""

    @classmethod
    def of(cls, circuit: Circuit, label: int) -> Cone:
        """Return the cone of the channel with this label."""
        output = int(circuit.outputs[circuit.labels.index(label)])
        rows, inputs = circuit.cone(output), {}
        for row in rows:
            if row < circuit.inputs:
                neighbor, place = divmod(row, circuit.channels)
                inputs[neighbor, circuit.labels[place]] = row
        return cls(circuit, output, rows, inputs)

    def evaluate(
        self,
        given: Mapping[Place, Value],
        algebra: Logic[Value],
        pause: Callable[[], object] = lambda: None,
    ) -> list[Value]:
        """Return the values of the circuit's rows; only those in `rows` have a meaning."""
        values = [algebra.constant(0)] * self.circuit.inputs
        for place, row in self.inputs.items():
            values[row] = given[place]
        return evaluate(self.circuit, values, algebra, self.rows, pause)


class Miter:
    """Compares outputs of two circuits in one formula, which keeps what it has learned.

    Use it in a `with`. The solver is made when it is first needed.
    """

    def __init__(self, before: Circuit, after: Circuit) -> None:
        self.before, self.after = before, after
        self._formula: Formula | None = None
        self._inputs: dict[Place, int] = {}

    def __enter__(self) -> Miter:
        return self

    def __exit__(self, *raised: Any) -> None:
        if self._formula is not None:
            self._formula.__exit__(*raised)

    def compare(
        self, before: Cone, after: Cone, deadline: Deadline
    ) -> tuple[Verdict, dict[Place, bool] | None, int]:
        """Return the verdict, a case that tells the outputs apart if any, and the conflicts.

        Raises TimeoutError if `deadline` passes before there is a question for the solver.
        """
        formula = self._formula = self._formula or Formula()
        already = formula.conflicts
        rows = [self._literals(formula, cone, deadline) for cone in (before, after)]
        x, y = rows[0][before.output], rows[1][after.output]
        differ = formula.xor_(x, y)
        answer = formula.solve([differ], deadline, DIRECT_CONFLICTS)
        if answer is None:
            self._equate_inner(formula, before, after, rows, deadline)
            answer = formula.solve([differ], deadline)
        conflicts = formula.conflicts - already
        if answer is None:
            return Verdict.unknown, None, conflicts
        if not answer:
            formula.equate(x, y)
            return Verdict.equal, None, conflicts
        holding = formula.true_literals()
        places = sorted(before.inputs.keys() | after.inputs.keys())
        case = {place: self._inputs[place] in holding for place in places}
        return Verdict.different, case, conflicts

    def _literals(self, formula: Formula, cone: Cone, deadline: Deadline) -> list[int]:
        for place in cone.inputs:
            if place not in self._inputs:
                self._inputs[place] = formula.variable()
        return cone.evaluate(self._inputs, formula, deadline.check)

    def _equate_inner(
        self, formula: Formula, before: Cone, after: Cone, rows: list[list[int]], deadline: Deadline
    ) -> None:
        places = sorted(before.inputs.keys() | after.inputs.keys())
        # Any random cases do: they only suggest what is then proved.
        count = max(1, min(WORDS, MOST_WORDS // (len(before.rows) + len(after.rows))))
        random = np.random.default_rng(0).integers(
            0, 2**64, (len(places), count), np.uint64, endpoint=False
        )
        given, bits = dict(zip(places, random, strict=True)), Bits(np.full(count, ~np.uint64(0)))
        known: dict[bytes, int] = {}
        for cone, literals in zip((before, after), rows, strict=True):
            values = cone.evaluate(given, bits, deadline.check)
            for row in cone.rows:
                words = values[row]
                # A signal and its inverse share the name of the one whose first bit is 0.
                inverted = int(words[0]) & 1
                name = (~words if inverted else words).tobytes()
                literal = -literals[row] if inverted else literals[row]
                if name not in known:
                    known[name] = literal
                elif known[name] != literal:
                    deadline.check()
                    differ = formula.xor_(known[name], literal)
                    if formula.solve([differ], deadline, INNER_CONFLICTS) is False:
                        formula.equate(known[name], literal)
