"""Whether two circuits are equal, channel by channel: by all cases, or by a SAT solver."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from difflogic.circuit.cases import MOST_INPUTS, Words, first_case
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.evaluate import Bits
from difflogic.proof.findings import Counterexample, OutputProof, Proof, Verdict
from difflogic.proof.miter import Cone, Miter, Place
from difflogic.system.deadline import Deadline
from difflogic.system.errors import CircuitError


def prove(
    before: Circuit,
    after: Circuit,
    visible: tuple[int, ...],
    seconds: float = math.inf,
    progress: Callable[[int], object] = lambda done: None,
    *,
    exhaustive: int = MOST_INPUTS,
) -> Proof:
    """Compare the next state of every channel that both circuits have, matched by labels.

    Each is a function of all channels of the nine cells that either circuit has. Stops at the
    first difference. `progress` is told how many outputs are done. Up to `exhaustive` inputs, all
    cases are tried; with more, a solver is asked. Raises CircuitError if a
    channel of `visible` is missing, or if no channel is common: there is nothing to prove then.
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
    by_cases = True
    verdict = Verdict.unknown
    # A proof that is out of time, wherever it stands, leaves the question open.
    with suppress(TimeoutError):
        deadline.check()
        before, after = Cone.of(miter.before, label), Cone.of(miter.after, label)
        inputs = len(before.inputs.keys() | after.inputs.keys())
        by_cases = inputs <= exhaustive
        if by_cases:
            case = _first_difference(before, after, deadline)
            verdict = Verdict.equal if case is None else Verdict.different
            cases = 1 << inputs
        else:
            verdict, case, conflicts = miter.compare(before, after, deadline)
    return OutputProof(
        label,
        verdict,
        "exhaustive" if by_cases else "sat",
        inputs,
        cases,
        conflicts,
        time.monotonic() - began,
    ), case


def _first_difference(before: Cone, after: Cone, deadline: Deadline) -> dict[Place, bool] | None:
    """Return the first of all cases in which two outputs differ. Raises TimeoutError."""
    places = sorted(before.inputs.keys() | after.inputs.keys())

    def differ(given: list[Words], bits: Bits) -> Words:
        deadline.check()
        values = dict(zip(places, given, strict=True))
        ours, theirs = (
            cone.evaluate(values, bits, deadline.check)[cone.output] for cone in (before, after)
        )
        return ours ^ theirs

    case = first_case(len(places), len(before.rows) + len(after.rows), differ)
    return None if case is None else {place: bool(case >> n & 1) for n, place in enumerate(places)}


def _confirmed(
    before: Circuit, after: Circuit, label: int, case: dict[Place, bool]
) -> Counterexample:
    """Run both circuits, by the plain interpreter, on a case that is said to tell them apart.

    Ones that are not needed for that are cleared first. Raises RuntimeError if the circuits agree
    on it: then the proof has a fault.
    """
    places = list(case)
    bits = np.array([case[place] for place in places], np.bool_)[:, None]
    while True:
        ones = np.flatnonzero(bits[:, 0])
        tried = np.repeat(bits, len(ones) + 1, axis=1)
        tried[ones, np.arange(len(ones))] = False
        ours, theirs = (_next_state(c, label, places, tried) for c in (before, after))
        if ours[-1] == theirs[-1]:
            raise RuntimeError(f"channel {label}: the circuits agree where a proof says otherwise")
        clearable = np.flatnonzero((ours != theirs)[:-1])
        if not len(clearable):
            found = dict(zip(places, bits[:, 0].tolist(), strict=True))
            return Counterexample(label, bool(ours[-1]), bool(theirs[-1]), found)
        bits = tried[:, clearable[:1]]


def _next_state(circuit: Circuit, label: int, places: list[Place], bits: np.ndarray) -> np.ndarray:
    inputs = np.zeros((circuit.inputs, bits.shape[1]), np.bool_)
    for (neighbor, place), row in zip(places, bits, strict=True):
        if place in circuit.labels:
            inputs[neighbor * circuit.channels + circuit.labels.index(place)] = row
    return circuit.next_state(inputs)[circuit.labels.index(label)]
