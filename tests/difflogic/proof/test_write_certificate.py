"""Certificates as files, confirmed by the very checker that docs/checkers.md prints."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from difflogic.model.automaton import Automaton
from difflogic.proof.convergence import Verdict, by_sets, decide
from difflogic.proof.files import write_certificate
from difflogic.system.errors import CircuitError
from tests.difflogic.proof.conftest import Check
from tests.difflogic.proof.convergence.trained import NAMES, path, question, trained

pytestmark = pytest.mark.thorough


def certificate(automaton: Automaton, side: int = 8) -> str:
    return write_certificate(automaton, by_sets(question(automaton, side, side)))


@pytest.mark.parametrize("name", NAMES)
def test_trained_circuits_are_confirmed(name: str, check: Check) -> None:
    automaton = trained(name)
    side = automaton.height
    found = by_sets(question(automaton, side, side))
    said = f"confirmed: every start is right from step {found.from_step} on\n"
    assert check(write_certificate(automaton, found), path(name), checker="sets.py") == (True, said)


def flip_gate(proof: dict[str, Any]) -> None:
    proof["circuit"]["gates"][-1]["op"] = "FALSE"


def flip_target(proof: dict[str, Any]) -> None:
    first = proof["target"][0]
    first[0][1] ^= 1


def skip_a_step(proof: dict[str, Any]) -> None:
    del proof["states"][3]
    proof["from_step"] -= 1


def stop_early(proof: dict[str, Any]) -> None:
    del proof["states"][-1]
    proof["from_step"] -= 1


def know_too_much(proof: dict[str, Any]) -> None:
    proof["sets"][1] = proof["sets"][1].replace("?", "0", 1)


def other_wires(proof: dict[str, Any]) -> None:
    proof["circuit"]["gates"][0]["a"] = -1


def a_smaller_grid(proof: dict[str, Any]) -> None:
    proof["height"] -= 1


FORGERIES = (
    flip_gate,
    flip_target,
    skip_a_step,
    stop_early,
    know_too_much,
    other_wires,
    a_smaller_grid,
)


@pytest.mark.parametrize("forge", FORGERIES)
def test_forgeries_are_not_confirmed(forge: Callable[[dict[str, Any]], None], check: Check) -> None:
    from difflogic.proof.files import circuit_hash

    proof = json.loads(certificate(trained("checkerboard-seed-2")))
    forge(proof)
    proof["circuit_sha256"] = circuit_hash(proof["circuit"])
    confirmed, said = check(json.dumps(proof), checker="sets.py")
    assert not confirmed
    assert "NOT CONFIRMED" in said


@pytest.mark.parametrize("seed", range(3))
def test_random_damage_is_not_confirmed(seed: int, check: Check) -> None:
    """One unknown cell's channel, claimed to be known a step too soon."""
    proof = json.loads(certificate(trained("checkerboard-seed-3")))
    rng = np.random.default_rng(seed)
    step = int(rng.integers(1, 4))
    cells = [n for count, n in proof["states"][step] for _ in range(count)]
    place = int(rng.choice([i for i, n in enumerate(cells) if "?" in proof["sets"][n]]))
    signs = list(proof["sets"][cells[place]])
    unknown = rng.choice([i for i, sign in enumerate(signs) if sign == "?"])
    signs[unknown] = str(rng.integers(0, 2))
    proof["sets"].append("".join(signs))
    cells[place] = len(proof["sets"]) - 1
    proof["states"][step] = [[1, n] for n in cells]
    confirmed, said = check(json.dumps(proof), checker="sets.py")
    assert not confirmed
    assert "a step leads into the next sets" in said


def test_another_circuit_is_told(check: Check) -> None:
    text = certificate(trained("checkerboard-seed-1"))
    confirmed, said = check(text, path("checkerboard-seed-2"), checker="sets.py")
    assert not confirmed
    assert "it is of another circuit" in said


def test_only_sets_leave_states() -> None:
    automaton = trained("checkerboard-seed-1")
    with pytest.raises(CircuitError, match="it is open"):
        write_certificate(automaton, by_sets(question(automaton, 9, 9)))
    found = decide(question(automaton, 9, 9))
    assert found.verdict is Verdict.refuted
    with pytest.raises(CircuitError, match="decided by a run"):
        write_certificate(automaton, found)
