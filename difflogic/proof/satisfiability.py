"""Questions about circuits, put to a SAT solver within bounds.

Source: Tseitin's encoding; each gate becomes a variable and a clause per corner of its op's truth
table, and one for each input's bit that decides alone. The solver is Glucose, through python-sat.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from difflogic.circuit.circuit import LogicCircuit
from difflogic.circuit.gates import READS, Op
from difflogic.system.deadline import GATES_AT_ONCE, NEVER, Deadline

SLICE, PROPAGATIONS = 2000, 1_000_000
"""Conflicts or propagations after which the solver comes back: two seconds at most, so that Ctrl-C
and the clock are seen. Counting these, not seconds, keeps its answers reproducible."""


def _decided(op: int, corners: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """Return (bit, op's value) for each bit of an input that decides the value alone."""
    values = [{op >> (3 - corner) & 1 for corner in pair} for pair in corners]
    return [(bit, value.pop()) for bit, value in enumerate(values) if len(value) == 1]


_BY_X = [_decided(op, ((0, 1), (2, 3))) for op in range(len(Op))]
_BY_Y = [_decided(op, ((0, 2), (1, 3))) for op in range(len(Op))]


class Formula:
    """Clauses about the rows of circuits. Use it in a `with`: the solver's memory is not Python's.

    A literal is a variable's number, negative if inverted. `true` is a literal that holds.
    """

    def __init__(self) -> None:
        from pysat.solvers import Glucose4

        self._solver = Glucose4()
        self._variables = 0
        self._gates: dict[tuple[int, int, int], int] = {}
        self.true = self.variable()
        self.add([self.true])

    def __enter__(self) -> Formula:
        return self

    def __exit__(self, *raised: Any) -> None:
        self._solver.delete()

    def variable(self) -> int:
        """Return a new variable."""
        self._variables += 1
        return self._variables

    def add(self, clause: Iterable[int]) -> None:
        """Demand that one of the literals holds."""
        self._solver.add_clause(list(clause))

    def equate(self, x: int, y: int) -> None:
        """Demand that two literals are equal."""
        self.add([x, -y])
        self.add([-x, y])

    def gate(self, op: int, x: int, y: int) -> int:
        """Return the literal of op(x, y); an equal gate is not added again."""
        reads_x, reads_y = READS[op]
        if not reads_x and not reads_y:
            return self.true if op else -self.true
        if not reads_y:
            return x if op == Op.A else -x
        if not reads_x:
            return y if op == Op.B else -y
        known = self._gates.get((op, x, y))
        if known is not None:
            return known
        literal = self._gates[op, x, y] = self.variable()
        for corner in range(4):
            value = op >> (3 - corner) & 1
            self.add(
                [-x if corner & 2 else x, -y if corner & 1 else y, literal if value else -literal]
            )
        # Where one input alone decides, that follows at once, not from two corners in two steps.
        for wire, pairs in ((x, _BY_X[op]), (y, _BY_Y[op])):
            for bit, value in pairs:
                self.add([-wire if bit else wire, literal if value else -literal])
        return literal

    def gates(
        self,
        circuit: LogicCircuit,
        gates: Iterable[int],
        literals: dict[int, int],
        deadline: Deadline = NEVER,
    ) -> None:
        """Add gates of a circuit; `literals` maps its rows, known at first and then these.

        Raises KeyError if a gate depends on a row that is not known, and TimeoutError if
        `deadline` passes before all are added.
        """
        ops, a, b = circuit.lists
        literals[circuit.rows] = self.true  # what an op ignores may stand for anything
        for count, gate in enumerate(gates):
            if not count % GATES_AT_ONCE:
                deadline.check()
            x, y = literals[a[gate]], literals[b[gate]]
            literals[circuit.inputs + gate] = self.gate(ops[gate], x, y)
        del literals[circuit.rows]

    @property
    def conflicts(self) -> int:
        """Return how many conflicts the solver has met so far."""
        return int(self._solver.accum_stats()["conflicts"])

    def solve(
        self, assumptions: Sequence[int], deadline: Deadline = NEVER, most: int | None = None
    ) -> bool | None:
        """Return whether all clauses can hold together with `assumptions`.

        None if `deadline` passes, or `most` conflicts do not suffice.
        """
        until = None if most is None else self.conflicts + most
        while True:
            if deadline.passed:
                return None
            self._solver.conf_budget(SLICE if most is None else min(SLICE, most))
            self._solver.prop_budget(PROPAGATIONS)
            answer = self._solver.solve_limited(list(assumptions), expect_interrupt=True)
            if answer is not None:
                return bool(answer)
            if until is not None and self.conflicts >= until:
                return None

    def true_literals(self) -> set[int]:
        """Return the literals that hold in the assignment that `solve` found."""
        return set(self._solver.get_model())
