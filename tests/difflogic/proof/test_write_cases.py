"""Proofs by all cases as files, confirmed by the checker that docs/checkers.md prints.

And by both checkers what is shipped: a certificate of each circuit of the gallery.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from difflogic.circuit.gates import Op
from difflogic.evaluation.assurance import Assurance
from difflogic.library.certifying import Certified, certify
from difflogic.library.loading import Loaded
from difflogic.model.automaton import Automaton
from difflogic.proof import files
from difflogic.proof.convergence import Verdict
from difflogic.tasks import Cases
from tests.difflogic.evaluation.naive import blinker
from tests.difflogic.proof.conftest import Check
from tests.difflogic.proof.convergence.trained import trained

GALLERY = Path(__file__).parents[3] / "docs" / "gallery"


def written(name: str, folder: Path) -> tuple[str, Certified]:
    """The certificate of a circuit of the gallery."""
    found = certify(GALLERY / f"{name}.json", task=name)
    assert found.proved
    found.save(folder / "written.json", force=True)
    return (folder / "written.json").read_text(), found


@pytest.mark.parametrize("name", ["checkerboard", "checkerboard-async"])
def test_a_shipped_certificate_of_sets_is_confirmed(name: str, folder: Path, check: Check) -> None:
    text, found = written(name, folder)
    said = f"confirmed: every start is right from step {found.findings[0].from_step} on\n"
    assert check(text, GALLERY / f"{name}.json", checker="sets.py") == (True, said)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("game-of-life", "right at step 1 from all 512 starts"),
        ("letter-g", "right at step 15 from 1 start"),
    ],
)
def test_a_shipped_proof_by_all_cases_is_confirmed(
    name: str, said: str, folder: Path, check: Check
) -> None:
    text, _ = written(name, folder)
    confirmed, found = check(text, GALLERY / f"{name}.json", checker="quick.py")
    assert confirmed
    assert found.startswith(f"confirmed: {said}")


@pytest.fixture(scope="module")
def life(folder: Path) -> dict[str, Any]:
    proof: dict[str, Any] = json.loads(written("game-of-life", folder)[0])
    return proof


def spread(lines: list[list[int]]) -> np.ndarray:
    return np.repeat([bit for _, bit in lines], [count for count, _ in lines]).reshape(3, 3)


def test_the_cases_of_life_are_its_512_boards(life: dict[str, Any]) -> None:
    assert (life["what"], life["boundary"], life["steps"]) == ("all 512 boards", "periodic", 1)
    starts = [spread(start) for (start,), _ in life["cases"]]
    assert len({start.tobytes() for start in starts}) == 512
    for start, (_, (target,)) in zip(starts, life["cases"], strict=True):
        around = start.sum() - start  # on a torus of 3×3 cells all others are neighbours
        np.testing.assert_array_equal(spread(target), (around == 3) | (around == 2) & (start == 1))


def flip_gate(proof: dict[str, Any]) -> None:
    proof["circuit"]["gates"][-1]["op"] = "FALSE"


def flip_target(proof: dict[str, Any]) -> None:
    proof["cases"][77][1] = [[[9, 1]]]


def flip_start(proof: dict[str, Any]) -> None:
    proof["cases"][77][0] = [[[9, 1]]]


def other_wires(proof: dict[str, Any]) -> None:
    proof["circuit"]["gates"][0]["a"] = -1


def a_smaller_grid(proof: dict[str, Any]) -> None:
    proof["height"] -= 1


def more_steps(proof: dict[str, Any]) -> None:
    proof["steps"] = 2


def no_step(proof: dict[str, Any]) -> None:
    proof["steps"] = 0


def a_cell_short(proof: dict[str, Any]) -> None:
    proof["cases"][0][0] = [[[8, 0]]]


FORGERIES = (
    flip_gate,
    flip_target,
    flip_start,
    other_wires,
    a_smaller_grid,
    more_steps,
    no_step,
    a_cell_short,
)


@pytest.mark.thorough
@pytest.mark.parametrize("forge", FORGERIES)
def test_forgeries_are_not_confirmed(
    forge: Callable[[dict[str, Any]], None], life: dict[str, Any], check: Check
) -> None:
    proof = json.loads(json.dumps(life))
    forge(proof)
    proof["circuit_sha256"] = files.circuit_hash(proof["circuit"])
    confirmed, said = check(json.dumps(proof))
    assert not confirmed
    assert "NOT CONFIRMED" in said


def test_another_circuit_is_told(life: dict[str, Any], check: Check) -> None:
    confirmed, said = check(json.dumps(life), GALLERY / "checkerboard.json")
    assert not confirmed
    assert "it is of another circuit" in said
    proof = json.loads(json.dumps(life))
    flip_gate(proof)
    assert "the circuit's hash" in check(json.dumps(proof))[1]


def test_what_stays_is_said_to_stay(check: Check) -> None:
    """A checkerboard from one of its starts, as if it were the only one."""
    from difflogic.config import load_config
    from difflogic.tasks import make_task

    task = make_task(load_config("checkerboard", ["task.height=8", "task.width=8"]))
    start, target = task.draw(np.random.default_rng(0))
    automaton: Automaton = trained("checkerboard-seed-1")
    cases = Cases("one start", start[None], target[None], "zero", 20, "")
    said = "confirmed: right at step 20 from 1 start, and at every later step\n"
    assert check(files.write_cases(automaton, cases)) == (True, said)


def test_a_circuit_that_could_be_folded_stays_as_it_is(folder: Path, check: Check) -> None:
    """Another gate, a constant, is in the file, and so in the proof."""
    file = folder / "longer.json"
    circuit = json.loads((GALLERY / "game-of-life.json").read_text())
    circuit["gates"].append({"op": "TRUE", "a": 0, "b": 0})
    file.write_text(json.dumps(circuit))
    certify(file, task="game-of-life").save(folder / "longer-proof.json", force=True)
    confirmed, said = check((folder / "longer-proof.json").read_text(), file)
    assert (confirmed, said) == (True, "confirmed: right at step 1 from all 512 starts\n")


def test_a_model_is_written_without_what_does_not_matter(folder: Path, check: Check) -> None:
    """Those gates are left that the visible channel depends on."""
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
