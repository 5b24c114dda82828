"""Proves two circuits equal, channel by channel, by trying all cases or with a SAT solver.

If a direct answer of the solver takes long, inner signals that simulation cannot tell apart are
proved equal first, from the inputs to the outputs, each with a small budget. The rest is then easy
to prove.

Source: SAT sweeping (Kuehlmann, Paruthi, Krohm and Ganai 2002, "Robust Boolean reasoning for
equivalence checking and functional property verification").
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from difflogic.circuit.case_words import MOST_INPUTS, first_case
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import BitLogic, Logic, Value, evaluate
from difflogic.circuit.grid import NEIGHBORS
from difflogic.proof.satisfiability import Formula
from difflogic.proof.verdict import Verdict
from difflogic.system.array_types import Flags, Words
from difflogic.system.deadline import Deadline
from difflogic.system.errors import CircuitError, OutOfTimeError
from difflogic.system.json_values import fields_of
from difflogic.system.work import tell

DIRECT_CONFLICTS = 2000
"""Budget of the direct answer, a fraction of a second."""
INNER_CONFLICTS = 300
"""Budget of each pair of inner signals."""
RANDOM_WORDS = 64
"""Words of random cases per inner signal."""
MOST_WORDS = 2**23
"""Words of all signals together, 64 MiB: in larger circuits each signal gets fewer."""

InputPlace = tuple[int, int]
"""An input: the neighbour's number and the channel's label."""

EqualityMethod = Literal["exhaustive", "sat"]


@dataclass(frozen=True)
class OutputProof:
    """The comparison of one channel's next state."""

    channel: int
    """Label of the channel."""
    verdict: Verdict
    method: EqualityMethod
    inputs: int
    """Inputs that either circuit reads for this channel."""
    cases: int
    """All 2^inputs cases, tried up to the first difference; 0 if the solver decided."""
    conflicts: int
    seconds: float


@dataclass(frozen=True)
class Difference:
    """A neighbourhood on which the circuits differ, confirmed by running both."""

    channel: int
    """Label of the channel whose next state differs."""
    before: int
    after: int
    inputs: dict[str, int]
    """The bit of each input that either next state reads, by its name, such as NW0."""


@dataclass(frozen=True)
class Proof:
    """The comparison of two circuits: whether they are the same rule.

    Equal means: every channel that both have, including all visible ones, has the same next state
    for every state of all channels. So the other channels never matter: by induction over the
    steps, the common ones stay equal, with any boundary and fire rate.
    """

    outputs: tuple[OutputProof, ...]
    dropped: tuple[int, ...]
    """Labels that only one of the circuits has."""
    counterexample: Difference | None
    seconds: float

    @property
    def verdict(self) -> Verdict:
        verdicts = {output.verdict for output in self.outputs}
        if Verdict.refuted in verdicts:
            return Verdict.refuted
        return Verdict.open if Verdict.open in verdicts else Verdict.proved

    @property
    def equal(self) -> bool:
        return self.verdict is Verdict.proved

    @property
    def cases(self) -> int:
        """Total number of cases, see `OutputProof.cases`."""
        return sum(output.cases for output in self.outputs)

    @property
    def conflicts(self) -> int:
        """Total number of the solver's conflicts."""
        return sum(output.conflicts for output in self.outputs)

    def count(self, method: EqualityMethod) -> int:
        """Return how many outputs a method decided."""
        decided = [output for output in self.outputs if output.verdict is not Verdict.open]
        return sum(output.method == method for output in decided)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return fields_of(self, "verdict", "cases", "conflicts")


def decide_equality(
    before: Circuit,
    after: Circuit,
    visible: tuple[int, ...],
    seconds: float = math.inf,
    *,
    exhaustive: int = MOST_INPUTS,
) -> Proof:
    """Compare the next states of all channels that both circuits have, matched by labels.

    Each next state is a function of the channels of the nine cells. Outputs with up to
    `exhaustive` inputs are compared in all cases, others by a solver. Stops at the first
    difference.

    Raises CircuitError if a channel of `visible` is missing, or if no channel is common.
    """
    both = set(before.labels) & set(after.labels)
    for label in visible:
        if label not in both:
            raise CircuitError(f"visible channel {label} is missing: both circuits need it")
    common = [label for label in before.labels if label in both]
    if not common:
        raise CircuitError("the circuits have no channel in common to compare")
    began = time.monotonic()
    deadline = Deadline.after(seconds)
    outputs: list[OutputProof] = []
    counterexample = None
    with Miter(before, after) as miter:
        for label in common:
            output, case = _compare(miter, label, exhaustive, deadline)
            outputs.append(output)
            tell("outputs proved:", len(outputs), len(common))
            if case is not None:
                counterexample = _confirmed(before, after, label, case, deadline)
                break
    dropped = tuple(sorted(set(before.labels) ^ set(after.labels)))
    return Proof(tuple(outputs), dropped, counterexample, time.monotonic() - began)


def _compare(
    miter: Miter, label: int, exhaustive: int, deadline: Deadline
) -> tuple[OutputProof, dict[InputPlace, bool] | None]:
    began = time.monotonic()
    inputs = cases = conflicts = 0
    case: dict[InputPlace, bool] | None = None
    equal: bool | None
    method: EqualityMethod = "exhaustive"
    verdict = Verdict.open
    with suppress(OutOfTimeError):
        deadline.check()
        before = Cone.of(miter.before, label)
        after = Cone.of(miter.after, label)
        inputs = len(before.inputs.keys() | after.inputs.keys())
        if inputs <= exhaustive:
            case = _first_difference(before, after, deadline)
            equal = case is None
            cases = 1 << inputs
        else:
            method = "sat"
            equal, case, conflicts = miter.compare(before, after, deadline)
        if equal is not None:
            verdict = Verdict.proved if equal else Verdict.refuted
    seconds = time.monotonic() - began
    return OutputProof(label, verdict, method, inputs, cases, conflicts, seconds), case


