"""Runs as real processes: killed, resumed, locked, or out of space."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.errors import note
from difflogic.config import Config, load_config
from difflogic.training.resuming import without_foreign_results
from difflogic.training.run_directory import RunDirectory
from difflogic.training.session import Session, execute
from tests.cli.processes import HELD, Process, with_hook
from tests.difflogic.training.kill import results

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends signals of POSIX")

EPOCHS = 300
KILLS = 3
MOST = 75
"""Epochs until a process that will be killed waits for that."""


def overrides(tiny: list[str], *more: str) -> list[str]:
    return [f"--set={override}" for override in (*tiny, *more)]


def as_begun(settings: list[str]) -> Config:
    """The configuration of `dct train-checkerboard --small` with these settings."""
    small = load_config("checkerboard-small")
    return without_foreign_results(load_config("checkerboard-small", settings), small)


def latest(run: Path) -> int:
    """Return the epoch of the latest checkpoint, -1 if there is none."""
    names = [path.stem.removeprefix("checkpoint-") for path in run.glob("checkpoint-*.npz")]
    return max(map(int, names), default=-1)


def wait_for_epoch(run: Path, process: Any, epoch: int) -> None:
    """Wait for a checkpoint of that epoch or a later one, or until the process is over."""
    while latest(run) < epoch and process.poll() is None:
        time.sleep(0.003)


@pytest.mark.slow
def test_a_run_killed_at_random_moments_ends_in_the_same_bits(
    tmp_path: Path, tiny: list[str], start: Callable[..., Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every epoch writes a checkpoint, so most kills hit one."""
    settings = [*tiny, "checkpoint.every_epochs=1", f"training.epochs={EPOCHS}"]
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        execute(as_begun(settings), tmp_path / "whole")

    chance = random.Random(20)
    run = tmp_path / "killed"
    words = ["train-checkerboard", "--small", *overrides(settings), f"--dir={run}"]
    for kill in range(KILLS):
        place = tmp_path / str(kill)
        place.mkdir()
        hook = with_hook(place, HELD.format(epoch=MOST * (kill + 1), go="never"))
        process = start(*words, variables=hook)
        if kill == 1:
            time.sleep(chance.uniform(0.1, 0.8))  # while it starts
        else:
            wait_for_epoch(run, process, latest(run) + chance.randint(1, 25))
            time.sleep(chance.uniform(0, 0.01))
        assert process.end(signal.SIGKILL) == -signal.SIGKILL, "it was over before it was killed"
        words = ["train", "--resume=killed", f"--workers={1 + kill % 2}", "--json"]
    process = start(*words)
    assert process.end() == 0, process.err
    # Who was killed while it started may have had no time to count itself.
    assert json.loads(process.out)["resumed"] in (KILLS - 1, KILLS)
    assert "resumed at epoch" in process.err
    assert results(run) == results(tmp_path / "whole")
    assert not list(run.glob(".*"))


@pytest.mark.thorough
def test_a_second_process_is_refused_until_the_first_is_killed(
    tmp_path: Path, tiny: list[str], start: Callable[..., Process], dct: Callable[..., Any]
) -> None:
    process = start(
        "train-checkerboard", *overrides(tiny), "--epochs=1000000", "--dir=run", "--quiet"
    )
    wait_for_epoch(tmp_path / "run", process, 0)
    for second in (["train", "--resume", "run"], ["train", "checkerboard", "--dir", "run"]):
        refused = dct(*second)
        assert refused.exit_code == 2
        assert "run" in refused.stderr
    assert f"run: in use by process {process.pid}" in dct("train", "--resume", "run").stderr
    assert process.poll() is None
    process.end(signal.SIGKILL)
    assert (tmp_path / "run" / ".lock").exists()

    config = load_config(tmp_path / "run" / "config.toml")
    with Session(config, RunDirectory(tmp_path / "run"), note) as session:
        assert session.resumed == 1


@pytest.mark.thorough
def test_a_full_disk_stops_the_run_and_leaves_a_good_checkpoint(
    tmp_path: Path, tiny: list[str], start: Callable[..., Process], dct: Callable[..., Any]
) -> None:
    """A limit on metrics.csv's size acts like a full disk, which needs root to make."""
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**15, 2**15))

    settings = [*tiny, "checkpoint.every_epochs=10", "training.epochs=200"]
    process = start(
        "train", "checkerboard-small", *overrides(settings), "--dir=run", preexec_fn=limit
    )
    assert process.end() == 1, process.err
    assert process.out == ""
    assert "metrics.csv: cannot be written: file too large: raise the limit" in process.err
    assert "is good. After fixing this, continue with: dct train --resume run" in process.err
    assert "Traceback" not in process.err

    done = dct("train", "--resume", "run")
    assert done.exit_code == 0, done.stderr
    execute(as_begun(settings), tmp_path / "whole")
    assert results(tmp_path / "run") == results(tmp_path / "whole")
