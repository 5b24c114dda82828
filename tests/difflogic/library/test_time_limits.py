"""Time limits of proofs, by the processor's clock: an answer in time, and no false verdict."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from difflogic.library.groups import Claims
from difflogic.library.proving import certify, prove
from difflogic.library.simplifying import simplify
from difflogic.proof.verdict import Verdict
from difflogic.system import deadline
from difflogic.system.errors import CircuitError
from tests.difflogic.circuit.circuits import automaton_of, deep_circuit
from tests.paths import DOCS, GALLERY

LIMIT = 0.2
TOUGH = GALLERY / "checkerboard-tough-async.json"
DEEP = replace(automaton_of(deep_circuit(30_000)), boundary="zero", height=16, width=16)
RULE = replace(automaton_of(deep_circuit(8000, 2), (1,)), boundary="zero", height=1, width=9)

LONG: dict[str, Callable[..., Any]] = {
    "many windows": lambda **limit: certify(
        TOUGH, Claims(damage=20, contents="any", margin=1), **limit
    ),
    "windows that are too many": lambda **limit: certify(TOUGH, Claims(damage=32), **limit),
    "a large grid": lambda **limit: certify(TOUGH, Claims([(200, 200)]), **limit),
    "many grids": lambda **limit: certify(
        TOUGH, Claims([(200, 200)] * 9, all_sizes=True), task="checkerboard-tough-async", **limit
    ),
    "a deep circuit": lambda **limit: certify(DEEP, Claims(all_sizes=True, damage=9), **limit),
    "a deep rule": lambda **limit: certify(RULE, task="sorting", **limit),
    "damage that heals": lambda **limit: certify(
        DOCS / "lizard-heal.json", Claims(damage=10), task="lizard-heal", **limit
    ),
    "equality": lambda **limit: prove(DEEP, replace(DEEP, circuit=deep_circuit(29_999)), **limit),
    "the simplified form": lambda **limit: prove(DEEP, **limit),
    "simplification": lambda **limit: simplify(DEEP, "high", **limit),
}


FALSE = "a deep circuit", "a deep rule", "equality"
"""What is claimed of drawn circuits, and may be refuted; all else holds, and may be proved."""


@pytest.mark.once
@pytest.mark.parametrize("name", LONG)
def test_an_answer_in_time_and_no_false_verdict(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=time.process_time))
    began = time.process_time()
    found = None
    with suppress(CircuitError):  # a start of zeros may not settle in the time
        found = LONG[name](time_limit=LIMIT)
    assert time.process_time() - began < LIMIT + 1
    parts = [getattr(found, each, None) for each in ("assurance", "every_size", "confinement")]
    verdicts = [each.verdict for each in (*getattr(found, "findings", ()), *filter(None, parts))]
    if name in FALSE:
        assert not getattr(found, "proved", False)
    else:
        assert Verdict.refuted not in verdicts
