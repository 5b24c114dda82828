"""Proves two circuits equal, channel by channel, by trying all cases or with a SAT solver."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
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
from difflogic.system.array_types import Words
from difflogic.system.deadline import Deadline
from difflogic.system.errors import CircuitError, OutOfTimeError
from difflogic.system.json_values import fields_of
from difflogic.system.work import tell

InputPlace = tuple[int, int]
"""An input: the neighbour's number and the channel's label."""

InputValues = dict[InputPlace, bool]
"""The bits of all inputs that are read."""

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

    def count(self, method: EqualityMethod) -> int:
        """Return how many outputs a method decided."""
        decided = [output for output in self.outputs if output.verdict is not Verdict.open]
        return sum(output.method == method for output in decided)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return fields_of(self, "verdict", "cases")


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
                counterexample = _confirmed(before, after, label, case)
                break
    dropped = tuple(sorted(set(before.labels) ^ set(after.labels)))
    seconds = time.monotonic() - began
    return Proof(tuple(outputs), dropped, counterexample, seconds)


def _compare(
    miter: Miter, label: int, exhaustive: int, deadline: Deadline
) -> tuple[OutputProof, InputValues | None]:
    """Compare one channel's next state; return a case in which it differs, too, if there is one."""
    inputs = cases = 0
    case = None
    method: EqualityMethod = "exhaustive"
    verdict = Verdict.open
    with suppress(OutOfTimeError):
        deadline.check()
        before = Cone.of(miter.before, label)
        after = Cone.of(miter.after, label)
        places = sorted(before.inputs.keys() | after.inputs.keys())
        inputs = len(places)
        if inputs <= exhaustive:
            case = _first_difference(before, after, places, deadline)
            cases = 1 << inputs
        else:
            method = "sat"
            case = miter.difference(before, after, places, deadline)
        verdict = Verdict.proved if case is None else Verdict.refuted
    return OutputProof(label, verdict, method, inputs, cases), case


def _first_difference(
    before: Cone, after: Cone, places: Sequence[InputPlace], deadline: Deadline
) -> InputValues | None:
    """Return the first of all cases in which two outputs differ. Raises OutOfTimeError."""

    def differ(given: list[Words], bits: BitLogic) -> Words:
        deadline.check()
        values = dict(zip(places, given, strict=True))
        x = before.value(values, bits, deadline)
        difference: Words = x ^ after.value(values, bits, deadline)
        return difference

    case = first_case(len(places), len(before.rows) + len(after.rows), differ)
    return None if case is None else {place: bool(case >> n & 1) for n, place in enumerate(places)}


def _confirmed(before: Circuit, after: Circuit, label: int, case: InputValues) -> Difference:
    """Run both circuits on a counterexample with the plain interpreter.

    Raises RuntimeError if the circuits agree: then the proof is faulty.
    """
    x, y = (_next_state(circuit, label, case) for circuit in (before, after))
    if x == y:
        raise RuntimeError(f"channel {label}: the circuits agree where a proof says otherwise")
    found = {f"{NEIGHBORS[cell]}{channel}": int(bit) for (cell, channel), bit in case.items()}
    return Difference(label, x, y, found)


def _next_state(circuit: Circuit, label: int, case: InputValues) -> int:
    inputs = np.zeros((circuit.inputs, 1), np.bool_)
    for (neighbor, channel), bit in case.items():
        if channel in circuit.labels:
            inputs[neighbor * circuit.channels + circuit.labels.index(channel)] = bit
    return int(circuit.next_state(inputs)[circuit.labels.index(label), 0])


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

    def value(
        self, given: Mapping[InputPlace, Value], algebra: Logic[Value], deadline: Deadline
    ) -> Value:
        """Return the value of the next state. Raises OutOfTimeError."""
        values = [algebra.constant(0)] * self.circuit.inputs
        for place, row in self.inputs.items():
            values[row] = given[place]
        return evaluate(self.circuit, values, algebra, self.rows, deadline.check)[self.output]


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

    def difference(
        self, before: Cone, after: Cone, places: Sequence[InputPlace], deadline: Deadline
    ) -> InputValues | None:
        """Return a case in which two outputs differ, if there is one. Raises OutOfTimeError."""
        formula = self._formula = self._formula or Formula()
        for place in places:
            if place not in self._inputs:
                self._inputs[place] = formula.variable()
        x, y = (cone.value(self._inputs, formula, deadline) for cone in (before, after))
        answer = formula.solve([formula.xor_(x, y)], deadline)
        if answer is None:
            raise OutOfTimeError
        if not answer:
            formula.equate(x, y)
            return None
        holding = formula.true_literals()
        return {place: self._inputs[place] in holding for place in places}
