"""The summary of a run, as text."""

from __future__ import annotations

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
    text = report.render(summary(attempts={"begun": 3, "result": 1}), "runs/x")
    assert "\nattempts   3; the circuit is of attempt 1\n" in text
    assert "attempts" not in report.render(summary(), "runs/x")
