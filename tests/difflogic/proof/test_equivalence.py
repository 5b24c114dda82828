"""Verdicts on equality, compared with brute force and an SMT solver."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import difflogic
from cli.terminal.proofs import equality
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.proof import Difference, Proof, Verdict, decide_equality
from difflogic.proof import equivalence as proof_module
from difflogic.proof.satisfiability import Formula
from difflogic.simplification import EffortLimits, simplify
from difflogic.system.deadline import Deadline
from difflogic.system.errors import CircuitError
from tests.difflogic.circuit.circuits import (
    automaton,
    automaton_of,
    circuit_of,
    circuits,
    naive,
    same_next_states,
)
from tests.difflogic.system.clocks import Clock
from tests.examples import examples

ALL_CASES = 20
SAT = -1
"""Limits of inputs for trying all cases."""
methods = pytest.mark.parametrize("limits", [ALL_CASES, SAT], ids=["cases", "sat"])
QUICK = EffortLimits(2, (6,), 10, 0, 0, 0)


def shown_true(found: Difference, before: Circuit, after: Circuit) -> bool:
    """Return whether two circuits, looked up gate by gate, differ as a counterexample says."""
    for circuit, expected in ((before, found.before), (after, found.after)):
        cases = np.zeros((circuit.inputs, 1), bool)
        names = [circuit.input_name(row) for row in range(circuit.inputs)]
        for name, bit in found.inputs.items():
            if name in names:
                cases[names.index(name)] = bit
        if naive(circuit, cases)[circuit.labels.index(found.channel), 0] != expected:
            return False
    return found.before != found.after


@st.composite
def mutants(draw: st.DrawFn, circuit: Circuit) -> Circuit:
    """Draw a circuit with another op of a gate, or another row that it reads."""
    gate = draw(st.integers(0, circuit.gates - 1))
    key = draw(st.sampled_from(["op", "a", "b"]))
    values = getattr(circuit, key).copy()
    values[gate] = draw(st.integers(0, 15 if key == "op" else circuit.inputs + gate - 1))
    return replace(circuit, **{key: values})


@pytest.mark.once
@methods
@examples(80)
@given(st.data(), circuits(fewest=1))
def test_verdicts_agree_with_brute_force(limits: int, data: st.DataObject, one: Circuit) -> None:
    check(one, data.draw(circuits(most=8) | mutants(one)), limits)
    assert check(one, simplify(automaton_of(one), QUICK).circuit, limits).equal


def check(before: Circuit, after: Circuit, limits: int) -> Proof:
    proof = decide_equality(before, after, (0,), exhaustive=limits)
    assert proof.equal == same_next_states(before, after)
    if proof.equal:
        assert proof.counterexample is None
        assert [output.channel for output in proof.outputs] == list(after.labels)
    else:
        assert proof.verdict is Verdict.refuted
        assert shown_true(proof.counterexample, before, after)
    return proof


@methods
def test_one_wrong_case_of_a_million(limits: int) -> None:
    """An AND of 20 inputs differs from a constant in one case."""
    gates = [(Op.AND, 0, 1)]
    for row in range(2, 20):
        gates.append((Op.AND, 27 + len(gates) - 1, row))
    before = circuit_of(gates, [27 + len(gates) - 1, 0, 0])
    after = circuit_of([(Op.FALSE, 0, 0)], [27, 0, 0])
    proof = decide_equality(before, after, (0,), exhaustive=limits)
    assert all(proof.counterexample.inputs.values())
    assert len(proof.counterexample.inputs) == 20
    assert proof.count("sat") == (limits == SAT)
    assert proof.outputs[0].cases == proof.cases == (2**20 if limits is ALL_CASES else 0)


def test_channels_are_matched_by_labels() -> None:
    before = circuit_of([(Op.XOR, 0, 1)], [18, 1], labels=(5, 9))
    after = circuit_of([(Op.XOR, 1, 0)], [0, 18], labels=(9, 5))
    swapped = circuit_of([(Op.XOR, 0, 1)], [18, 1], labels=(9, 5))
    assert decide_equality(before, after, (5,)).equal
    assert not decide_equality(before, swapped, (5,)).equal


def test_a_dropped_channel_may_matter() -> None:
    before = circuit_of([(Op.XOR, 0, 1)], [18, 1])
    after = circuit_of([], [0])
    proof = decide_equality(before, after, (0,))
    assert proof.dropped == (1,)
    assert proof.counterexample.inputs == {"NW0": 0, "NW1": 1}
    assert not decide_equality(after, before, (0,)).equal


def test_visible_channels_must_be_in_both() -> None:
    with pytest.raises(CircuitError, match="visible channel 1 is missing"):
        decide_equality(circuit_of([], [0, 1]), circuit_of([], [0]), (0, 1))
    one = circuit_of([], [0], labels=(3,))
    other = circuit_of([], [0], labels=(4,))
    with pytest.raises(CircuitError, match="no channel in common"):
        decide_equality(one, other, ())


@methods
@pytest.mark.parametrize("op", [Op.XOR, Op.OR])
def test_no_deadline_makes_a_verdict_wrong(
    limits: int, op: Op, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = circuit_of([(Op.AND, 0, 1), (Op.XOR, 18, 2)], [18, 19])
    after = circuit_of([(Op.AND, 1, 0), (op, 2, 18)], [18, 19])
    for looks in range(50):
        clock = Clock(most=looks)
        monkeypatch.setattr(Deadline, "after", classmethod(lambda cls, _, clock=clock: clock))
        proof = decide_equality(before, after, (0,), exhaustive=limits)
        late = [each.verdict for each in proof.outputs].count(Verdict.open)
        assert looks or late == len(proof.outputs) == 2
        assert proof.equal == (op is Op.XOR and not late)
        found = proof.counterexample
        assert (proof.verdict is Verdict.refuted) == (found is not None)
        assert found is None or (op is Op.OR and shown_true(found, before, after))
    assert not late


def test_a_solver_that_gives_up_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It knows when to."""
    asked = list[object]()
    clock = Clock()
    monkeypatch.setattr(Deadline, "after", classmethod(lambda cls, _: clock))
    monkeypatch.setattr(Formula, "solve", lambda *given: asked.append(given[2]))
    same = circuit_of([(Op.AND, 0, 1)], [9])
    assert decide_equality(same, same, (0,), exhaustive=SAT).verdict is Verdict.open
    assert asked == [clock]


