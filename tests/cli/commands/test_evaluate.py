"""`dct eval`: exit codes and output. Other tests cover the evaluation itself."""

from pathlib import Path

import pytest

from cli.commands.evaluate import evaluate
from difflogic.circuit.gates import Op
from difflogic.config import load_config
from difflogic.evaluation import battery
from difflogic.evaluation.battery import TESTS
from difflogic.model.model import Model
from tests.cli.conftest import TINY
from tests.cli.terminal.screens import open_terminal

TEST_NAMES = "exactness generalisation fault healing asynchronous robustness noise gates"


def save(model, op, path):
    """Save the model with all gates of one op."""
    model.logits[:] = 0
    model.logits[:, op] = 10
    model.save(path)
    return path


@pytest.fixture
def tiny_model(monkeypatch):
    """A checkerboard whose target is 0 everywhere."""
    for name, value in (("LONG_SIDE", 16), ("LONG_STEPS", 220)):
        monkeypatch.setattr(battery, name, value)
    return Model.create(
        load_config("checkerboard-small", [*TINY, "task.square=4", "training.seed=36"])
    )


@pytest.fixture
def right(tiny_model, tmp_path):
    return str(save(tiny_model, Op.FALSE, tmp_path / "right.npz"))


@pytest.fixture
def wrong(tiny_model, tmp_path):
    return str(save(tiny_model, Op.TRUE, tmp_path / "wrong.npz"))


@pytest.mark.parametrize(("options", "code"), [("", 0), ("--require-exact", 1)])
def test_what_is_not_exact_fails_if_it_is_required(dct, wrong, options, code):
    result = dct(f"eval {wrong} --test exactness {options}")
    assert result.exit_code == code
    assert result.stdout.splitlines()[-1] == "not exact: 4096 of 4096 cells are wrong"
    result = dct(f"eval {wrong} --json --test gates {options}")
    assert (result.exit_code, result.json["exact"]) == (code, False)


def test_what_is_exact(dct, right, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    Path(right).rename(run / "model.npz")
    alone = "eval run --test exactness"
    result = dct(f"{alone} --require-exact").good
    assert result.stdout.splitlines()[-1] == "exact: all 4096 cells are right"
    assert dct(f"{alone} --json").json["exact"] is True


def test_an_unknown_test(dct, right):
    assert 'did you mean "gates"?' in dct(f"eval {right} --test gatse").refusal


def test_the_output_of_all_tests(dct, wrong):
    lines = dct(f"eval {wrong} --starts 3").stdout.splitlines()
    assert lines[0] == "checkerboard-small · trained with seed 36 · evaluated with seed 36"
    found = [line.split(":")[0] for line in lines if line.split(":")[0] in TESTS]
    assert found == TEST_NAMES.split()
    rows = (line.split() for line in lines if line.startswith("training grid"))
    (row,) = (row for row in rows if row[4] == "5")
    # Two steps of training: 2, 3, 4 and 5 are counted, 16 cells in 3 starts each.
    assert row[2:] == ["4×4", "1", "5", "48", "48", "0.00", "%", "3", "3", "yes"]
    rows = [line.split() for line in lines if line.startswith("0.5 % noise")]
    assert [row[3:5] for row in rows] == [["4×4", "1"], ["4×4", "0.6"]]


def test_nothing_is_cut_in_a_narrow_window(wrong, monkeypatch):
    terminal = open_terminal(monkeypatch, 60)
    evaluate(Path(wrong), ["exactness", "generalisation", "robustness", "noise"], starts=3)
    lines = terminal.text.split("\x1b[2K")[-1].split("\n")
    assert max(map(len, lines)) <= 60
    assert any(line.startswith("4 × side, 4 × steps ") for line in lines)
    assert any(line.startswith("synchronously trained ") for line in lines)


def test_json_holds_the_counts(dct, wrong):
    found = dct(f"eval {wrong} --json --test exactness --starts 3 --seed 5").json
    assert (found["model"], found["seed"], found["training_seed"]) == (wrong, 5, 36)
    expected = {"name": "training grid", "height": 4, "step": 2, "wrong_starts": 3}
    count = found["tests"]["exactness"]["counts"][0]
    assert count | expected | {"wrong_cells": 48, "decisive": True} == count


def test_the_published_result_is_shown(dct, tmp_path):
    Model.create(load_config("letter-g")).save(tmp_path / "g.npz")
    lines = dct("eval g.npz").stdout.splitlines()
    assert any(line.startswith("published: hard loss 0 from epoch 1871,") for line in lines)
    (alike,) = (line for line in lines if line.startswith("not applicable: fault, healing, "))
    assert alike.endswith("noise: the target must persist, but that of pattern does not")
    (gates,) = (line.split() for line in lines if line.startswith("all "))
    assert gates[-2:] == ["0", "927"]
