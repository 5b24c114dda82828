"""Time limits hold: everything that takes long looks at the clock, also for large circuits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from difflogic.inspection import fixed_points, symmetry
from difflogic.inspection.symmetry import Decision
from difflogic.proof import equivalence, prove
from difflogic.proof.convergence.folding import fold
from difflogic.simplification import EFFORTS, nets, simplify
from difflogic.system.deadline import Deadline
from difflogic.system.jit import JIT
from tests.difflogic.circuit.circuits import automaton, deep_circuit
from tests.difflogic.system.clocks import Clock

pytestmark = pytest.mark.thorough

LONGEST = 20.0
"""Most seconds of work between two looks at the clock; one or two are measured."""

GATES = 100_000

compiled = pytest.mark.skipif(not JIT, reason="takes minutes")


@compiled
def test_simplification_looks_at_the_clock():
    before = automaton(deep_circuit(GATES))
    nets.from_circuit(before.circuit)  # compiling does not count
    for looks in (0, 40):
        clock = Clock(most=looks)
        found = simplify(before, EFFORTS["normal"], deadline=clock)
        assert found.stopped
        assert found.circuit.gates <= fold(before.circuit).gates
        assert clock.gap < LONGEST


@compiled
def test_proofs_look_at_the_clock(monkeypatch):
    before = deep_circuit(GATES)
    after = fold(before)
    for looks in (0, 30):
        clock = Clock(most=looks)
        monkeypatch.setattr(Deadline, "after", classmethod(lambda cls, _, clock=clock: clock))
        proof = prove(before, after, before.labels, 1)
        assert proof.verdict == "unknown"
        assert clock.gap < LONGEST
    assert {output.method for output in proof.outputs} <= {"sat", "exhaustive"}
    assert equivalence.Deadline is Deadline


@compiled
def test_inspection_looks_at_the_clock(monkeypatch):
    large = automaton(fold(deep_circuit(20_000)))
    questions: list[Callable[[], object]] = [
        partial(symmetry.examine, large.circuit, 1.0),
        partial(fixed_points.find, large, 2, 1.0),
    ]
    open_ = []
    for question in questions:
        clock = Clock(most=5)
        monkeypatch.setattr(Deadline, "after", classmethod(lambda cls, _, clock=clock: clock))
        open_.append(question())
        assert clock.gap < LONGEST
    rule, fixed = open_
    assert isinstance(rule, symmetry.Rule)
    assert Decision("not decided", "time limit") in rule.properties.values()
    assert isinstance(fixed, fixed_points.FixedPoints)
    assert fixed.stopped == "time limit"
