"""`dct sweep`: arguments, output, files and interruption."""

import csv
import json
import os
import signal
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from cli.commands.sweep import bars, line
from cli.terminal.screen import Bar
from difflogic.sweeps.directory import SweepDirectory
from difflogic.sweeps.execution import Execution, Running
from difflogic.sweeps.sweep import sweep
from difflogic.sweeps.sweep_options import SweepOptions
from difflogic.sweeps.sweep_plan import Request, make_plan
from difflogic.sweeps.sweep_results import make_row
from tests.cli.conftest import TINY
from tests.cli.processes import with_hook
from tests.difflogic.experiment.kill import in_a_process_of_its_own, killing
from tests.difflogic.run.summaries import summary


@pytest.fixture(scope="module")
def words(tiny):
    """The beginning of a sweep of tiny runs."""
    return f"sweep checkerboard-small {tiny} --epochs=5"


def rows_of(path):
    """The rows of table.csv without times."""
    with (path / "table.csv").open(newline="") as file:
        return [
            {k: v for k, v in row.items() if "seconds" not in k} for row in csv.DictReader(file)
        ]


def _sweep(place):
    settings = [*TINY, "training.epochs=2", "checkpoint.every_epochs=1"]
    sweep("checkerboard-small", SweepOptions("0-1", overrides=settings, directory=place, jobs=1))


def _sweep_and_die(point, place):
    with killing(point):
        _sweep(place)


@pytest.mark.thorough
def test_a_sweep_killed_at_its_start_can_be_started_again(tmp_path):
    tables = []
    for point in (0, 2, 9, 10**9):
        place = tmp_path / str(point)
        code = in_a_process_of_its_own(_sweep_and_die, point, place)
        assert code == (-signal.SIGKILL if point < 10**9 else 0), point
        _sweep(place)
        tables.append(rows_of(place))
        assert not list(place.glob(".*")), point
    assert tables == tables[:1] * 4


def test_a_sweep_from_beginning_to_end(dct, tmp_path, words):
    grid = "--grid=training.weight_decay=0.0,0.5"
    done = dct(words, f"--seeds=0-1 {grid} --workers=1 --json").good
    data = done.json
    assert "4/4" in done.stderr
    place = tmp_path / data["directory"]
    assert place.parent.name == "runs"
    assert place.name.endswith("-sweep-checkerboard-small-weight_decay")
    assert {path.name for path in place.iterdir()} == {
        "sweep.toml",
        "table.csv",
        "table.json",
        "weight_decay=0.0",
        "weight_decay=0.5",
    }
    assert [variant["values"] for variant in data["variants"]] == [
        {"training.weight_decay": 0.0},
        {"training.weight_decay": 0.5},
    ]
    for run in data["runs"]:
        path = place / run["variant"] / f"seed{run['seed']}"
        summary = json.loads((path / "summary.json").read_text())
        assert (run["status"] == "exact") == summary["scores"]["checked"]["exact"]
        assert run["active_gates"] == summary["scores"]["checked"]["active_gates"]
        assert run["epochs"] == 5
    assert json.loads((place / "table.json").read_text())["runs"] == data["runs"]

    stale = place / "table.md"  # of an earlier version
    stale.touch()
    again = dct(f"sweep --dir {place} --seeds=5 --workers=1").good
    assert not stale.exists()
    assert "4 already done" in again.stderr
    assert f"sweep      {place}" in again.stdout
    assert "\x1b" not in again.stdout
    assert again.stdout.split()[:2] == ["training.weight_decay", "exact"]
    rows = rows_of(place)
    assert [row["seed"] for row in rows] == ["0", "1", "5"] * 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("checkerboard --seeds=0 --scheduler=127.0.0.1:9", "pip install '.[cluster]'"),
        ("checkerboard", "--seeds 0-15"),
        ("", "name a configuration"),
        ("checkerboard --seeds=3-1", "must be numbers and ascending ranges"),
        ("checkerboard --seeds=0 --scheduler-timeout=5", "needs --scheduler"),
        ("checkerboard --seeds=3 --grid=training.batch=0,1", "--grid training.batch=0"),
        ("checkerboard --seeds=3 --grid=training.seed=0,1", "--seeds"),
        ("checkerboard --seeds=3 --set=training.seed=0", "--seeds"),
        (
            "checkerboard --seeds=3 --grid=training.batch=1,2 --set=training.batch=3",
            "--set training.batch=3 gives another value",
        ),
        (
            "checkerboard --seeds=3 --epochs=2 --set=training.epochs=3",
            "--set training.epochs=3 gives another value",
        ),
        ("checkerboard --seeds=3 --recipe=none", 'no recipe "none"'),
        ("checkerboard --seeds=3 --dir=file", "file"),
        ("checkerboard --seeds=3 --dir=full", "full: is not empty"),
        ("--dir=full", "is not a sweep"),
        ("--dir=absent --seeds=3", "absent: is not a sweep"),
        ("--dir=absent --epochs=3", "settings need a CONFIG"),
    ],
)
def test_refusals_write_nothing(dct, tmp_path, monkeypatch, arguments, says):
    monkeypatch.setitem(sys.modules, "distributed", None)
    (tmp_path / "file").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")
    before = sorted(tmp_path.rglob("*"))
    assert says in dct(f"sweep {arguments}").refusal
    assert sorted(tmp_path.rglob("*")) == before


