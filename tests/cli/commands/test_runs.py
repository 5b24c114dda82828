"""`dct runs`."""

import os
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.difflogic.library.many_runs import make_run, with_keys


@pytest.fixture
def several(dct, trained_run):
    """Four made-up runs in runs/; the newest is run3."""
    for seed in range(4):
        make_run(trained_run, Path(f"runs/run{seed}"), 1 + seed, seed=seed, batch=2 + seed % 2)


def test_runs(dct, several):
    lines = dct("runs").stdout.splitlines()
    assert (
        " ".join(lines[0].split()) == "run experiment verdict batch seed gates epochs seconds age"
    )
    assert [line.split()[4] for line in lines[1:]] == ["0", "1", "2", "3"]
    assert [run["training.batch"] for run in dct("runs --json").json] == [2, 3, 2, 3]
    copy = Path("runs/two\nlines\x1b")
    shutil.copytree("runs/run0", copy)
    assert sum("two\\nlines\\x1b" in line for line in dct("runs").stdout.splitlines()) == 1
    assert len(dct("runs runs").stdout.splitlines()) == 6


def test_single_runs(dct, several):
    shown = dct("runs show last").stdout
    for words in ("runs/run3", "perception.kernels 2, shipped 16", "proof "):
        assert words in shown
    assert "next   " in shown
    assert dct("runs show last --json").json["record"]["seed"] == 3
    lines = dct("runs compare runs/run0 last").stdout.splitlines()
    assert lines[:3] == ["A  runs/run0", "B  runs/run3", ""]
    assert [line.split() for line in lines[3:6]] == [
        ["A", "B"],
        ["training.batch", "2", "3"],
        ["seed", "0", "3"],
    ]
    assert not any("version" in line for line in lines), "it is the same"
    with_keys(Path("runs/run3"), "automaton", "switch = true")
    shown = dct("runs show last").stdout
    assert "problem     this version cannot use it: " in shown
    assert "next   " not in shown, "other commands would refuse it"


def test_remove(dct, several, monkeypatch):
    done = dct("runs rm runs/run0 last runs/run0 --yes")
    assert done.stderr == "removed runs/run0\nremoved runs/run3\n"
    assert sorted(os.listdir("runs")) == ["run1", "run2"]
    stdin = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr("cli.commands.runs.sys", SimpleNamespace(stdin=stdin))
    for answer, left in ((False, 2), (True, 1)):
        monkeypatch.setattr("typer.confirm", lambda *words, answer=answer, **more: answer)
        assert dct("runs rm last").good
        assert len(os.listdir("runs")) == left


@pytest.mark.parametrize("refused", ["batch=1", "batch=2/seed1"])
def test_a_sweep_with_a_directory_that_cannot_be_read(dct, trained_run, monkeypatch, refused):
    """The others are listed. Root may read all, so the system is made to refuse."""
    for place in ("batch=1/seed0", "batch=2/seed0", "batch=2/seed1"):
        make_run(trained_run, Path("sweep", place))
    Path("sweep/sweep.toml").write_text("")
    for name in ("stat", "listdir", "scandir"):
        real = getattr(os, name)

        def refuse(path, *more, real=real, name=name, **named):
            if f"sweep/{refused}/" in f"{path}{'' if name == 'stat' else '/'}":
                raise PermissionError(13, "Permission denied", str(path))
            return real(path, *more, **named)

        monkeypatch.setattr(os, name, refuse)
    for words in (["sweep"], [".", "--all"]):
        done = dct("runs", *words).failed
        assert re.fullmatch(
            rf"error: sweep/{refused}\S*: cannot be read: permission denied\n", done.stderr
        )
        listed = dict(line.split()[:1] + line.split()[2:3] for line in done.stdout.splitlines()[1:])
        assert listed.pop(f"sweep/{refused}") == "unreadable"
        assert "unreadable" not in listed.values()
        assert len(listed) == 2
    monkeypatch.undo()


REFUSED = {
    "rm last": "nothing is removed without --yes",
    "rm": "Missing argument",
    "rm runs/run0 runs/absent --yes": "runs/absent: no such run directory",
    "compare last": "name two runs or more",
    "show absent": "absent: no such run directory",
    "absent": "absent: no such directory",
}


@pytest.mark.parametrize("words", REFUSED)
def test_refusals(dct, several, words):
    before = sorted(Path("runs").rglob("*"))
    assert REFUSED[words] in dct(f"runs {words}").refusal
    assert sorted(Path("runs").rglob("*")) == before
