"""The summary of a run, as text."""

import shlex
from pathlib import Path

import pytest

from cli.terminal import report
from difflogic.run.measures import PHASES

CONFIGS = Path(__file__).parents[3] / "configs"


@pytest.fixture(autouse=True)
def run_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    directory = tmp_path / "runs" / "x"
    directory.mkdir(parents=True)
    write_config(directory, "checkerboard")
    return directory


def write_config(directory, name, old="", new=""):
    text = (CONFIGS / f"{name}.toml").read_text(encoding="utf-8")
    assert old in text
    (directory / "config.toml").write_text(text.replace(old, new), encoding="utf-8")


def summary(**changes):
    checked = {
        "tested": "64 held-out starts",
        "starts": 64,
        "cells": 16384,
        "step": 20,
        "wrong_cells": 164,
        "later_step": 40,
        "wrong_cells_later": 0,
        "exact": False,
    }
    return {
        "experiment": "checkerboard",
        "seed": 23,
        "workers": 2,
        "epochs": 500,
        "epochs_requested": 500,
        "interrupted": False,
        "exact_epoch": None,
        "scores": {
            "soft_loss": 1.25,
            "hard_loss": 4.0,
            "accuracy": 0.992,
            "best_hard_loss": 0.0,
            "best_accuracy": 1.0,
            "best_epoch": 411,
            "checked": checked | changes.pop("checked", {}),
        },
        "seconds": {
            "training": 5.0,
            "start": 0.5,
            "compilation": 12.5,
            "tests": 0.25,
            "all": 18.5,
            "processor": 21.0,
            "phases": dict.fromkeys(PHASES, 0.0) | {"forward": 2.0, "backward": 3.0},
        },
    } | changes


NO_TIME = {"training": 0.0, "compilation": 0.0, "processor": 0.0, "phases": {"forward": 0.0}}


def test_timing_per_phase():
    lines = report.render(summary(), "runs/x").splitlines()

    assert lines[0].split() == ["phase", "seconds", "share", "ms/epoch"]
    table = {line[:17].strip(): line[17:].split() for line in lines[1 : len(PHASES) + 7]}
    assert table["forward"] == ["2.000", "40.0", "%", "4.000"]
    assert table["training"] == ["5.000", "100.0", "%", "10.000"]
    assert [table[name] for name in ("start-up", "processor")] == [["0.500"], ["21.000"]]
    short = report.render(summary(epochs=0, seconds=dict(NO_TIME)), "runs/x")
    assert "0.0 %" in short
    quiet = report.render(summary(), "runs/x", quiet=True)
    assert "phase" not in quiet
    assert "run        runs/x\n" in quiet


def test_scores():
    text = report.render(summary(), "runs/x")
    assert "soft loss 1.2500, hard loss 4, accuracy 99.20 %, best hard loss 0 at epoch 411" in text
    one = report.render(summary(checked={"tested": "the only start"}), "runs/x")
    assert "164 of 16384 wrong, from the only start" in one
    assert "99.00 % of cells right at step 20: 164 of 16384 wrong, from 64 held-out starts" in text
    assert "100 % of cells right at step 40: 0 of 16384 wrong" in text
    for word in ("exact:", "proof  ", "polished", "attempts"):
        assert word not in text
    scores = summary(checked={"exact": True})["scores"]
    exact = report.render(summary(scores=scores | {"accuracy": 1.0}), "runs/x")
    assert " exact: every cell is right\n" in exact
    searched = report.render(summary(scores=scores), "runs/x")
    assert "right; a search found this circuit close to the trained one\n" in searched
    assert " exact: every cell is right\n" in report.render(
        summary(scores=scores) | {"searched": False}, "runs/x"
    )


PROOF = {"verdict": "proved", "text": "proved for every start from step 18 on"}
GAIN = {"gates": [6, 3], "from_step": [18, 16], "candidates": 8004}
EXACT = {"exact": True}


