"""`dct runs`."""

import shutil
from pathlib import Path

import pytest


@pytest.mark.thorough
def test_runs(dct, tiny):
    changes = [f"--set={change}" for change in tiny]
    for seed in ("7", "8"):
        done = dct("train-checkerboard", *changes, "--epochs=2", f"--seed={seed}", "--quiet")
        assert done.exit_code == 0
    lines = dct("runs").stdout.splitlines()
    head = "run started experiment state seed epochs exact active gates seconds"
    assert lines[0].split() == head.split()
    assert [line.split()[-5] for line in lines[1:]] == ["7", "8"]
    listed = dct("runs", "--json").json
    assert [run["seed"] for run in listed] == [7, 8]
    assert Path(listed[-1]["path"]) == max(Path("runs").iterdir())
    copy = Path("runs/two\nlines\x1b")
    shutil.copytree(listed[0]["path"], copy)
    assert sum("two\\nlines\\x1b" in line for line in dct("runs").stdout.splitlines()) == 1
    assert len(dct("runs").stdout.splitlines()) == 4
    shutil.rmtree(copy)
    last = dct("eval", "last", "--json", "--test=gates").json
    assert last["seed"] == 8 or str(listed[-1]["path"]) in str(last)


def test_a_sweep_is_named(dct, tmp_path):
    (tmp_path / "sweep").mkdir()
    (tmp_path / "sweep/sweep.toml").touch()
    shown = dct("runs", "sweep")
    assert "sweep: is a sweep: dct watch sweep shows it" in shown.stderr


def test_no_runs(dct):
    assert "runs: no such directory" in dct("runs").refusal
    Path("runs").mkdir()
    assert "no runs yet" in dct("runs").stderr
    assert dct("runs", "--json").json == []
