"""A rollout of a million steps: said to be long, and stopped by a signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli import interrupt, pausing
from cli.pausing import LongWork
from difflogic.system.jit import JIT
from difflogic.system.pauses import Pause

posix = pytest.mark.skipif(os.name != "posix" or not JIT, reason="sends signals; compiles")


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets."""
    now = [0.0]
    monkeypatch.setattr(pausing.time, "monotonic", lambda: now[0])
    return now


def test_what_is_long_is_said_once(clock, capsys):
    notice = LongWork()
    for done in range(6):
        clock[0] = 2 * done
        notice(Pause("rollout", 100 * done, 1000))
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith("rollout 100/1000 automaton steps, about 18 s left")


def test_what_ends_within_ten_seconds_is_not_said(clock, capsys):
    notice = LongWork()
    for done in (0, 24):
        clock[0] = done
        notice(Pause("gradient", done, 32))
    assert capsys.readouterr().err == ""


def test_what_is_short_is_not_said(clock, capsys):
    notice = LongWork()
    for turn in range(50):
        clock[0] = turn
        for done in (0, 1, 2):
            notice(Pause("rollout", done, 3))
    assert capsys.readouterr().err == ""


def test_others_of_the_same_length_do_not_count(clock, capsys):
    """Where some take several calls of kernels and others one, or calls of another length."""
    notice = LongWork()
    for turn, done in enumerate([0, 24, 0, 25, 0, 0, 26]):
        clock[0] = 10 * turn if done == 0 else clock[0]
        notice(Pause("rollout", done, 73))
    assert capsys.readouterr().err == ""


def test_a_request_to_stop_is_heard(monkeypatch):
    with interrupt.Interruption() as interruption:
        interruption.request(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            LongWork()(Pause("rollout", 1, 3))


@pytest.mark.thorough
@posix
@pytest.mark.parametrize(
    ("command", "signum", "code", "saved"),
    [
        (["train-checkerboard", "--small", "--dir", "run"], signal.SIGINT, 130, True),
        (["train-checkerboard", "--small", "--dir", "run"], signal.SIGTERM, 143, True),
        (["bench", "--small"], signal.SIGINT, 130, False),
    ],
)
def test_a_million_steps_can_be_stopped(command, signum, code, saved, tmp_path):
    root = Path(__file__).parents[2]
    steps = "automaton.steps=50000"
    process = subprocess.Popen(
        [sys.executable, "-c", "from cli.app import main; main()", *command, "--set", steps],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        said = ""
        while "Ctrl-C stops it" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        start = time.monotonic()
        process.send_signal(signum)
        process.communicate(timeout=120)
        assert process.returncode == code, said
        print(f"stopped in {time.monotonic() - start:.2f} s")
        assert (tmp_path / "run" / "model.npz").exists() == saved
    finally:
        process.kill()
        process.communicate()
