"""Compares outputs of two circuits with a SAT solver.

If a direct answer takes long, inner signals that simulation cannot tell apart are proved equal
first, from the inputs to the outputs, each with a small budget. The rest is then easy to prove.

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
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import Deadline

DIRECT_CONFLICTS = 2000
"""Budget of the direct answer, a fraction of a second."""
INNER_CONFLICTS = 300
"""Budget of each pair of inner signals."""
WORDS = 64
"""Words of random cases per inner signal."""
MOST_WORDS = 2**23
"""Words of all signals together, 64 MiB: in larger circuits each signal gets fewer."""

Place = tuple[int, int]
"""An input: the neighbour's number and the channel's label."""


@dataclass(frozen=True, eq=False)
class Cone:
    """The part of a circuit that one channel's next state reads."""

    circuit: Circuit
    output: int
    """Row of the next state."""
    rows: list[int]
    """Rows that it depends on, ascending."""
    inputs: dict[Place, int]
    """The input rows among them."""

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
        """Return the value of each row of the circuit; only those of `rows` are meaningful."""
        values = [algebra.constant(0)] * self.circuit.inputs
        for place, row in self.inputs.items():
            values[row] = given[place]
        return evaluate(self.circuit, values, algebra, self.rows, pause)


class Miter:
    """Compares outputs of two circuits in one formula, which remembers what it learned.

    Use it in a `with`. The solver is created when it is first needed.
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
    ) -> tuple[bool | None, dict[Place, bool] | None, int]:
        """Return whether the outputs are equal, a case where they differ, and the conflicts.

        Equality is None if time runs out in the solver. Raises TimeoutError if it runs out before.
        """
        formula = self._formula = self._formula or Formula()
        earlier = formula.conflicts
        rows = [self._literals(formula, cone, deadline) for cone in (before, after)]
        x, y = rows[0][before.output], rows[1][after.output]
        differ = formula.xor_(x, y)
        answer = formula.solve([differ], deadline, DIRECT_CONFLICTS)
        if answer is None:
            self._equate_inner(formula, before, after, rows, deadline)
            answer = formula.solve([differ], deadline)
        conflicts = formula.conflicts - earlier
        if answer is None:
            return None, None, conflicts
        if not answer:
            formula.equate(x, y)
            return True, None, conflicts
        holding = formula.true_literals()
        places = sorted(before.inputs.keys() | after.inputs.keys())
        case = {place: self._inputs[place] in holding for place in places}
        return False, case, conflicts

    def _literals(self, formula: Formula, cone: Cone, deadline: Deadline) -> list[int]:
        for place in cone.inputs:
            if place not in self._inputs:
                self._inputs[place] = formula.variable()
        return cone.evaluate(self._inputs, formula, deadline.check)

    def _equate_inner(
        self, formula: Formula, before: Cone, after: Cone, rows: list[list[int]], deadline: Deadline
    ) -> None:
        places = sorted(before.inputs.keys() | after.inputs.keys())
        # Any random cases will do: they only suggest pairs, which are then proved.
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
                # A signal and its inverse share a key: the one whose first bit is 0.
                inverted = int(words[0]) & 1
                key = (~words if inverted else words).tobytes()
                literal = -literals[row] if inverted else literals[row]
                if key not in known:
                    known[key] = literal
                elif known[key] != literal:
                    deadline.check()
                    differ = formula.xor_(known[key], literal)
                    if formula.solve([differ], deadline, INNER_CONFLICTS) is False:
                        formula.equate(known[key], literal)
