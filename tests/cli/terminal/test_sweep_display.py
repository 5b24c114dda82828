"""What a sweep shows while it goes on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli.terminal.sweep_display import compose, line
from difflogic.scale.sweeps.directory import SweepDirectory
from difflogic.scale.sweeps.execution import Execution, Progress, Running, Snapshot
from difflogic.scale.sweeps.question import Asked, Question, ask
from difflogic.scale.sweeps.results import aggregate, make_row


@pytest.fixture
def asked() -> Question:
    return ask(Asked("checkerboard-small", (), ("training.batch=1,2",)), tuple(range(8)))


@pytest.fixture
def snapshot(asked: Question) -> Snapshot:
    variant = asked.variants[0]
    rows = [make_row(variant, seed, None, "no") for seed in asked.seeds[:1]]
    rows += [make_row(variant, seed, None) for seed in asked.seeds[1:]]
    running = tuple(Running(asked.variants[1], seed, 50) for seed in asked.seeds)
    return Snapshot(
        runs=16,
        ended=1,
        failed=1,
        running=running,
        variants=tuple(aggregate(asked, rows)),
        seconds=10.0,
        seconds_left=150.4,
    )


def test_a_frame_tells_what_runs_what_is_done_and_how_long_it_takes(snapshot: Snapshot) -> None:
    text = compose("title", snapshot, 100, 40).plain
    assert "1/16 runs, 1 failed  at most 2:30 left" in text
    assert "exact 0/1" in text
    for seed in range(8):
        assert f"batch=2 seed {seed}" in text
    assert "epoch 50/" in text


@pytest.mark.parametrize("height", [4, 6, 10, 24])
def test_a_frame_fits_the_terminal(snapshot: Snapshot, height: int) -> None:
    text = compose("title", snapshot, 80, height, "stopping").plain
    assert text.count("\n") + 1 <= max(height, 6)
    assert text.endswith("stopping")


def test_lines(asked: Question, snapshot: Snapshot) -> None:
    variant = asked.variants[0]
    summary: dict[str, Any] = {
        "finished": True,
        "epochs": 200,
        "exact_epoch": 120,
        "seconds": {"training": 1.25},
        "scores": {"held_out": {"exact": True, "wrong_cells": 0, "active_gates": 22}},
    }
    exact = line(make_row(variant, 3, summary), snapshot)
    assert exact == (
        " 1/16  batch=1 seed 3  exact at epoch 120  22 active gates  1.2 s  at most 2:30 left"
    )
    failed = line(make_row(variant, 3, None, "no memory\nat all"), replace(snapshot, ended=16))
    assert failed == "16/16  batch=1 seed 3  failed: no memory"


class Idle:
    """A backend that does nothing."""

    compiles_here = True
    slots = 1


def test_the_estimate_follows_the_epochs(
    tmp_path: Path, asked: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    execution = Execution(SweepDirectory(tmp_path), asked, Idle())  # type: ignore[arg-type]
    progress = Progress(asked, execution)
    assert progress.snapshot().seconds_left is None
    epochs = asked.variants[0].config.training.epochs
    at_work = [(asked.variants[0], 0, epochs // 2), (asked.variants[1], 0, epochs // 2)]
    monkeypatch.setattr(execution, "running", lambda: at_work)
    now[0] += 6.0
    # Of 16 runs, one is done so far, in halves.
    assert progress.snapshot().seconds_left == pytest.approx(15 * 6.0)
