"""Proof files: the checkers of docs/checkers.md confirm them, and no forgeries."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from difflogic.circuit.gates import Op
from difflogic.circuit.specification import Cases
from difflogic.config import load_config
from difflogic.evaluation.assurance import Assurance
from difflogic.library.certifying import Certified, certify
from difflogic.library.loading import Loaded
from difflogic.proof.convergence import Verdict, by_sets, decide
from difflogic.proof.files import circuit_hash, write_cases, write_certificate
from difflogic.system.errors import CircuitError
from difflogic.tasks import make_task
from tests.difflogic.evaluation.naive import blinker
from tests.difflogic.proof.conftest import Check
from tests.difflogic.proof.convergence.trained import checkerboard_question, path, trained

GALLERY = Path(__file__).parents[3] / "docs" / "gallery"


def written(name: str, folder: Path) -> tuple[str, Certified]:
    """Return the certificate of a gallery circuit."""
    found = certify(GALLERY / f"{name}.json", task=name)
    assert found.proved
    found.save(folder / "written.json", force=True)
    return (folder / "written.json").read_text(), found


def by_sets_of(name: str) -> dict[str, Any]:
    """Return the certificate of a trained circuit on a small grid."""
    automaton = trained(name)
    proof: dict[str, Any] = json.loads(
        write_certificate(automaton, by_sets(checkerboard_question(automaton)))
    )
    return proof


@pytest.fixture(scope="module")
def life(folder: Path) -> dict[str, Any]:
    """The proof of the Game of Life by all cases."""
    proof: dict[str, Any] = json.loads(written("game-of-life", folder)[0])
    return proof


@pytest.mark.parametrize("name", ["checkerboard", "checkerboard-async"])
def test_a_shipped_certificate_of_sets_is_confirmed(name: str, folder: Path, check: Check) -> None:
    text, found = written(name, folder)
    output = f"confirmed: every start is right from step {found.findings[0].from_step} on\n"
    assert check(text, GALLERY / f"{name}.json", checker="sets.py") == (True, output)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("game-of-life", "right at step 1 from all 512 starts"),
        ("letter-g", "right at step 15 from 1 start"),
    ],
)
def test_a_shipped_proof_by_all_cases_is_confirmed(
    name: str, output: str, folder: Path, check: Check
) -> None:
    text, _ = written(name, folder)
    confirmed, found = check(text, GALLERY / f"{name}.json", checker="quick.py")
    assert confirmed
    assert found.startswith(f"confirmed: {output}")


def spread(lines: list[list[int]]) -> np.ndarray:
    return np.repeat([bit for _, bit in lines], [count for count, _ in lines]).reshape(3, 3)


def test_the_cases_of_life_are_its_512_boards(life: dict[str, Any]) -> None:
    assert (life["what"], life["boundary"], life["steps"]) == ("all 512 boards", "periodic", 1)
    starts = [spread(start) for (start,), _ in life["cases"]]
    assert len({start.tobytes() for start in starts}) == 512
    for start, (_, (target,)) in zip(starts, life["cases"], strict=True):
        around = start.sum() - start  # on a torus of 3×3 cells all others are neighbours
        np.testing.assert_array_equal(spread(target), (around == 3) | (around == 2) & (start == 1))


def skip_a_step(proof: dict[str, Any], step: int) -> None:
    del proof["states"][step]
    proof["from_step"] -= 1


Forge = Callable[[dict[str, Any]], object]
BOTH: dict[str, Forge] = {
    "another gate": lambda proof: proof["circuit"]["gates"][-1].update(op="FALSE"),
    "a wire from nowhere": lambda proof: proof["circuit"]["gates"][0].update(a=-1),
    "a smaller grid": lambda proof: proof.update(height=proof["height"] - 1),
}
OF_SETS: dict[str, Forge] = BOTH | {
    "another target": lambda proof: proof["target"][0][0].__setitem__(1, 1),
    "a step left out": lambda proof: skip_a_step(proof, 3),
    "the last step left out": lambda proof: skip_a_step(proof, -1),
    "more known": lambda proof: proof["sets"].__setitem__(1, proof["sets"][1].replace("?", "0", 1)),
}
OF_CASES: dict[str, Forge] = BOTH | {
    "another target": lambda proof: proof["cases"][77].__setitem__(1, [[[9, 1]]]),
    "more steps": lambda proof: proof.update(steps=2),
}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("checker", "forge"),
    [
        *(pytest.param("sets.py", forge, id=f"sets, {name}") for name, forge in OF_SETS.items()),
        *(pytest.param("cases.py", forge, id=f"cases, {name}") for name, forge in OF_CASES.items()),
    ],
)
def test_forgeries_are_not_confirmed(
    checker: str, forge: Forge, life: dict[str, Any], check: Check
) -> None:
    proof = by_sets_of("checkerboard-seed-2") if checker == "sets.py" else life
    proof = json.loads(json.dumps(proof))
    forge(proof)
    proof["circuit_sha256"] = circuit_hash(proof["circuit"])
    confirmed, output = check(json.dumps(proof), checker=checker)
    assert not confirmed
    assert "NOT CONFIRMED" in output


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
def test_random_damage_is_not_confirmed(seed: int, check: Check) -> None:
    """Claim that one unknown bit is known."""
    proof = by_sets_of("checkerboard-seed-3")
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
    confirmed, output = check(json.dumps(proof), checker="sets.py")
    assert not confirmed
    assert "a step leads into the next sets" in output


def test_another_circuit_is_noticed(life: dict[str, Any], check: Check) -> None:
    of_sets = json.dumps(by_sets_of("checkerboard-seed-1"))
    for confirmed, output in (
        check(json.dumps(life), GALLERY / "checkerboard.json"),
        check(of_sets, path("checkerboard-seed-2"), checker="sets.py"),
    ):
        assert not confirmed
        assert "it is of another circuit" in output
    changed = life | {"circuit_sha256": "0" * 64}
    assert "the circuit's hash" in check(json.dumps(changed))[1]


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
    output = "confirmed: right at step 20 from 1 start, and at every later step\n"
    assert check(write_cases(trained("checkerboard-seed-1"), cases)) == (True, output)


def test_a_proof_by_cases_keeps_unneeded_gates(folder: Path, check: Check) -> None:
    file = folder / "longer.json"
    circuit = json.loads((GALLERY / "game-of-life.json").read_text())
    circuit["gates"].append({"op": "TRUE", "a": 0, "b": 0})
    file.write_text(json.dumps(circuit))
    certify(file, task="game-of-life").save(folder / "longer-proof.json", force=True)
    confirmed, output = check((folder / "longer-proof.json").read_text(), file)
    assert (confirmed, output) == (True, "confirmed: right at step 1 from all 512 starts\n")


def test_a_models_proof_has_only_needed_gates(folder: Path, check: Check) -> None:
    model = blinker(Op.NAND, "automaton.steps=2")
    task, channels = model.config.task, model.config.automaton.channels
    starts, targets = (
        np.zeros((1, count, task.height, task.width), np.uint8) for count in (channels, 1)
    )
    cases = Cases("zeros", starts, targets, model.config.automaton.boundary, 2, "")
    proved = Assurance(Verdict.proved, "the only start", "proved at step 2")
    found = Certified(Loaded("blinker", model), (), proved, cases)
    found.save(folder / "model-proof.json", force=True)
    proof = json.loads((folder / "model-proof.json").read_text())
    assert len(proof["circuit"]["gates"]) < model.netlist.gates
    assert check(json.dumps(proof))[0]
