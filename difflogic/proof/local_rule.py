"""Checks a circuit against a rule's bounds in every neighbourhood: docs/local-rules.md."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.grid import NEIGHBORHOOD
from difflogic.circuit.live_part import live_part
from difflogic.circuit.specification import Rule
from difflogic.proof.answer import Answer, Assurance, Budget, Method, left_open
from difflogic.proof.question import Asked
from difflogic.proof.verdict import Verdict
from difflogic.system.work import may_cancel

CASES_AT_ONCE = 2**15
"""Neighbourhoods that are tried together."""


@dataclass(frozen=True, eq=False)
class Local:
    """Asks whether a circuit keeps a rule's bounds in every neighbourhood."""

    automaton: Automaton
    rule: Rule
    steps: int


def _decide(question: Local, budget: Budget, before: Answer | None) -> Answer:
    asked = Asked.of(question.automaton, "obeys", "every start")
    reason = broken(question.automaton, question.rule)
    if reason:
        return left_open(reason, "every size", asked=asked)
    text = f"proved for every {question.rule.theorem}"
    return Answer(
        Assurance(Verdict.proved, "every size", text, BOUNDS.name, question.steps, asked=asked)
    )


BOUNDS = Method("a rule", 0.1, lambda each: isinstance(each, Local), _decide)


def broken(automaton: Automaton, rule: Rule) -> str:
    """Return why a rule is not proved; "" if the circuit keeps it in every neighbourhood."""
    small = live_part(automaton)
    circuit = small.circuit
    if not set(circuit.labels) <= {0, 1}:
        return "cells have memory beside channels 0 and 1"
    if small.boundary != "zero" or small.fire_rate != 1 or 1 not in small.visible:
        return "cells must fire together, show channel 1, and have zeros beyond the edge"
    # All states of a cell and its neighbours, shape (9, 2 channels, cases).
    bits = np.arange(NEIGHBORHOOD * 2)[:, None]
    seen = (np.arange(2 ** len(bits)) >> bits & 1).astype(np.uint8).reshape(NEIGHBORHOOD, 2, -1)
    legal, least, most = rule.bounds(seen[:, 0], seen[:, 1])
    channels = list(circuit.labels)
    given = seen[:, channels].reshape(circuit.inputs, -1).astype(np.bool_)
    count = 0
    for some in (
        slice(first, first + CASES_AT_ONCE) for first in range(0, len(legal), CASES_AT_ONCE)
    ):
        may_cancel()
        new = circuit.next_state(given[:, some])
        wrong = ((new < least[channels, some]) | (new > most[channels, some])).any(axis=0)
        count += int((wrong & (legal[some] == 1)).sum())
    return f"{count} of {int(legal.sum())} neighbourhoods break the rule" if count else ""