def _first_difference(
    before: Cone, after: Cone, deadline: Deadline
) -> dict[InputPlace, bool] | None:
    """Return the first of all cases in which two outputs differ. Raises OutOfTimeError."""
    places = sorted(before.inputs.keys() | after.inputs.keys())

    def differ(given: list[Words], bits: BitLogic) -> Words:
        deadline.check()
        values = dict(zip(places, given, strict=True))
        x = before.evaluate(values, bits, deadline.check)[before.output]
        difference: Words = x ^ after.evaluate(values, bits, deadline.check)[after.output]
        return difference

    case = first_case(len(places), len(before.rows) + len(after.rows), differ)
    return None if case is None else {place: bool(case >> n & 1) for n, place in enumerate(places)}


def _confirmed(
    before: Circuit, after: Circuit, label: int, case: dict[InputPlace, bool], deadline: Deadline
) -> Difference:
    """Run both circuits on a counterexample with the plain interpreter.

    Until `deadline`, clears ones that are not needed to tell the circuits apart. Raises
    RuntimeError if the circuits agree: then the proof is faulty.
    """
    places = list(case)
    bits = np.array([case[place] for place in places], np.bool_)[:, None]
    while True:
        # One column per 1, with that 1 cleared, and a last column with all of them.
        ones = np.flatnonzero(bits[:, 0])
        columns = np.repeat(bits, len(ones) + 1, axis=1)
        columns[ones, np.arange(len(ones))] = False
        x, y = (_next_state(circuit, label, places, columns) for circuit in (before, after))
        if x[-1] == y[-1]:
            raise RuntimeError(f"channel {label}: the circuits agree where a proof says otherwise")
        clearable = np.flatnonzero((x != y)[:-1])
        if not len(clearable) or deadline.passed:
            names = (f"{NEIGHBORS[neighbor]}{channel}" for neighbor, channel in places)
            found = dict(zip(names, bits[:, 0].astype(int).tolist(), strict=True))
            return Difference(label, int(x[-1]), int(y[-1]), found)
        bits = columns[:, clearable[:1]]


def _next_state(circuit: Circuit, label: int, places: list[InputPlace], bits: Flags) -> Flags:
    inputs = np.zeros((circuit.inputs, bits.shape[1]), np.bool_)
    for (neighbor, place), row in zip(places, bits, strict=True):
        if place in circuit.labels:
            inputs[neighbor * circuit.channels + circuit.labels.index(place)] = row
    state: Flags = circuit.next_state(inputs)[circuit.labels.index(label)]
    return state


@dataclass(frozen=True, eq=False)
class Cone:
    """The part of a circuit that one channel's next state reads."""

    circuit: Circuit
    output: int
    """Row of the next state."""
    rows: list[int]
    """Rows that it depends on, ascending."""
    inputs: dict[InputPlace, int]
    """The input rows among them."""

    @classmethod
    def of(cls, circuit: Circuit, label: int) -> Cone:
        """Return the cone of the channel with this label."""
        output = int(circuit.outputs[circuit.labels.index(label)])
        rows = circuit.cone(output)
        inputs = {}
        for row in rows:
            if row < circuit.inputs:
                neighbor, place = divmod(row, circuit.channels)
                inputs[neighbor, circuit.labels[place]] = row
        return cls(circuit, output, rows, inputs)

    def evaluate(
        self,
        given: Mapping[InputPlace, Value],
        algebra: Logic[Value],
        check: Callable[[], object] = lambda: None,
    ) -> list[Value]:
        """Return the value of each row of the circuit; only those of `rows` are meaningful."""
        values = [algebra.constant(0)] * self.circuit.inputs
        for place, row in self.inputs.items():
            values[row] = given[place]
        return evaluate(self.circuit, values, algebra, self.rows, check)


class Miter:
    """Compares outputs of two circuits in one formula, which remembers what it learned.

    Use it in a `with`. The solver is created when it is first needed.
    """

    def __init__(self, before: Circuit, after: Circuit) -> None:
        self.before = before
        self.after = after
        self._formula: Formula | None = None
        self._inputs: dict[InputPlace, int] = {}

    def __enter__(self) -> Miter:
        return self

    def __exit__(self, *raised: Any) -> None:
        if self._formula is not None:
            self._formula.__exit__(*raised)

    def compare(
        self, before: Cone, after: Cone, deadline: Deadline
    ) -> tuple[bool | None, dict[InputPlace, bool] | None, int]:
        """Return whether the outputs are equal, a case where they differ, and the conflicts.

        Equality is None if time runs out in the solver. Raises OutOfTimeError if it runs out
        before.
        """
        formula = self._formula = self._formula or Formula()
        earlier = formula.conflicts
        rows = [self._literals(formula, cone, deadline) for cone in (before, after)]
        x = rows[0][before.output]
        y = rows[1][after.output]
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
        count = max(1, min(RANDOM_WORDS, MOST_WORDS // (len(before.rows) + len(after.rows))))
        random = np.random.default_rng(0).integers(
            0, 2**64, (len(places), count), np.uint64, endpoint=False
        )
        given = dict(zip(places, random, strict=True))
        bits = BitLogic(np.full(count, ~np.uint64(0)))
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
