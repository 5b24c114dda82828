"""Proves two circuits equal, channel by channel, by trying all cases or with a SAT solver."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from difflogic.circuit.cases import MOST_INPUTS, Words, first_case
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import Bits
from difflogic.circuit.grid import NEIGHBORS
from difflogic.model.automaton import Automaton
from difflogic.proof.miter import Cone, Miter, Place
from difflogic.system.deadline import Deadline
from difflogic.system.errors import CircuitError
from difflogic.system.json_values import fields_of

Method = Literal["exhaustive", "sat"]


class Verdict(StrEnum):
    """Whether two circuits compute the same."""

    equal = "equal"
    different = "different"
    unknown = "unknown"
    """Time ran out."""


@dataclass(frozen=True)
class OutputProof:
    """The comparison of one channel's next state."""

    channel: int
    """Label of the channel."""
    verdict: Verdict
    method: Method
    inputs: int
    """Inputs that either circuit reads for this channel."""
    cases: int
    """All 2^inputs cases, tried up to the first difference; 0 if the solver decided."""
    conflicts: int
    seconds: float


@dataclass(frozen=True)
class Counterexample:
    """A neighbourhood on which the circuits differ, confirmed by running both."""

    channel: int
    """Label of the channel whose next state differs."""
    before: bool
    after: bool
    bits: dict[tuple[int, int], bool]
    """(neighbour, channel's label) → bit, for all inputs that either next state reads."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, with inputs named as in NW0."""
        return {
            "channel": self.channel,
            "before": int(self.before),
            "after": int(self.after),
            "inputs": {
                f"{NEIGHBORS[neighbor]}{label}": int(bit)
                for (neighbor, label), bit in self.bits.items()
            },
        }


@dataclass(frozen=True)
class Proof:
    """The comparison of two circuits.

    Equal means: every channel that both have, including all visible ones, has the same next state
    for every state of all channels. So the other channels never matter: by induction over the
    steps, the common ones stay equal, with any boundary and fire rate.
    """

    outputs: tuple[OutputProof, ...]
    dropped: tuple[int, ...]
    """Labels that only one of the circuits has."""
    counterexample: Counterexample | None
    seconds: float

    @property
    def verdict(self) -> Verdict:
        verdicts = {output.verdict for output in self.outputs}
        if Verdict.different in verdicts:
            return Verdict.different
        return Verdict.unknown if Verdict.unknown in verdicts else Verdict.equal

    @property
    def equal(self) -> bool:
        return self.verdict is Verdict.equal

    @property
    def cases(self) -> int:
        """Total number of cases, see `OutputProof.cases`."""
        return sum(output.cases for output in self.outputs)

    @property
    def conflicts(self) -> int:
        """Total number of the solver's conflicts."""
        return sum(output.conflicts for output in self.outputs)

    def count(self, method: Method) -> int:
        """Return how many outputs a method decided."""
        decided = [output for output in self.outputs if output.verdict is not Verdict.unknown]
        return sum(output.method == method for output in decided)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return fields_of(self, "verdict", "cases", "conflicts")


def differences(one: Automaton, other: Automaton) -> list[str]:
    """List how two automata differ apart from their circuits."""
    pairs = (
        ("boundary", one.boundary, other.boundary),
        ("fire rate", one.fire_rate, other.fire_rate),
        ("visible channels", sorted(one.visible), sorted(other.visible)),
    )
    return [f"{name} {first} and {second}" for name, first, second in pairs if first != second]


def prove(
    before: Circuit,
    after: Circuit,
    visible: tuple[int, ...],
    seconds: float = math.inf,
    progress: Callable[[int], object] = lambda done: None,
    *,
    exhaustive: int = MOST_INPUTS,
) -> Proof:
    """Compare the next states of all channels that both circuits have, matched by labels.

    Each next state is a function of the channels of the nine cells. Outputs with up to
    `exhaustive` inputs are compared in all cases, others by a solver. Stops at the first
    difference. `progress` gets the number of finished outputs.

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
            progress(len(outputs))
            if case is not None:
                counterexample = _confirmed(before, after, label, case)
                break
    dropped = tuple(sorted(set(before.labels) ^ set(after.labels)))
    return Proof(tuple(outputs), dropped, counterexample, time.monotonic() - began)


def _compare(
    miter: Miter, label: int, exhaustive: int, deadline: Deadline
) -> tuple[OutputProof, dict[Place, bool] | None]:
    began = time.monotonic()
    inputs = cases = conflicts = 0
    case: dict[Place, bool] | None = None
    equal: bool | None
    method: Method = "exhaustive"
    verdict = Verdict.unknown
    with suppress(TimeoutError):
        deadline.check()
        before, after = Cone.of(miter.before, label), Cone.of(miter.after, label)
        inputs = len(before.inputs.keys() | after.inputs.keys())
        if inputs <= exhaustive:
            case = _first_difference(before, after, deadline)
            equal, cases = case is None, 1 << inputs
        else:
            method = "sat"
            equal, case, conflicts = miter.compare(before, after, deadline)
        if equal is not None:
            verdict = Verdict.equal if equal else Verdict.different
    seconds = time.monotonic() - began
    return OutputProof(label, verdict, method, inputs, cases, conflicts, seconds), case


def _first_difference(before: Cone, after: Cone, deadline: Deadline) -> dict[Place, bool] | None:
    """Return the first of all cases in which two outputs differ. Raises TimeoutError."""
    places = sorted(before.inputs.keys() | after.inputs.keys())

    def differ(given: list[Words], bits: Bits) -> Words:
        deadline.check()
        values = dict(zip(places, given, strict=True))
        x = before.evaluate(values, bits, deadline.check)[before.output]
        difference: Words = x ^ after.evaluate(values, bits, deadline.check)[after.output]
        return difference

    case = first_case(len(places), len(before.rows) + len(after.rows), differ)
    return None if case is None else {place: bool(case >> n & 1) for n, place in enumerate(places)}


def _confirmed(
    before: Circuit, after: Circuit, label: int, case: dict[Place, bool]
) -> Counterexample:
    """Run both circuits on a counterexample with the plain interpreter.

    Clears ones that are not needed to tell the circuits apart. Raises RuntimeError if the circuits
    agree: then the proof is faulty.
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
        if not len(clearable):
            found = dict(zip(places, bits[:, 0].tolist(), strict=True))
            return Counterexample(label, bool(x[-1]), bool(y[-1]), found)
        bits = columns[:, clearable[:1]]


def _next_state(
    circuit: Circuit, label: int, places: list[Place], bits: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    inputs = np.zeros((circuit.inputs, bits.shape[1]), np.bool_)
    for (neighbor, place), row in zip(places, bits, strict=True):
        if place in circuit.labels:
            inputs[neighbor * circuit.channels + circuit.labels.index(place)] = row
    state: npt.NDArray[np.bool_] = circuit.next_state(inputs)[circuit.labels.index(label)]
    return state
