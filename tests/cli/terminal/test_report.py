"""The summary of a run, as text."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from cli.terminal import report
from difflogic.training.metrics import PHASES


def summary(**changes: Any) -> dict[str, Any]:
    held_out = {
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
            "held_out": held_out | changes.pop("held_out", {}),
        },
        "seconds": {
            "training": 5.0,
            "compilation": 12.5,
            "phases": dict.fromkeys(PHASES, 0.0) | {"forward": 2.0, "backward": 3.0},
        },
    } | changes


def test_timing_per_phase() -> None:
    lines = report.render(summary(), "runs/x").splitlines()

    assert lines[0].split() == ["phase", "seconds", "share", "ms/epoch"]
    table = {line[:17].strip(): line[17:].split() for line in lines[1 : len(PHASES) + 3]}
    assert list(table)[:-2] == [report.PHASE_NAMES.get(phase, phase) for phase in PHASES]
    assert table["forward"] == ["2.000", "40.0", "%", "4.000"]
    assert table["all"] == ["5.000", "100.0", "%", "10.000"]
    assert table["compilation"][0] == "12.500"


def test_scores() -> None:
    text = report.render(summary(), "runs/x")

    assert "soft loss 1.2500, hard loss 4, accuracy 99.20 %, best hard loss 0 at epoch 411" in text
    assert "99.00 % of the cells right at step 20: 164 wrong of 16384 in 64 held-out starts" in text
    assert "100 % of the cells right at step 40: 0 wrong" in text
    assert "exact" not in text
    assert "exact" in report.render(summary(held_out={"exact": True}), "runs/x")


@pytest.mark.parametrize(
    ("verdict", "exact", "said"),
    [
        ("proved", True, "for ever   proved for every start from step 18 on\n"),
        ("open", True, "for ever   right on samples; proved for every"),
        ("open", False, "for ever   proved for every"),
    ],
)
def test_what_is_proved(verdict: str, exact: bool, said: str) -> None:
    scores = summary(held_out={"exact": exact})["scores"]
    scores["assurance"] = {"verdict": verdict, "text": "proved for every start from step 18 on"}
    assert said in report.render(summary(scores=scores), "runs/x")
    assert "for ever" not in report.render(summary(), "runs/x")  # of an earlier version


def test_what_polishing_gained() -> None:
    gain = {"gates": [6, 3], "from_step": [18, 16], "candidates": 8004}
    text = report.render(summary(polished=gain), "runs/x")
    assert "polished   6 → 3 gates, certified from 18 → 16 on\n" in text
    text = report.render(summary(polished=gain | {"from_step": None}), "runs/x")
    assert "polished   6 → 3 gates\n" in text
    assert "polished" not in report.render(summary(), "runs/x")  # of an earlier version


def test_how_often_learning_began() -> None:
    found = {"begun": 3, "given_up": 0, "result": 3}
    text = report.render(summary(attempts=found), "runs/x")
    assert "\nattempts   3; the circuit is of attempt 3\n" in text
    text = report.render(summary(attempts=found | {"given_up": 2, "result": 1}), "runs/x")
    assert "\nattempts   3, 2 given up; the circuit is of attempt 1\n" in text
    text = report.render(summary(attempts=found | {"given_up": None}), "runs/x")
    assert "\nattempts   3, how many were given up is not recorded; the circuit" in text
    assert "attempts" not in report.render(summary(), "runs/x")


def test_since_when_a_picture_is_grown() -> None:
    grown = report.render(summary(pool_from=1500), "runs/x")
    assert "\ngrown      right at step 20 after epoch 1500, where the pool began\n" in grown
    growing = report.render(summary(pool_from=None), "runs/x")
    assert "\ngrown      not yet: no circuit was right at step 20\n" in growing
    assert "grown" not in report.render(summary(), "runs/x")


def test_where_the_run_is() -> None:
    assert "run        runs/x\n" in report.render(summary(), "runs/x")


@pytest.mark.parametrize(
    ("changes", "command"),
    [
        ({"epochs_requested": 9999}, "dct train runs/x/config.toml --seed 24 "),
        ({"experiment": "checkerboard-small"}, "dct train checkerboard --seed 23 "),
        ({"epochs_requested": 50}, "dct train checkerboard "),
        ({"experiment": "of-my-own", "epochs_requested": 5}, "dct train runs/x/config.toml "),
        ({"held_out": {"exact": True}}, "dct eval runs/x "),
        ({"interrupted": True}, "dct train --resume runs/x "),
        ({"epochs_requested": 50, "start": {}}, "dct train checkerboard "),
        (
            {"epochs_requested": 50, "start": {"seed": 1}},
            "dct train checkerboard --seed 23 --from runs/x/start.npz ",
        ),
        (
            {"experiment": "checkerboard-small", "start": {"seed": 1}},
            "dct train runs/x/config.toml --seed 24 --from runs/x/start.npz ",
        ),
    ],
)
def test_the_next_command(changes: dict[str, Any], command: str) -> None:
    assert f"next       {command}" in report.render(summary(**changes), "runs/x")


def test_a_run_that_took_no_time_has_a_table() -> None:
    seconds = {"training": 0.0, "compilation": 0.0, "phases": {"forward": 0.0}}
    assert "0.0 %" in report.render(summary(seconds=seconds), "runs/x")


def test_a_run_of_no_epoch_has_a_table() -> None:
    assert "all" in report.render(summary(epochs=0), "runs/x")


def test_the_check_of_a_life_like_rule() -> None:
    counts = [
        {
            "what": "all 512 boards",
            "height": 3,
            "width": 3,
            "step": 1,
            "wrong_cells": 0,
            "cells": 4608,
        },
        {
            "what": "random soup",
            "height": 128,
            "width": 128,
            "step": 300,
            "wrong_cells": 7,
            "cells": 4915200,
        },
    ]
    run = summary()
    run["scores"]["exactness"] = {"counts": counts, "first_wrong_step": 12}
    text = report.render(run, "runs/x")
    assert "           all 512 boards of 3×3 cells, step 1: 0 wrong of 4608\n" in text
    assert (
        "random soup of 128×128 cells, step 300: 7 wrong of 4915200, the first at step 12\n" in text
    )


def test_the_next_command_can_be_copied() -> None:
    for directory in ("a run", "it's", "$(x)", "-x;y"):
        for changes in (
            {"epochs_requested": 9999},
            {"held_out": {"exact": True}},
            {"interrupted": True},
        ):
            text = report.render(summary(**changes), directory)
            command = text.partition("next       ")[2].partition("   (")[0]
            assert directory in " ".join(shlex.split(command))


def test_leave_to_run_code_is_part_of_what_to_try_next() -> None:
    for changes in ({"interrupted": True}, {"held_out": {"exact": True}}):
        assert " runs/x --allow-code " in report.render(summary(**changes), "runs/x", True)
        assert "--allow-code" not in report.render(summary(**changes), "runs/x")
