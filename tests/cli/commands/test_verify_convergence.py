"""`dct verify convergence`: verdicts, exit codes and files."""

import json
import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from difflogic.circuit.gates import Op
from difflogic.config import load_config
from difflogic.formats.circuit_file import read_circuit, write_circuit
from difflogic.model.model import Model
from difflogic.proof import prover
from difflogic.proof.convergence import methods
from difflogic.system.errors import ConfigError
from difflogic.tasks import make_task
from difflogic.tasks.checkerboard import Checkerboard
from tests.difflogic.circuit.circuits import automaton_of, circuit_of
from tests.difflogic.library.test_signals import tough_checkerboard
from tests.difflogic.proof.convergence.brute import step_all
from tests.difflogic.proof.convergence.trained import path
from tests.marks import exhaustive
from tests.paths import DOCS, GALLERY

SEED_1 = str(path("checkerboard-seed-1"))
SEED_2 = str(path("checkerboard-seed-2"))


@pytest.fixture
def verify(dct):
    """Run `dct verify convergence` of a circuit with options in one text."""
    return lambda *words: dct("verify convergence", *words)


def test_proved(verify):
    result = verify(f"{SEED_1} --task checkerboard -o c.json").good
    head, line = result.stdout.splitlines()[:2]
    assert head.split()[:2] == ["grid", "verdict"]
    assert line.split()[:7] == ["16×16", "proved", "sets", "of", "values", "step", "18"]
    assert "again after any damage" in result.stdout
    assert result.stderr.endswith("saved c.json\n")
    proof = json.loads(Path("c.json").read_text())
    assert (proof["format"], proof["question"]["step"]) == ("dct-certificate", 18)


def test_json_of_several_sizes(verify):
    result = verify(
        f"{SEED_1} --task checkerboard --size 16x16 --size 32x32 --size 9x9 --json"
    ).failed
    first, second, third = result.json["findings"]
    assert (first["verdict"], first["from_step"], first["any_schedule"]) == ("proved", 18, True)
    assert (second["verdict"], second["from_step"], second["unknown_cells"]) == ("proved", 34, 0)
    assert (third["verdict"], third["from_step"]) == ("refuted", None)
    assert len(third["counterexample"]["start"]) == len(third["channels"])
    assert all(attempt["seconds"] >= 0 for attempt in third["attempts"])


def test_a_refutation_is_shown_and_no_certificate_written(verify):
    result = verify(f"{SEED_1} --task checkerboard --size 9x9 -o c.json").failed
    assert re.search(r"9×9: a state with \d+ wrong cells repeats at every step", result.stdout)
    assert "c.json was not written: there is no proof" in result.stderr
    assert not Path("c.json").exists()


def test_an_open_question_is_shown(verify, monkeypatch):
    monkeypatch.setattr(prover, "METHODS", (methods.SETS,))
    result = verify(f"{SEED_2} --task checkerboard --size 9x9").failed
    assert "open" in result.stdout
    assert "9×9: not decided (sets of values: too coarse)" in result.stdout


def test_without_a_task_the_target_is_what_zeros_end_in(verify):
    assert "the state that a start of zeros ends in" in verify(f"{SEED_1} --size 9x9").good.stdout


@pytest.fixture
def sources(tmp_path):
    """Circuits by their names: an untrained model of Life, and two of one gate."""
    made = {"life": tmp_path / "life.npz", "checkerboard": SEED_1}
    Model.create(load_config("game-of-life-small", ["training.epochs=1"])).save(made["life"])
    for name, op in (("blinker", Op.NOT_A), ("ones", Op.TRUE)):
        made[name] = tmp_path / f"{name}.json"
        made[name].write_text(write_circuit(automaton_of(circuit_of([(op, 4, 4)], [9]))))
    return {name: str(path) for name, path in made.items()}


def test_a_proof_for_every_size_without_a_certificate(verify):
    result = verify(f"{GALLERY}/flood.json --task flood -o c.json").failed
    said, asked = result.stdout.splitlines()
    assert said.startswith("proved for every grid")
    assert asked.startswith("asked: ")
    assert "c.json was not written: " in result.stderr
    assert "there is no certificate to write" in result.stderr


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        ("checkerboard", "--size 4096x4096", "from 1 to 256"),
        ("checkerboard", "--task chess", "chess"),
        ("checkerboard", "--task torus.toml", "its boundary is periodic, but that of"),
        ("checkerboard", "--task letter-g", "compares 0-2"),
        ("checkerboard", "-o d.json --size 8x8 --size 9x9", "one grid"),
        ("blinker", "", "use --task to name an experiment"),
        ("ones", "--all-sizes", "zero boundary"),
        ("ones", "--margin 2", "give its side"),
        ("life", "--size 9x9", "no target that every start should end in"),
        ("life", "--task checkerboard", "has a task of its own"),
    ],
)
def test_refusals(verify, sources, source, options, said):
    config = load_config("checkerboard", ["automaton.boundary=periodic"])
    Path("torus.toml").write_text(config.to_toml(), "utf-8")
    assert said in verify(sources[source], options).refusal


