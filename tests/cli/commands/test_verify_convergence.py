"""`dct verify convergence`: verdicts, pictures, exit codes and files."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cli.terminal.proofs import MOST_COLUMNS, MOST_ROWS, healing_picture, state_picture
from difflogic.circuit.gates import Op
from difflogic.config import load_config
from difflogic.formats.circuit_file import read_circuit, write_circuit
from difflogic.library import certifying
from difflogic.model.model import Model
from difflogic.proof.convergence import deciding
from difflogic.system.errors import ConfigError
from difflogic.tasks import make_task
from difflogic.tasks.checkerboard import Checkerboard
from tests.difflogic.circuit.circuits import automaton_of, circuit_of
from tests.difflogic.proof.convergence.brute import step_all
from tests.difflogic.proof.convergence.trained import path

SEED_1, SEED_2 = str(path("checkerboard-seed-1")), str(path("checkerboard-seed-2"))
ASYNCHRONOUS = str(path("checkerboard-async-seed-1"))

SLOW = [
    (Op.A_AND_NOT_B, 24, 23),
    (Op.AND, 27, 29),
    (Op.A_AND_NOT_B, 45, 29),
    (Op.OR, 46, 47),
    (Op.XOR, 21, 48),
    (Op.AND, 21, 48),
    (Op.OR, 23, 50),
    (Op.A_AND_NOT_B, 51, 19),
    (Op.AND, 18, 19),
    (Op.OR, 52, 53),
    (Op.TRUE, 0, 0),
    (Op.AND, 23, 29),
]
"""A row of n cells comes to rest after some 2^n steps."""


@pytest.fixture
def verify(dct):
    """Run `dct verify convergence` of a circuit with options in one text."""
    return lambda circuit, options="": dct("verify", "convergence", circuit, *options.split())


def test_proved(verify):
    result = verify(SEED_1, "--task checkerboard -o c.json")
    assert result.exit_code == 0
    head, line = result.stdout.splitlines()[:2]
    assert head.split()[:2] == ["grid", "verdict"]
    assert line.split()[:7] == ["16×16", "proved", "sets", "of", "values", "step", "18"]
    assert "again after any damage" in result.stdout
    assert result.stderr.endswith("saved c.json\n")
    proof = json.loads(Path("c.json").read_text())
    assert (proof["format"], proof["question"]["step"]) == ("dct-certificate", 18)


def test_asynchronous_counts_rounds(verify):
    result = verify(ASYNCHRONOUS, "--task checkerboard-async")
    assert result.exit_code == 0
    assert "round 19" in result.stdout


def test_json_of_several_sizes(verify):
    result = verify(SEED_1, "--task checkerboard --size 16x16 --size 32x32 --size 9x9 --json")
    assert result.exit_code == 1
    first, second, third = result.json["findings"]
    assert (first["verdict"], first["from_step"], first["any_schedule"]) == ("proved", 18, True)
    assert (second["verdict"], second["from_step"], second["unknown_cells"]) == ("proved", 34, 0)
    assert (third["verdict"], third["from_step"]) == ("refuted", None)
    assert len(third["counterexample"]["start"]) == len(third["channels"])
    assert all(attempt["seconds"] >= 0 for attempt in third["attempts"])


def test_a_refutation_is_shown_and_no_certificate_written(verify):
    result = verify(SEED_1, "--task checkerboard --size 9x9 -o c.json")
    assert result.exit_code == 1
    assert "repeats at every step, with x and X where it is wrong" in result.stdout
    assert "  X.x#X.x#X\n" in result.stdout
    assert "c.json was not written: there is no proof" in result.stderr
    assert not Path("c.json").exists()


def test_unknown_cells_are_shown(verify, monkeypatch):
    run = deciding._Search.run
    monkeypatch.setattr(deciding._Search, "run", lambda self, *methods: run(self))
    result = verify(SEED_2, "--task checkerboard --size 9x9")
    assert result.exit_code == 1
    assert "open" in result.stdout
    assert "all starts end in this state" in result.stdout


def test_without_a_task_the_target_is_what_zeros_end_in(verify):
    result = verify(SEED_1, "--size 9x9 --json")
    assert result.exit_code == 0
    (found,) = result.json["findings"]
    assert found["verdict"] == "proved"
    assert {len(row) for row in found["known"]} == {9}
    assert "the state that a start of zeros ends in" in result.stderr


def test_zeros_that_never_settle(verify, tmp_path):
    file = tmp_path / "blinker.json"
    file.write_text(write_circuit(automaton_of(circuit_of([(Op.NOT_A, 4, 4)], [9]))))
    assert "use --task to name an experiment" in verify(str(file)).refusal


def test_zeros_that_settle_late(verify, tmp_path):
    """On 22 cells in a row, they come to rest at step 4194348."""
    file, circuit = tmp_path / "slow.json", circuit_of(SLOW, [56, 49, 50, 54, 55])
    slow = replace(automaton_of(circuit), boundary="zero", height=1, width=22)
    file.write_text(write_circuit(slow))
    refused = verify(str(file), "--time-limit 0.1").refusal
    assert "does not settle in 0.1 s" in refused
    assert "raise --time-limit" in refused


def test_a_certificate_overwrites_only_with_force(verify):
    Path("c.json").write_text("mine")
    assert "--force" in verify(SEED_1, "-o c.json").refusal
    assert Path("c.json").read_text() == "mine"
    assert verify(SEED_1, "-o c.json --force").exit_code == 0
    assert "one grid" in verify(SEED_1, "-o d.json --size 8x8 --size 9x9").refusal


class TestOtherTasks:
    @pytest.fixture
    def life(self, tmp_path):
        config = load_config("game-of-life-small", ["training.epochs=1"])
        model = tmp_path / "life.npz"
        Model.create(config).save(model)
        return str(model)

    def test_an_untrained_life(self, verify, life):
        result = verify(life, "-o c.json")
        assert result.exit_code == 1
        assert "fails on" in result.stdout
        assert "c.json was not written: there is no proof" in result.stderr
        found = verify(life, "--json").json["assurance"]
        assert (found["verdict"], found["scope"]) == ("refuted", "every case")

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ("--size 9x9", "no target that every start should end in"),
            ("--task checkerboard", "has a task of its own"),
        ],
    )
    def test_options_that_do_not_apply(self, verify, life, options, said):
        assert said in verify(life, options).refusal

    def test_a_proof_by_all_cases_is_saved(self, verify, tmp_path):
        circuit = str(Path(__file__).parents[3] / "docs" / "gallery" / "game-of-life.json")
        result = verify(circuit, "--task game-of-life -o c.json")
        assert result.exit_code == 0
        assert "saved c.json" in result.stderr
        proof = json.loads((tmp_path / "c.json").read_text())
        assert (proof["format"], len(proof["cases"])) == ("dct-cases", 512)


def test_a_proof_for_every_size_without_a_certificate(verify):
    circuit = str(Path(__file__).parents[3] / "docs" / "gallery" / "flood.json")
    result = verify(circuit, "--task flood -o c.json")
    assert result.exit_code == 1
    said, asked = result.stdout.splitlines()
    assert said.startswith("proved for every grid")
    assert asked.startswith("asked: ")
    assert "c.json was not written: " in result.stderr
    assert "there is no certificate to write" in result.stderr


def test_a_task_with_another_boundary(verify, tmp_path):
    experiment = tmp_path / "torus.toml"
    config = load_config("checkerboard", ["automaton.boundary=periodic"])
    experiment.write_text(config.to_toml(), encoding="utf-8")
    assert "its boundary is periodic, but that of" in verify(SEED_1, f"--task {experiment}").refusal


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--size 0x3", "must be rows x columns"),
        ("--size 4096x4096", "from 1 to 256"),
        ("--task chess", "chess"),
        ("--task letter-g", "compares 0, 1, 2"),
    ],
)
def test_bad_input(verify, options, said):
    assert said in verify(SEED_1, options).refusal


def test_a_large_picture_is_cut():
    bits = np.zeros((MOST_ROWS + 5, MOST_COLUMNS + 9), np.uint8)
    lines = state_picture(bits, bits)
    assert len(lines) == MOST_ROWS + 1
    assert set(map(len, lines[:-1])) == {MOST_COLUMNS}
    assert lines[-1] == f"(part of {bits.shape[0]}×{bits.shape[1]} cells)"


class TestAllSizes:
    @pytest.mark.thorough
    def test_a_table_and_the_theorem(self, verify, monkeypatch):
        monkeypatch.setattr(certifying, "SIDES", range(4, 17))
        options = "--task checkerboard --all-sizes"
        result = verify(SEED_1, options)
        assert result.exit_code == 0
        assert "All larger grids: proved" in result.stdout
        found = verify(SEED_1, f"{options} --json").json
        assert {size["height"]: size["from_step"] for size in found["squares"]}[16] == 18
        assert found["larger"]["period"] == 4
        assert {(base["height"], base["width"]) for base in found["larger"]["bases"]} > {(12, 12)}

    @pytest.mark.parametrize(
        ("period", "last", "found"),
        [(4, 99, 4), (4, 31, None), (8, 99, 8), (6, 99, None), (0, 99, None)],
    )
    def test_the_period_of_a_custom_task(self, period, last, found):
        """Its target has squares of 2×2 cells, up to a side of `last`."""

        class Squares(Checkerboard):
            source, lasting_period = "squares.py", period

            @property
            def lasting_target(self):
                return super().lasting_target * (self.height <= last)

        config = load_config("checkerboard")
        task = Squares(config.task, config.automaton)
        if found is None:
            with pytest.raises(ConfigError, match="lasting_period"):
                certifying._repeats(task)
        else:
            assert certifying._repeats(task) == found

    @pytest.mark.parametrize("square", [2, 16])
    def test_a_target_that_differs_far_out(self, verify, monkeypatch, tmp_path, square):
        """A circuit of zeros shows a large square, but no checkerboard."""
        monkeypatch.setattr(certifying, "SIDES", range(4, 6))
        circuit, experiment = tmp_path / "zeros.json", tmp_path / "squares.toml"
        zeros = replace(automaton_of(circuit_of([(Op.FALSE, 4, 4)], [9])), boundary="zero")
        circuit.write_text(write_circuit(zeros))
        config = load_config("checkerboard", [f"task.square={square}"])
        experiment.write_text(config.to_toml(), encoding="utf-8")
        result = verify(str(circuit), f"--task {experiment} --all-sizes --size 16x16")
        assert ("proved" in result.stdout.splitlines()[1]) == (square == 16)
        assert "no proof found" in result.stdout

    @pytest.mark.thorough
    def test_no_theorem(self, verify, monkeypatch):
        monkeypatch.setattr(certifying, "SIDES", range(4, 10))
        options = "--task checkerboard-async --all-sizes --time-limit 1"
        assert "no proof found" in verify(ASYNCHRONOUS, options).stdout

    def test_on_a_torus(self, verify, tmp_path):
        file = tmp_path / "ones.json"
        file.write_text(write_circuit(automaton_of(circuit_of([(Op.TRUE, 0, 0)], [9]))))
        assert "zero boundary" in verify(str(file), "--all-sizes").refusal


def dot_of(tmp_path, op):
    """A circuit for 3×3 cells with `op` of the cell itself, and an experiment to heal all ones."""
    config = load_config(
        "lizard",
        [
            'task.target="""\n###\n###\n###"""',
            "task.height=3",
            "task.width=3",
            "task.hold=true",
            "task.heal=[1,2]",
            "automaton.channels=1",
            "automaton.boundary=zero",
            "automaton.steps=2",
            "perception.kernels=1",
            "update.gates=[1]",
        ],
    )
    experiment, circuit = tmp_path / "dot.toml", tmp_path / "dot.json"
    experiment.write_text(config.to_toml(), encoding="utf-8")
    diagonal = [(Op.OR, 9 + number, row) for number, row in enumerate((0, 2, 6, 8))]
    automaton = replace(
        automaton_of(circuit_of([(op, 4, 4), *diagonal], [13])), boundary="zero", start="center"
    )
    circuit.write_text(write_circuit(automaton), encoding="utf-8")
    return str(circuit), str(experiment)


