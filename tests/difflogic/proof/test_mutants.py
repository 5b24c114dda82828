"""Proved questions with one change, of a field or a gate: no verdict may be wrong."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.evaluation.assurance import assure_automaton
from tests.difflogic.proof.mutants import CLAIMS, FIELDS, Pick, judge, mutant, pair, picking


def check(pick: Pick, claim: str, field: str) -> None:
    automaton, task = mutant(pick, *pair(pick, claim), field)
    found = assure_automaton(automaton, task)
    assert judge(automaton, task, found) == "", found


@pytest.mark.once
@pytest.mark.parametrize("claim", CLAIMS)
def test_each_field(claim: str) -> None:
    pick = picking(0)
    for field in 2 * FIELDS:
        check(pick, claim, field)


@pytest.mark.exhaustive
@pytest.mark.parametrize("claim", CLAIMS)
@settings(max_examples=1500)
@given(data=st.data())
def test_many_mutants(data: st.DataObject, claim: str) -> None:
    def pick(values):
        return data.draw(st.sampled_from(values))

    check(pick, claim, pick(FIELDS))