def test_all_cases_are_refuted_and_proved(verify, sources):
    result = verify(sources["life"], "-o c.json").failed
    assert "fails on" in result.stdout
    assert "c.json was not written: there is no proof" in result.stderr
    found = verify(sources["life"], "--json").json["assurance"]
    assert (found["verdict"], found["scope"]) == ("refuted", "every case")
    Path("c.json").write_text("mine")
    assert verify(f"{GALLERY}/game-of-life.json --task game-of-life -o c.json --force").good
    assert json.loads(Path("c.json").read_text())["format"] == "dct-cases"


def test_every_size(verify, tmp_path):
    """The hand-written rule is right everywhere, a circuit that knows one grid is not."""
    tough = tmp_path / "tough.json"
    tough.write_text(write_circuit(tough_checkerboard()))
    result = verify(f"{tough} --task checkerboard-async --damage 4 --margin 1").good
    assert "All sizes: proved for every start on every grid." in result.stdout
    assert "Damage: a wound of 4×4 zeroed cells at least 1 cell from" in result.stdout
    found = verify(f"{tough} --task checkerboard-async --damage 4 --contents any --json")
    assert (found.exit_code, found.json["damage"]["verdict"]) == (1, "refuted")
    found = verify(f"{SEED_1} --task checkerboard --all-sizes --json").failed
    everywhere = found.json["every_size"]
    assert (everywhere["verdict"], everywhere["from_step"]) == ("refuted", {})


@pytest.mark.parametrize(
    ("period", "last", "found"), [(4, 99, 4), (4, 31, None), (6, 99, None), (0, 99, None)]
)
def test_the_period_of_a_custom_task(period, last, found):
    """Its target has squares of 2×2 cells, up to a side of `last`."""

    class Squares(Checkerboard):
        source = "squares.py"
        lasting_period = period

        @property
        def lasting_target(self):
            return super().lasting_target * (self.height <= last)

    config = load_config("checkerboard")
    task = Squares(config.task, config.automaton)
    refusal = pytest.raises(ConfigError, match="lasting_period")
    with nullcontext() if found else refusal:
        assert task.find_lasting_period(32) == found


@pytest.mark.parametrize("square", [2, 16])
def test_a_target_that_differs_far_out(verify, tmp_path, square):
    """A circuit of zeros shows a large square, but no checkerboard."""
    circuit = tmp_path / "zeros.json"
    experiment = tmp_path / "squares.toml"
    zeros = replace(automaton_of(circuit_of([(Op.FALSE, 4, 4)], [9])), boundary="zero")
    circuit.write_text(write_circuit(zeros))
    config = load_config("checkerboard", [f"task.square={square}"])
    experiment.write_text(config.to_toml(), "utf-8")
    result = verify(str(circuit), f"--task {experiment} --all-sizes --size 16x16")
    assert ("proved" in result.stdout.splitlines()[1]) == (square == 16)
    assert "All sizes: fails" in result.stdout or "All sizes: not proved" in result.stdout


@pytest.mark.thorough
@pytest.mark.parametrize("file", ["letter-g-hold", "lizard-small", exhaustive("lizard-heal")])
def test_shipped_pictures(verify, file):
    """By proof, cell by cell, and by damages that no proof tried: any cells, at any time."""
    source = DOCS / f"{file}.json"
    task = f"{file.removesuffix('-hold').removesuffix('-heal')}-heal"
    said = verify(f"{source} --task {task}").stdout
    grown, regrown, cases = map(int, re.findall(r"\d+", said.splitlines()[0]))
    healed = re.findall(r"(\d+) of \1  (\d+) steps", said)
    assert sum(int(number) for number, _ in healed) == cases
    assert max(int(steps) for _, steps in healed) == regrown
    (found,) = verify(f"{source} --json").json["findings"]
    assert found["any_schedule"]
    rounds = found["from_step"]
    automaton = read_circuit(source)
    target = make_task(load_config(task)).target
    rng = np.random.default_rng(0)
    state = np.zeros((4, automaton.circuit.channels, *target.shape[1:]), np.uint8)
    for number in range(3):
        for step in range(1, rounds + 5):
            state = step_all(automaton.circuit, state, "zero")
            right = (state[:, list(automaton.visible_rows)] == target).all()
            assert right == (step >= grown) if not number else right or step < rounds
        # Every start ends in the target, whatever was damaged.
        hurt = rng.random((4, 1, *target.shape[1:])) < 0.4
        state = np.where(hurt, rng.integers(0, 2, state.shape, np.uint8), state)