def test_a_failed_run_is_reported_at_the_end_and_repeated(dct, monkeypatch, words):
    from difflogic.experiment import session
    from difflogic.system.errors import TrainingError

    real = session.execute

    def failing(config, path, **options):
        if config.training.seed == 1:
            raise TrainingError("epoch 3: the soft loss is nan")
        if config.training.seed == 2:
            raise ZeroDivisionError("a bug")
        return real(config, path, **options)

    monkeypatch.setattr(session, "execute", failing)
    done = dct(words, "--seeds=0-3 --workers=1 --dir=there --json").failed
    assert "error: checkerboard-small, seed 1: epoch 3: the soft loss is nan" in done.stderr
    assert [run["status"] == "failed" for run in done.json["runs"]] == [False, True, True, False]
    assert done.json["runs"][2]["error"] == "ZeroDivisionError: a bug"
    assert done.json["variants"][0]["failed"] == 2
    assert done.json["interrupted"] is False
    listed = dct("runs there --json")
    assert [run["state"] for run in listed.json] == ["finished", "finished", "failed", "failed"]
    assert "seed2: failed: ZeroDivisionError: a bug" in listed.stderr
    models = {path: path.stat().st_mtime_ns for path in Path("there").rglob("model.npz")}
    monkeypatch.setattr(session, "execute", real)
    again = dct("sweep --dir=there --workers=1 --json").json
    assert "failed" not in [run["status"] for run in again["runs"]]
    assert {path: path.stat().st_mtime_ns for path in models} == models, "kept"


ONLY_SOME_END = """
import os, time
from difflogic.sweeps import planned_run
from tests.difflogic.run.summaries import summary

report = planned_run.Beat.__call__

def held(self, result):
    report(self, result)
    if int(self._path.name) >= int(os.environ["ENDING"]) and result.epoch >= 100:
        while self._path.parent.exists():
            time.sleep(0.01)

planned_run.Beat.__call__ = held
"""
"""Code for workers: only the first runs end; others wait in the middle until the sweep is over."""


@pytest.mark.thorough
def test_an_interrupted_sweep_ends_in_the_same_table(dct, start, tmp_path, words):
    settings = words.replace("--epochs=5", "--seeds=0-3 --epochs=120")
    hook = with_hook(tmp_path, ONLY_SOME_END)
    for ending, number in enumerate((signal.SIGKILL, signal.SIGTERM), 1):
        variables = hook | {"ENDING": str(ending)}
        process = start(settings, "--workers=2 --dir=cut", variables=variables)
        while ended(tmp_path / "cut") < ending:
            assert process.poll() is None, process.end()
            time.sleep(0.01)
        os.killpg(process.pid, number)  # as a shell or a service manager does
        assert process.end() == (-number if number == signal.SIGKILL else 128 + number), process.err
        assert ended(tmp_path / "cut") == ending
    assert "continue with: dct sweep --dir cut" in process.err
    assert "Traceback" not in process.err
    assert "worker process was killed" not in process.err
    # Whoever resumes the others makes the final tests that a stop dropped.
    assert dct("sweep --dir=cut --workers=1").good
    assert dct(settings, "--workers=1 --dir=whole").good
    assert rows_of(tmp_path / "cut") == rows_of(tmp_path / "whole")
    assert not list((tmp_path / "cut").glob(".running-*"))


def ended(sweep):
    """Count the finished runs of a sweep."""
    summaries = map(Path.read_text, sweep.glob("[!.]*/seed*/summary.json"))
    return sum(json.loads(summary)["finished"] for summary in summaries)


def test_a_sweep_that_is_stopped_before_its_first_run_names_no_directory(dct, words, monkeypatch):
    monkeypatch.setattr("difflogic.sweeps.planned_run.Control.is_over", lambda control: True)
    done = dct(words, "--seeds=0-1 --dir=none --workers=1")
    assert done.stderr.endswith("0 of 2 runs ended; nothing is saved: begin again\n")
    assert not done.stdout
    assert not Path("none").exists()
    asked = iter([False] * 9)
    monkeypatch.setattr("difflogic.sweeps.planned_run.Control.is_over", lambda _: next(asked, True))
    monkeypatch.setattr("cli.terminal.output.fold", lambda line, _: line + "|")
    done = dct(words, "--seeds=0-1 --dir=kept --workers=1")
    assert done.stderr.endswith("0 of 2 runs ended; continue with: dct sweep --dir kept|\n")
    assert not done.stdout, "no table of nothing"


@pytest.fixture
def plan():
    return make_plan(Request("checkerboard-small", (), ("training.batch=1,2",)), tuple(range(8)))


def test_lines(plan):
    variant = plan.variants[0]
    found = summary(exact_epoch=120, seconds={"all": 1.25})
    exact = line(make_row(variant, 3, found), 1, 16, 9.2)
    assert exact == " 1/16  batch=1 seed 3  proved at epoch 120  6 active gates  1.2 s  9 s"
    failed = line(make_row(variant, 3, None, "no memory\nat all"), 16, 16, 9.2)
    assert failed == "16/16  batch=1 seed 3  failed: no memory"


def test_bars_say_how_many_runs_have_ended(tmp_path, plan, monkeypatch):
    execution = Execution(SweepDirectory(tmp_path), plan, SimpleNamespace(slots=1, warnings=()))
    monkeypatch.setattr(execution, "running", lambda: [Running(plan.variants[1], 0, 30)])
    most = plan.variants[1].config.training.epochs
    assert bars(execution, plan.size, 6.0) == [
        Bar("sweep", 0, 16, "0 of 16 runs  6 s"),
        Bar("batch=2 seed 0", 30, most, f"epoch 30 of at most {most}"),
    ]