def test_damage_that_heals(dct, tmp_path):
    circuit, experiment = dot_of(tmp_path, Op.TRUE)
    result = dct("verify", "convergence", circuit, "--task", experiment)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == (
        "proved at step 2 and at every later one, and at most 1 step after each of 13 cases of "
        "damage"
    )
    rows = [line.split() for line in result.stdout.splitlines() if line.startswith(("1×1", "2×2"))]
    assert rows[0][:6] == ["1×1", "9", "1", "9", "of", "9"]
    assert rows[1][:6] == ["2×2", "4", "1", "4", "of", "4"]
    assert result.stdout.splitlines()[-2:] == ["  11", "  11"]


def test_damage_that_stays(dct, tmp_path):
    """The rule grows diagonally only, so five of the nine cells never become 1."""
    circuit, experiment = dot_of(tmp_path, Op.A)
    result = dct("verify", "convergence", circuit, "--task", experiment)
    assert result.exit_code == 1
    assert "fails at step 2" in result.stdout
    found = dct("verify", "convergence", circuit, "--task", experiment, "--json")
    assert found.json["assurance"]["healing"] == []


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("file", "task", "from_step", "for_every_start"),
    [("letter-g-hold", "letter-g-hold", 15, 30), ("lizard-small", "lizard-small-hold", 12, 16)],
)
def test_pictures_that_hold(verify, file, task, from_step, for_every_start):
    """The circuits that docs/experiments.md shows, by proof and cell by cell."""
    source = Path(__file__).parents[3] / "docs" / f"{file}.json"
    result = verify(str(source), f"--task {task}")
    said, asked = result.stdout.splitlines()
    assert said == f"proved at step {from_step} and at every later one"
    assert asked.startswith(f"asked: the target at step {from_step} and at every later one, from ")
    automaton = read_circuit(source)
    target = make_task(load_config(task)).target
    state = np.zeros((1, automaton.circuit.channels, *target.shape[1:]), np.uint8)
    for step in range(1, 2 * from_step + 2):
        state = step_all(automaton.circuit, state, "zero")
        shown = state[0, list(automaton.visible_rows)]
        assert (shown == target).all() == (step >= from_step)
    found = verify(str(source), "--json").json["findings"]
    assert [(each["from_step"], each["any_schedule"]) for each in found] == [
        (for_every_start, True)
    ]
    bits = [[int(sign) for sign in row] for row in found[0]["known"]]
    assert (np.array(bits).reshape(target.shape) == target).all()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "experiment", "steps", "rounds"),
    [
        ("lizard-small", "lizard-small-heal", (12, 12, 73), 16),
        ("lizard-heal", "lizard-heal", (24, 28, 377), 39),
    ],
)
def test_lizards_that_heal(verify, name, experiment, steps, rounds):
    """By proof, and by damages that the proof did not try: any cells, at any time."""
    source = Path(__file__).parents[3] / "docs" / f"{name}.json"
    result = verify(str(source), f"--task {experiment}")
    said = (
        "proved at step {} and at every later one, and at most {} steps after each of {} cases of "
        "damage"
    )
    assert result.stdout.splitlines()[0] == said.format(*steps)
    found = verify(str(source), "--json").json["findings"]
    assert [(each["from_step"], each["any_schedule"]) for each in found] == [(rounds, True)]
    automaton = read_circuit(source)
    target = make_task(load_config(experiment)).target
    rng = np.random.default_rng(0)
    state = np.zeros((4, automaton.circuit.channels, *target.shape[1:]), np.uint8)
    for _ in range(2):
        hurt = rng.random((4, 1, *target.shape[1:])) < 0.4
        state = np.where(hurt, rng.integers(0, 2, state.shape, np.uint8), state)
        for step in range(1, rounds + 5):
            state = step_all(automaton.circuit, state, "zero")
            if step >= rounds:
                assert (state[:, list(automaton.visible_rows)] == target).all()


def test_pictures_of_healing():
    assert healing_picture([0, 9, 10, 35, 36, -1], 3) == ["09a", "z+X"]
    assert len(healing_picture([1] * 100 * 200, 200)) == MOST_ROWS
    assert len(healing_picture([1] * 200, 200)[0]) == MOST_COLUMNS