@pytest.mark.parametrize(
    ("assurance", "changes", "said"),
    [
        (PROOF, {"checked": EXACT}, "proof      proved for every start from step 18 on\n"),
        (
            PROOF | {"verdict": "open"},
            {"checked": EXACT},
            "proof      right on samples; proved for",
        ),
        (PROOF | {"verdict": "open"}, {}, "proof      proved for every"),
        (None, {"polished": GAIN}, "polished   6 → 3 active gates, certified from step 18 → 16"),
        (None, {"polished": GAIN | {"from_step": None}}, "polished   6 → 3 active gates\n"),
        (None, {"attempts": {"begun": 3, "result": 1}}, "attempts   3; the circuit comes from"),
    ],
)
def test_what_else_is_known(assurance, changes, said):
    run = summary(**changes)
    if assurance:
        run["scores"]["assurance"] = assurance
    assert said in report.render(run, "runs/x")


def next_step(text):
    """Return the advice of a summary: a sentence, then commands."""
    return [line.strip() for line in text.partition("next ")[2].splitlines()]


RESUME = "dct train --resume runs/x"


@pytest.mark.parametrize(
    ("changes", "said", "commands"),
    [
        (
            {"epochs_requested": 9999},
            "Not exact yet: resume this run, or try another seed",
            [f"{RESUME} --epochs 19998", "dct train runs/x/config.toml --seed 24"],
        ),
        (
            {"experiment": "checkerboard-small"},
            "Not exact yet: resume this run, or train the full experiment",
            [f"{RESUME} --epochs 1000", "dct train checkerboard --seed 23"],
        ),
        (
            {"epochs_requested": 50, "start": {"seed": 1}},
            "Not exact yet: resume this run, or train the full experiment",
            [f"{RESUME} --epochs 100", "dct train checkerboard --seed 23 --from runs/x/start.npz"],
        ),
        (
            {"checked": {"exact": True}},
            "Exact: run all tests, or look at the circuit",
            ["dct eval runs/x", "dct inspect runs/x"],
        ),
        ({"interrupted": True}, "Interrupted: resume this run", [RESUME]),
    ],
)
def test_the_next_step(changes, said, commands, run_directory):
    write_config(run_directory, changes.get("experiment", "checkerboard"))
    assert next_step(report.render(summary(**changes), "runs/x")) == [said, *commands]


def test_next_commands_keep_changed_settings(run_directory):
    write_config(run_directory, "checkerboard", "batch = 1 ", "batch = 2 ")
    said, *_, command = next_step(report.render(summary(epochs_requested=50), "runs/x"))
    assert said == "Not exact yet: resume this run, or try another seed"
    assert command == "dct train runs/x/config.toml --seed 24"


@pytest.mark.parametrize(
    ("verdict", "step", "said"),
    [
        ("proved", 31, "Too late: right from step 31, not from step 20"),
        ("proved", 20, "Not exact yet"),
        ("proved", None, "Not exact yet"),
        ("refuted", 31, "Not exact yet"),
    ],
)
def test_a_proof_from_a_later_step_is_explained(verdict, step, said, run_directory):
    write_config(run_directory, "checkerboard")
    found = {"verdict": verdict, "text": "", "from_step": step}
    scores = summary()["scores"] | {"assurance": found}
    lines = next_step(report.render(summary(scores=scores), "runs/x"))
    assert lines[0].startswith(f"{said}: resume this run, or ")


def test_the_check_of_a_life_like_rule():
    names = ("name", "height", "width", "step", "wrong_cells", "cells")
    soup = ("random soup", 128, 128, 300, 7, 4915200)
    counts = [
        dict(zip(names, values, strict=True))
        for values in [("all 512 boards", 3, 3, 1, 0, 4608), soup]
    ]
    run = summary()
    run["scores"]["exactness"] = {"counts": counts, "first_wrong_step": 12}
    text = report.render(run, "runs/x")
    assert "           all 512 boards of 3×3 cells, step 1: 0 of 4608 wrong\n" in text
    assert (
        "random soup of 128×128 cells, step 300: 7 of 4915200 wrong, the first at step 12\n" in text
    )


def test_the_next_commands_can_be_copied():
    for directory in ("a run", "it's", "$(x)", "-x;y"):
        for changes in (
            {"epochs_requested": 9999},
            {"checked": {"exact": True}},
            {"interrupted": True},
        ):
            commands = next_step(report.render(summary(**changes), directory, True))[1:]
            assert all(directory in " ".join(shlex.split(command)) for command in commands)
            assert "--allow-code" in commands[0]
            assert "--allow-code" not in report.render(summary(**changes), directory)
