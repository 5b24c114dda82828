"""Questions about circuits for a SAT solver (Glucose, through python-sat), with limits.

Source: Tseitin's encoding. Each AND or XOR becomes a variable with three or four clauses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from difflogic.circuit.evaluate import Logic
from difflogic.circuit.gates import Op
from difflogic.system.deadline import NEVER, Deadline

SLICE = 2000
PROPAGATIONS = 1_000_000
"""The solver returns after this many conflicts or propagations, two seconds at most, to look at
Ctrl-C and the clock. Counting these instead of seconds keeps its answers reproducible."""


class Formula(Logic[int]):
    """Clauses over literals, and an algebra: evaluating a circuit adds its gates as clauses.

    Use it in a `with`: Python does not manage the solver's memory. A literal is a variable's
    number, negative if inverted. `true` is a literal that always holds.
    """

    def __init__(self) -> None:
        from pysat.solvers import Glucose4

        self._solver = Glucose4()
        self.variables = 0
        self._gates: dict[tuple[int, int, int], int] = {}
        self.true = self.variable()
        self.add([self.true])

    def __enter__(self) -> Formula:
        return self

    def __exit__(self, *raised: Any) -> None:
        self._solver.delete()

    def variable(self) -> int:
        """Return a new variable."""
        self.variables += 1
        return self.variables

    def add(self, clause: Iterable[int]) -> None:
        """Add a clause: one of the literals must hold."""
        self._solver.add_clause(list(clause))

    def equate(self, x: int, y: int) -> None:
        """Require two literals to be equal."""
        self.add([x, -y])
        self.add([-x, y])

    def constant(self, bit: int) -> int:
        return self.true if bit else -self.true

    def not_(self, x: int) -> int:
        return -x

    def and_(self, x: int, y: int) -> int:
        """Return the literal of x ∧ y, reusing an equal gate."""
        if x > y:
            x, y = y, x
        if -self.true in (x, y) or x == -y:
            return -self.true
        if x in (self.true, y):
            return y
        if y == self.true:
            return x
        literal = self._gates.get((Op.AND, x, y))
        if literal is None:
            literal = self._gates[Op.AND, x, y] = self.variable()
            self.add([-literal, x])
            self.add([-literal, y])
            self.add([literal, -x, -y])
        return literal

    def xor_(self, x: int, y: int) -> int:
        """Return the literal of x ⊕ y, reusing an equal or inverse gate."""
        sign = 1 if (x < 0) == (y < 0) else -1
        x, y = sorted((abs(x), abs(y)))
        if x == y:
            return -sign * self.true
        if x == self.true:  # the first variable
            return -sign * y
        literal = self._gates.get((Op.XOR, x, y))
        if literal is None:
            literal = self._gates[Op.XOR, x, y] = self.variable()
            for p, q in ((x, y), (-x, -y)):
                self.add([-literal, p, q])
                self.add([literal, p, -q])
        return sign * literal

    def prefer(self, literals: Iterable[int]) -> None:
        """Let the search first try to make these literals true."""
        self._solver.set_phases([x for x in literals if abs(x) != self.true])

    @property
    def conflicts(self) -> int:
        """Number of the solver's conflicts so far."""
        return int(self._solver.accum_stats()["conflicts"])

    def solve(
        self, assumptions: Sequence[int], deadline: Deadline = NEVER, most: int | None = None
    ) -> bool | None:
        """Return whether all clauses and `assumptions` can hold together.

        None if `deadline` passes, or after `most` conflicts.
        """
        # No duplicates: with more assumptions than variables, Glucose writes beyond its arrays.
        assumed = [*dict.fromkeys(literal for literal in assumptions if literal != self.true)]
        if -self.true in assumed:
            return False
        until = None if most is None else self.conflicts + most
        while True:
            if deadline.passed:
                return None
            self._solver.conf_budget(SLICE if most is None else min(SLICE, most))
            self._solver.prop_budget(PROPAGATIONS)
            answer = self._solver.solve_limited(assumed, expect_interrupt=True)
            if answer is not None:
                return bool(answer)
            if until is not None and self.conflicts >= until:
                return None

    def core(self) -> list[int]:
        """Return some of the assumptions that `solve` found impossible together."""
        return self._solver.get_core() or []

    def true_literals(self) -> set[int]:
        """Return the literals that hold in the assignment found by `solve`."""
        return set(self._solver.get_model())