def test_a_false_counterexample_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    circuit = circuit_of([(Op.XOR, 0, 1)], [9])
    monkeypatch.setattr(proof_module, "_first_difference", lambda *given: {(0, 0): True})
    with pytest.raises(RuntimeError, match="the circuits agree"):
        decide_equality(circuit, circuit, (0,))


DIFFERENCES = {
    "boundary periodic and zero": {"boundary": "zero"},
    "fire rate 1.0 and 0.5": {"fire_rate": 0.5},
    "grid 5×7 and 5×9": {"width": 9},
    "grid 5×7 and 9×7": {"height": 9},
    "steps 4 and 6": {"steps": 6},
    "start random and zeros": {"start": "zeros"},
    "visible channels [0, 1] and [1, 0]": {"visible": (1, 0)},
    "palette": {"palette": tuple((shade, 0, 0) for shade in range(4))},
    "encoding": {"encoding": {"symbols": ("0", "1"), "background": 1}},
}


@pytest.mark.parametrize(("said", "change"), DIFFERENCES.items(), ids=DIFFERENCES)
def test_a_field_that_changes_what_is_done_or_seen_is_a_difference(
    said: str, change: dict[str, Any]
) -> None:
    one = automaton(circuit_of([], [0, 1]))
    assert difflogic.prove(one, replace(one, name="other")).equal
    found = difflogic.prove(one, replace(one, **change))
    assert (found.same_rule, found.equal, found.other_differences) == (True, False, (said,))
    assert (
        equality(found.proof, found.other_differences).splitlines()[-1] == f"  differs in: {said}"
    )
