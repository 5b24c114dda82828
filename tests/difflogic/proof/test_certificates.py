"""Proof files: the checkers of docs/checkers.md confirm all that are written, and no forgeries."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from subprocess import run
from typing import Any

import numpy as np
import pytest

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.circuit.specification import Cases
from difflogic.config import load_config
from difflogic.evaluation.assurance import question_of
from difflogic.formats.circuit_file import read_circuit, write_circuit
from difflogic.library.groups import Claims
from difflogic.library.loaded import load
from difflogic.library.proving import Certified, certify
from difflogic.library.signals import rule
from difflogic.proof import decided
from difflogic.proof.answer import Budget, Confinement
from difflogic.proof.certificates import write_cases, write_certificate
from difflogic.proof.convergence.confinement import Ground, confine
from difflogic.proof.convergence.findings import Convergence
from difflogic.proof.convergence.methods import by_sets
from difflogic.proof.decided import Decided, Extent
from difflogic.proof.every_length import every_length
from difflogic.proof.question import Wound
from difflogic.proof.verdict import Verdict
from difflogic.system.array_types import Bits
from difflogic.system.errors import CircuitError, RunDirectoryError
from difflogic.tasks import make_task
from difflogic.tasks.line import ADDITION
from tests.difflogic.circuit.circuits import automaton, circuit_of
from tests.difflogic.library.test_signals import tough
from tests.difflogic.proof.asking import decide, every_size
from tests.difflogic.proof.conftest import Check
from tests.difflogic.proof.convergence.trained import checkerboard, checkerboard_question, trained
from tests.difflogic.proof.mutants import FIELDS, Pick, mutant, pair, picking, random_circuit
from tests.difflogic.proof.test_every_length import adder
from tests.paths import GALLERY

Proof = dict[str, Any]
Forge = Callable[[Proof], object]


def written(name: str, folder: Path) -> str:
    """Write the certificate of a gallery circuit; return it."""
    found = certify(GALLERY / f"{name}.json", task=name)
    assert found.proved
    found.save(folder / "written.json", force=True)
    return (folder / "written.json").read_text()


@pytest.fixture(scope="module")
def life(folder: Path) -> Proof:
    """The proof of the Game of Life by all cases."""
    return json.loads(written("game-of-life", folder))


@pytest.fixture(scope="module")
def by_all_sets() -> Proof:
    """The proof of a trained circuit on a small grid."""
    automaton = trained("checkerboard-seed-2")
    return json.loads(write_certificate(automaton, by_sets(checkerboard_question(automaton))))


@pytest.fixture(scope="module")
def of_lines() -> Proof:
    """The proof of two gates that add."""
    return json.loads(every_length(adder(), ADDITION, 2).certificate())


@pytest.fixture(scope="module")
def wounded(folder: Path) -> Proof:
    """The certificate of a rule by hand whose neighbours of a wound show an alarm for a while."""

    def rung(*cells: Sequence[Any]) -> tuple[Any, ...]:
        # On the right; only damage makes a valid cell that is not alive.
        alive, valid = cells[5][1:3]
        return *tough()(*(cell[:6] for cell in cells)), alive | ~valid

    def target(height: int, width: int) -> Bits:
        return np.concatenate([checkerboard(height, width), np.ones((1, height, width), np.uint8)])

    made = replace(rule(rung, 7, name="rung", size=(9, 9), fire_rate=0.6), visible=(0, 6))
    finding = by_sets(Convergence.of(made, target(9, 9)))
    everywhere = every_size(made, target, 4)
    asked = everywhere.table.question, Wound(3, 2, 1, zeros=False), Ground.of(everywhere.table)
    found = confine(*asked)
    assert (found.verdict, found.reach) == (Verdict.proved, 1)
    extent = Extent([(9, 9)], wound=found.wound)
    done = Certified(
        extent, (finding,), every_size=everywhere, confinement=found, source=load(made)
    )
    done.save(folder / "wounded.json")
    proof: Proof = json.loads((folder / "wounded.json").read_text())
    for other in (
        replace(done, every_size=None),
        replace(done, confinement=replace(found, synchronous=True)),
    ):
        with pytest.raises(CircuitError, match="damage on every grid, in any order of firing"):
            other.save(folder / "none.json")
    with pytest.raises(CircuitError, match="stays local on every grid: there is no such cert"):
        replace(done, confinement=Confinement(asked[1], Verdict.open)).save(folder / "none.json")
    return proof


def test_a_certificate_about_damage_is_confirmed(wounded: Proof, check: Check) -> None:
    rounds = wounded["damage"]["rounds"]
    confirmed, output = check(wounded, checker="damage.py")
    assert confirmed
    assert output.startswith("confirmed: every start shows the target")
    assert output.endswith(
        "confirmed: a wound of 3×3 cells, any, 1 or more from the edges, makes no cell wrong that "
        f"is more than 1 away, and none after round {rounds}, whichever cells fire, for all "
        "m and n; m×n cells, zero boundary, every fair schedule, visible 0, 6; no circuit file was "
        "compared\n"
    )


EVERY_START = "every start shows the target in the proof from "
SHIPPED = {
    "checkerboard": f"{EVERY_START}step 16 on; 16×16 cells, zero boundary, all cells at each step",
    "checkerboard-async": f"{EVERY_START}round 15 on; 14×14 cells, zero boundary, every fair sched",
    "game-of-life": "step 1 shows the targets in the proof, from all 512 starts of channel 0",
    "letter-g": "step 15 shows the targets in the proof, from its own start, zeros",
}


@pytest.mark.once
@pytest.mark.parametrize("name", SHIPPED)
def test_the_certificates_of_shipped_circuits_are_confirmed(name: str, folder: Path) -> None:
    """By a checker alone, in a process without packages."""
    checker = "check.py" if name.startswith("checker") else "cases.py"
    written(name, folder)
    arguments = ["-S", "-E", checker, "written.json", GALLERY / f"{name}.json"]
    done = run([sys.executable, *arguments], cwd=folder, capture_output=True, timeout=300)
    assert done.stdout.decode().startswith(f"confirmed: {SHIPPED[name]}")


def skip_a_step(proof: Proof, step: int) -> None:
    del proof["states"][step]
    proof["question"]["step"] -= 1


def asked(**fields: object) -> Forge:
    return lambda proof: proof["question"].update(fields)


def shown_nowhere(proof: Proof) -> None:
    proof["circuit"]["visible"] = proof["question"]["visible"] = proof["target"] = []


def no_cells(proof: Proof) -> None:
    asked(height=0, width=0)(proof)
    proof["states"], proof["target"] = [[] for _ in proof["states"]], [[]]


def fired_at_random(proof: Proof) -> None:
    proof["circuit"]["fire_rate"] = 0.5
    asked(fire_rate=0.5, unit="round", schedule="every fair schedule")(proof)


def agreed(**fields: object) -> Forge:
    return lambda proof: (proof["circuit"].update(fields), proof["question"].update(fields))


BOTH: dict[str, Forge] = {
    "another gate": lambda proof: proof["circuit"]["gates"][-1].update(op="FALSE"),
    "a smaller grid": lambda proof: asked(height=proof["question"]["height"] - 1)(proof),
    "negative sides, where each neighbour is outside": asked(height=-4, width=-4),
    "another claim": asked(claim="holds"),
    "healing": asked(damages=9),
    "rounds for steps": asked(unit="round"),
    "any schedule": asked(schedule="every schedule"),
    "the boundary of the proof": asked(boundary="?"),
    "no boundary that exists": agreed(boundary="?"),
    "a number twice": lambda proof: proof["circuit"].update(channels=[0, 0]),
}
OF_SETS: dict[str, Forge] = BOTH | {
    "another target": lambda proof: proof["target"][0][0].__setitem__(1, 1),
    "a start left out": lambda proof: skip_a_step(proof, 0),
    "a step left out": lambda proof: skip_a_step(proof, 3),
    "more known": lambda proof: proof["sets"].__setitem__(1, proof["sets"][1].replace("?", "0", 1)),
    "no cells": no_cells,
    "other signs": lambda proof: proof["sets"].append("x" * len(proof["sets"][0])),
    "nothing shown": shown_nowhere,
    "fewer starts": asked(starts="zeros"),
}
OF_CASES: dict[str, Forge] = BOTH | {
    "another target": lambda proof: proof["cases"][77].__setitem__(1, [[[9, 1]]]),
    "more steps": asked(step=2),
    "copies of a start": lambda proof: proof.update(cases=512 * proof["cases"][:1]),
    "a channel more": lambda proof: [case[0].append(case[0][0]) for case in proof["cases"]],
    "one start as three": lambda proof: proof.update(
        cases=[[[[[9, bit]]], [[[9, 0]]]] for bit in (0, False, 0.0)]
    ),
    "two starts as all": lambda proof: (
        proof.update(cases=proof["cases"][:2]),
        asked(starts="all 2 starts of channel 0")(proof),
    ),
    "cells that fire at random": fired_at_random,
    "every start": asked(starts="every start"),
}


def due(step: str, **parts: object) -> Forge:
    return lambda proof: (proof.update(parts), asked(step=step)(proof))


def cut(columns: int) -> Forge:
    return lambda proof: [
        rows.__setitem__(slice(None), [row[:columns] for row in rows])
        for rows in proof["machine"].values()
    ]


OF_LINES: dict[str, Forge] = {
    "another machine": lambda proof: proof["machine"]["prints"][0].sort(),
    "sooner": due("n", delay=1),
    "another step": due("n"),
    "no carry": lambda proof: proof["first"].pop("1"),
    "a history less": lambda proof: proof["histories"][0].popitem(),
    "another circuit": lambda proof: proof["circuit"]["outputs"].reverse(),
    "two channels shown": agreed(visible=[1, 0]),
    "a ring": agreed(boundary="periodic"),
    "never 1 + 1": cut(3),
}


def damage(**fields: object) -> Forge:
    return lambda proof: proof["damage"].update(fields)


def settled_nowhere(proof: Proof) -> None:
    """Leave out the last row of the small grids."""
    cells = proof["damage"]["settled"]
    for _ in range(11 * 12 // 2):
        cells[-1][0] -= 1
        if not cells[-1][0]:
            cells.pop()


OF_DAMAGE: dict[str, Forge] = {
    key: OF_SETS[key]
    for key in (
        "another gate",
        "healing",
        "another claim",
        "another target",
        "a step left out",
        "fewer starts",
    )
} | {
    "another step": asked(step=1),
    "sooner": lambda proof: damage(
        arrivals=[[max(1, t - 1) for t in each] for each in proof["damage"]["arrivals"]]
    )(proof),
    "other delays": damage(delays=[0, 0]),
    "a period that is too long": damage(period=9),
    "many small grids": damage(first=64, period=60),
    "a smaller distance": damage(within=0),
    "no cell wrong outside": damage(reach=0),
    "a round less": lambda proof: damage(rounds=proof["damage"]["rounds"] - 1)(proof),
    "at the edges, too": damage(margin=0),
    "small grids left out": settled_nowhere,
    "another period": damage(period=3),
    "other contents": damage(contents="ones"),
    "another settled state": lambda proof: proof["damage"]["settled"][-1].__setitem__(1, 0),
}
FORGERIES = {
    "check.py": ("by_all_sets", OF_SETS),
    "cases.py": ("life", OF_CASES),
    "lines.py": ("of_lines", OF_LINES),
    "damage.py": ("wounded", OF_DAMAGE),
}


@pytest.mark.parametrize(
    ("checker", "what"),
    [(checker, what) for checker in FORGERIES for what in FORGERIES[checker][1]],
)
def test_forgeries_are_not_confirmed(
    checker: str, what: str, request: pytest.FixtureRequest, check: Check
) -> None:
    valid, forges = FORGERIES[checker]
    proof = deepcopy(request.getfixturevalue(valid))
    forges[what](proof)
    confirmed, output = check(proof, checker=checker)
    assert not confirmed
    assert output.startswith("NOT CONFIRMED: ")


def test_a_key_that_appears_twice_is_refused(life: Proof, check: Check) -> None:
    text = json.dumps(life).replace('"version": 2', '"version": 2, "version": 2', 1)
    assert check(text) == (False, "NOT CONFIRMED: no key appears twice")


def test_a_proof_says_where_it_holds(folder: Path, check: Check) -> None:
    """A proof for one cell is no proof for the circuit's own grid."""
    certify(GALLERY / "checkerboard.json", Claims([(1, 1)])).save(folder / "one.json", force=True)
    confirmed, output = check((folder / "one.json").read_text(), checker="check.py")
    assert confirmed
    assert "; 1×1 cells (its own are 16×16), zero boundary, all cells at each step" in output
    assert output.endswith("visible 0; no circuit file was compared\n")


