"""Certificates of drawn circuits: the printed checkers confirm each that is written."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.evaluation.assurance import question_of
from difflogic.library.groups import Claims
from difflogic.library.proving import certify
from difflogic.proof.answer import Budget
from difflogic.proof.strategy import Decided, Extent, decide
from difflogic.system.errors import CircuitError
from tests.difflogic.circuit.circuits import circuit_of
from tests.difflogic.proof.conftest import Check
from tests.difflogic.proof.mutants import FIELDS, Pick, mutant, pair

COPY = circuit_of([], [0])
NOR = circuit_of([(Op.NOR, 5, 7)], [9])
FOLDED = circuit_of([(Op.A_OR_NOT_B, 1, 1)], [9])

REFUSALS = (
    "never settles, so there is no target",
    "a certificate file lists the sets after each step, but there are none: it was decided by",
    "a certificate is about damage on every grid, in any order of firing, which is not proved of",
    "there is no stronger certificate",
    "the cases are of all cells at each step and a",
)
"""Why a proof, or its certificate, is refused."""


def drawn(pick: Pick, kind: str) -> tuple[Automaton, Decided]:
    """Ask about a drawn circuit."""
    if kind in ("cases", "lines"):
        claim = "computes" if kind == "lines" else pick(("shows", "boards", "holds", "heals"))
        made, task = mutant(pick, *pair(pick, claim), pick(FIELDS))
        return made, decide(made, question_of(made, task), Extent(), Budget(), lambda same, _: same)
    seen = ((0, 1, 3, 4), (1, 2, 4, 5)) if kind == "sides" else ((0, 2, 3, 4, 7), range(9))
    channels = pick((1, 1, 2, 2, 3))
    neighbors = pick((*seen, (1, 3, 4, 5, 7)))
    rows = [n * channels + c for n in neighbors for c in range(channels)]
    gates = []
    for number in range(pick(range(1, 7))):
        gates.append((pick(range(16)), pick(rows), pick(rows)))
        rows.append(9 * channels + number)
    circuit = circuit_of(gates, [pick(rows[-4:]) for _ in range(channels)])
    shown = tuple(sorted({pick(range(channels)) for _ in range(channels)}))
    size = pick(((1, 4), (2, 2), (2, 3), (4, 5), (3, 7), (5, 5)))
    boundary = pick(("zero", "periodic")) if kind == "sets" else "zero"
    rate = pick((1.0, 1.0, 0.5))
    claims = Claims(all_sizes=kind == "sides")
    if kind == "damage":
        claims = Claims(
            damage=pick((1, 1, 2)), contents=pick(("zeros", "any")), margin=pick((0, 1, 2))
        )
    made = Automaton("drawn", circuit, shown, boundary, *size, 60, rate, "zeros")
    return made, certify(made, claims, time_limit=20)


CHECKERS = {
    "dct-certificate": "check.py",
    "dct-cases": "cases.py",
    "dct-every-length": "lines.py",
    "dct-one-side": "one_side.py",
}


@pytest.mark.once
@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["sets", "damage", "cases", "lines", "sides"])
@pytest.mark.parametrize(
    "count", [8, pytest.param(500, marks=[pytest.mark.exhaustive, pytest.mark.slow])]
)
def test_what_is_written_is_confirmed(
    kind: str, count: int, tmp_path: Path, check_here: Check
) -> None:
    rng = np.random.default_rng(count)
    path = tmp_path / "proof.json"
    known = Counter[str]()
    while known["confirmed"] < count:
        try:
            made, found = drawn(lambda values: values[int(rng.integers(len(values)))], kind)
            if not found.proved:
                continue
            path.write_text(found.certificate(made, reduced=False))
        except CircuitError as error:
            reasons = [each for each in REFUSALS if each in str(error)]
            known[reasons[0]] += 1
            continue
        checker = CHECKERS[json.loads(path.read_text())["format"]]
        checker = "damage.py" if kind == "damage" else checker
        confirmed, output = check_here(checker, str(path))
        assert confirmed, output + path.read_text()
        known.update(["confirmed", checker])
    print(kind, dict(known))


@pytest.mark.parametrize(
    ("circuit", "rate", "claims", "ends"),
    [
        (COPY, 1.0, Claims(damage=2, margin=1), "for all m and n; "),
        (NOR, 0.5, Claims(damage=1, margin=1), "where what every start ends in is right; "),
        (FOLDED, 1.0, Claims(), "from step 1 on; "),
        (FOLDED, 1.0, Claims(damage=1, contents="any"), "a wound of 1×1 cells, any, 0 or more"),
    ],
)
def test_what_was_refused_is_confirmed(
    circuit: Circuit, rate: float, claims: Claims, ends: str, tmp_path: Path, check_here: Check
) -> None:
    """Rows that repeat overlap; a picture hangs on the lower right corner; x ∨ ¬x is folded."""
    made = Automaton("drawn", circuit, (0,), "zero", 4, 5, 60, rate, "zeros")
    certify(made, claims).save(tmp_path / "proof.json")
    checker = "damage.py" if claims.damage else "check.py"
    confirmed, output = check_here(checker, str(tmp_path / "proof.json"))
    assert confirmed, output
    assert ends in output