def test_a_rule_is_named_by_its_targets(life: Proof, check: Check) -> None:
    """All boards with other targets are no proof of Life."""
    proof = deepcopy(life)
    asked = [proof["question"][key] for key in ("starts", "boundary", "step", "held")]
    assert asked == ["all 512 starts of channel 0", "periodic", 1, []]
    proof["circuit"]["gates"][-1]["op"] = "FALSE"
    proof["circuit"]["outputs"] = [9 + len(proof["circuit"]["gates"]) - 1]
    for case in proof["cases"]:
        case[1] = [[[9, 0]]]
    assert "those of the rule B/S; 3×3 cells" in check(proof)[1]
    assert "those of the rule B3/S23; 3×3 cells" in check(life)[1]


def test_cases_of_other_runs_are_not_written() -> None:
    """At half the fire rate, the Game of Life is not what all boards at each step prove."""
    task = make_task(load_config("game-of-life"))
    cases = task.find_cases()
    made = read_circuit(GALLERY / "game-of-life.json")
    for change in ({"fire_rate": 0.5}, {"boundary": "zero"}):
        with pytest.raises(CircuitError, match="the cases are of all cells at each step and a per"):
            write_cases(replace(made, **change), cases)


@pytest.mark.parametrize("most", [2**22, 0])
def test_cases_that_a_file_cannot_hold_are_not_written(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("difflogic.proof.certificates.MOST_VALUES", most)
    made = read_circuit(GALLERY / "game-of-life.json")
    targets = np.zeros((2, 1, 3, 3))
    targets[1, 0, 0, 0] = np.nan if most else 0
    cases = Cases("two", np.zeros((2, 1, 3, 3), np.uint8), targets, "periodic", 1, "")
    with pytest.raises(CircuitError, match="do not count" if most else "too many for a file"):
        write_cases(made, cases)


def test_another_circuit_is_noticed(life: Proof, check: Check) -> None:
    confirmed, output = check(life, GALLERY / "checkerboard.json")
    assert not confirmed
    assert "it is of another circuit" in output


def test_only_proofs_by_sets_are_certificates() -> None:
    automaton = trained("checkerboard-seed-1")
    question = checkerboard_question(automaton, 9, 9)
    with pytest.raises(CircuitError, match="it is open"):
        write_certificate(automaton, by_sets(question))
    found = decide(question)
    assert found.verdict is Verdict.refuted
    with pytest.raises(CircuitError, match="decided by a run"):
        write_certificate(automaton, found)


def test_a_lasting_target_is_reported(check: Check) -> None:
    task = make_task(load_config("checkerboard", ["task.height=8", "task.width=8"]))
    start, target = task.draw(np.random.default_rng(0))
    cases = Cases("one start", start[None], target[None], "zero", 20, "")
    confirmed, output = check(write_cases(trained("checkerboard-seed-1"), cases))
    assert confirmed
    assert "step 20 shows the targets in the proof, from 1 listed start, and at every" in output


def test_a_proof_by_cases_keeps_unneeded_gates(folder: Path, check: Check) -> None:
    file = folder / "longer.json"
    circuit = json.loads((GALLERY / "game-of-life.json").read_text())
    circuit["gates"].append({"op": "TRUE", "a": 0, "b": 0})
    file.write_text(json.dumps(circuit))
    certify(file, task="game-of-life").save(folder / "longer-proof.json", force=True)
    confirmed, output = check((folder / "longer-proof.json").read_text(), file)
    assert confirmed, output


@pytest.mark.parametrize("op", [Op.A_OR_NOT_B, Op.AND])
def test_a_proof_of_fewer_gates_comes_with_their_circuit(
    tmp_path: Path, check: Check, op: Op
) -> None:
    """A gate that reads one row twice is a constant, or passes it on."""
    made = automaton(circuit_of([(op, 1, 1)], [9]), boundary="zero", height=2, width=3)
    file = tmp_path / "made.json"
    file.write_text(write_circuit(made))
    beside = certify(file).save(tmp_path / "proof.json")
    assert beside == tmp_path / "proof.circuit.json"
    proof = (tmp_path / "proof.json").read_text()
    assert check(proof, beside, checker="check.py")[0]
    assert "another circuit" in check(proof, file, checker="check.py")[1]
    again = certify(beside)
    assert again.save(tmp_path / "again.json") is None
    assert (tmp_path / "again.json").read_text() == proof
    with pytest.raises(RunDirectoryError, match="--force"):
        again.save(tmp_path / "again.json")


COPY = circuit_of([], [0])
NOR = circuit_of([(Op.NOR, 5, 7)], [9])
FOLDED = circuit_of([(Op.A_OR_NOT_B, 1, 1)], [9])

REFUSALS = (
    "never settles, so there is no target",
    "a certificate file lists the sets after each step: this answer has none, it was decided by",
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
        asked = (made, question_of(made, task), Extent(), Budget())
        return made, decided.decide(*asked, lambda same, _: same)
    seen = ((0, 1, 3, 4), (1, 2, 4, 5)) if kind == "sides" else ((0, 2, 3, 4, 7), range(9))
    channels = pick((1, 1, 2, 2, 3))
    circuit = random_circuit(pick, channels, pick((*seen, (1, 3, 4, 5, 7))))
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
@pytest.mark.parametrize("kind", ["sets", "damage", "cases", "lines", "sides"])
@pytest.mark.parametrize(
    "count", [8, pytest.param(500, marks=[pytest.mark.exhaustive, pytest.mark.slow])]
)
def test_what_is_written_is_confirmed(kind: str, count: int, check: Check) -> None:
    pick = picking(count)
    known = Counter[str]()
    while known["confirmed"] < count:
        try:
            made, found = drawn(pick, kind)
            if not found.proved:
                continue
            proof = found.certificate(made, reduced=False)
        except CircuitError as error:
            reasons = [each for each in REFUSALS if each in str(error)]
            known[reasons[0]] += 1
            continue
        checker = CHECKERS[json.loads(proof)["format"]]
        checker = "damage.py" if kind == "damage" else checker
        confirmed, output = check(proof, checker=checker)
        assert confirmed, output + proof
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
    circuit: Circuit, rate: float, claims: Claims, ends: str, check: Check
) -> None:
    """Rows that repeat overlap; a picture hangs on the lower right corner; x ∨ ¬x is folded."""
    made = Automaton("drawn", circuit, (0,), "zero", 4, 5, 60, rate, "zeros")
    proof = certify(made, claims).certificate(made, reduced=False)
    confirmed, output = check(proof, checker="damage.py" if claims.damage else "check.py")
    assert confirmed, output
    assert ends in output
