"""Whole sweeps on this machine: real runs in real processes."""

import json
import os
import shutil
import signal
import time
from contextlib import ExitStack, nullcontext
from types import SimpleNamespace

import pytest

from difflogic.experiment import session
from difflogic.run.lock import RunLock
from difflogic.sweeps import planned_run
from difflogic.sweeps.backends import Backend, LocalBackend, WorkersLostError
from difflogic.sweeps.directory import SweepDirectory
from difflogic.sweeps.execution import CONTROL, default_jobs
from difflogic.sweeps.planned_run import Control, Outcome, PlannedRun, run
from difflogic.sweeps.sweep_plan import with_seed
from difflogic.sweeps.sweep_results import make_row
from difflogic.system.errors import RunDirectoryError, StorageError
from tests.cli.processes import with_hook
from tests.difflogic.sweeps.small import at_work, execute_all, small_plan, timeless

LONG = small_plan(seeds=(0, 1), overrides=("training.epochs=200",))
"""Runs that are stopped or killed in the middle."""


def test_a_run_is_over_without_its_sweep(tmp_path):
    """Its folder is there if the sweep was killed."""
    for parent, over in ((-1, True), (os.getpid(), False), (None, False)):
        assert Control(str(tmp_path), parent).is_over() is over


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The rows of LONG without an interruption."""
    return timeless(execute_all(tmp_path_factory.mktemp("whole"), LONG))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Directory and rows of a finished sweep of two runs."""
    path = tmp_path_factory.mktemp("finished")
    return path, timeless(execute_all(path, small_plan()))


@pytest.fixture
def ended(finished, tmp_path):
    """A copy of the finished sweep."""
    shutil.copytree(finished[0], tmp_path / "ended")
    return tmp_path / "ended"


@pytest.mark.thorough
def test_runs_equal_those_of_a_plain_session(tmp_path):
    plan = small_plan("training.weight_decay=0.0,0.5", seeds=(3,))
    rows = execute_all(tmp_path / "sweep", plan, jobs=2)
    expected = []
    for variant in plan.variants:
        path = tmp_path / "plain" / variant.name
        summary = session.execute(with_seed(variant.config, 3), path)
        expected.append(make_row(variant, 3, summary))
        there = SweepDirectory(tmp_path / "sweep").run_path(variant, 3) / "model.npz"
        assert there.read_bytes() == (path / "model.npz").read_bytes()
    assert timeless(rows) == timeless(expected)
    assert not list((tmp_path / "sweep").glob(f"{CONTROL}*"))


HELD = """
import os, time
from difflogic.sweeps import planned_run

def hold(self, result):
    if result.epoch == 100:
        self.write(result.epoch)
        while not os.path.exists({go!r}):
            time.sleep(0.01)

planned_run.Beat.__call__ = hold
"""
"""Code for workers: runs wait in the middle for a file."""


@pytest.mark.thorough
def test_a_killed_worker_loses_nothing(tmp_path, whole, monkeypatch):
    go = tmp_path / "go"
    killed = False
    hook = with_hook(tmp_path, HELD.format(go=str(go)))
    monkeypatch.setenv("PYTHONPATH", hook["PYTHONPATH"])
    with at_work(tmp_path / "sweep", LONG, LocalBackend(2)) as execution:
        for _ in execution.work(tick=0.02):
            if not killed and [epoch for *_, epoch in execution.running()] == [100, 100]:
                lock = next((tmp_path / "sweep").rglob(".lock"))
                os.kill(json.loads(lock.read_text())["pid"], signal.SIGKILL)
                killed = True
                go.touch()
        assert killed
        assert len(execution.notices) == 1
        assert timeless(execution.rows) == whole


class Losing(Backend):
    """A backend that loses all workers at each call, after some finished runs."""

    def __init__(self, finished):
        super().__init__(1)
        self.finished = finished
        self.calls = 0

    def outcomes(self, jobs):
        self.calls += 1
        for job in jobs[: self.finished]:
            yield run(job)
        raise WorkersLostError("killed")


@pytest.mark.parametrize("finished", [0, 1])
def test_workers_that_always_die_end_the_sweep(tmp_path, finished):
    """A sweep goes on if runs end in between."""
    plan = small_plan(seeds=(0, 1, 2, 3))
    backend = Losing(finished)
    given_up = nullcontext() if finished else pytest.raises(WorkersLostError)
    with at_work(tmp_path, plan, backend) as execution, given_up:
        list(execution.work(0.1))
    missing = [row.status == "missing" for row in execution.rows]
    assert missing == [not finished] * 4
    assert backend.calls == (4 if finished else 3)


def make_job(plan, path, control, seed=0, **changes):
    config = with_seed(plan.variants[0].config, seed).to_dict()
    return PlannedRun(0, config, str(path), control, **changes)


@pytest.mark.parametrize("stays", [False, True])
def test_a_run_waits_until_its_directory_is_free(tmp_path, monkeypatch, stays):
    control = tmp_path / "control"
    path = tmp_path / "run"
    control.mkdir()
    path.mkdir()
    with ExitStack() as lock:
        lock.enter_context(RunLock(path))
        if stays:
            monkeypatch.setattr(planned_run, "LOCK_SECONDS", 0.0)
        else:
            waiting = SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: lock.close())
            monkeypatch.setattr(planned_run, "time", waiting)
        outcome = run(make_job(small_plan(), path, Control(str(control))))
    if stays:
        assert "in use by" in outcome.error
    else:
        assert outcome.error is None
        assert outcome.summary.finished


def test_a_resumed_run_is_shown_where_it_stands(tmp_path, monkeypatch):
    plan = small_plan()
    path = tmp_path / "run"
    epochs = iter(range(5))
    config = with_seed(plan.variants[0].config, 0)
    session.execute(config, path, should_stop=lambda: next(epochs) == 4)
    told = []
    monkeypatch.setattr(planned_run.Beat, "write", lambda self, epoch: told.append(epoch))
    assert run(make_job(plan, path, Control(str(tmp_path)))).error is None
    assert 0 < told[0] < told[-1]


def test_no_run_begins_after_the_end_or_in_another_version(tmp_path):
    plan = small_plan()
    path = tmp_path / "run"
    assert run(make_job(plan, path, Control(str(tmp_path / "gone")))) == Outcome(0)
    outcome = run(make_job(plan, path, Control(str(tmp_path)), version="0.0.0"))
    assert "the worker has dct" in outcome.error
    assert not path.exists()


@pytest.mark.parametrize(
    ("seeds", "overrides", "jobs"),
    [
        (100, (), 8),
        (3, (), 3),
        (100, ("parallel.workers=3",), 2),
        (100, ("parallel.workers=auto",), 1),
    ],
)
def test_jobs_keep_all_cores_busy(monkeypatch, seeds, overrides, jobs):
    monkeypatch.setattr("difflogic.sweeps.execution.cpu_count", lambda: 8)
    assert default_jobs(small_plan(seeds=range(seeds), overrides=overrides)) == jobs


def swapped(first, second):
    aside = first.with_name("aside")
    first.rename(aside)
    second.rename(first)
    aside.rename(second)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda path: (path / "model.npz").unlink(), "model.npz: is missing"),
        (lambda path: (path / "config.toml").write_text("x"), "config.toml: "),
        (lambda path: (path / "summary.json").write_text("{}"), "summary.json: is damaged"),
        (lambda path: swapped(path, path.with_name("seed1")), "training.seed: 1 → 0"),
        (
            lambda path: swapped(path / "summary.json", path.with_name("seed1") / "summary.json"),
            "config.toml: is damaged, or of another run than summary.json",
        ),
    ],
)
def test_a_damaged_or_foreign_run_is_reported_and_repeated(ended, finished, damage, says):
    plan = small_plan()
    damage(SweepDirectory(ended).run_path(plan.variants[0], 0))
    with at_work(ended, plan, LocalBackend(1)) as execution:
        assert says in "\n".join(execution.warnings)
        assert execution.rows[0].status == "missing"
        list(execution.work(0.05))
        assert timeless(execution.rows) == finished[1]
    with at_work(ended, plan, LocalBackend(1)) as execution:
        assert execution.warnings == []
        assert execution.kept == 2


def test_only_a_run_of_the_length_asked_for_is_done(ended):
    asked = [small_plan(overrides=keys).variants[0] for keys in ((), ("training.epochs=21",))]
    found = [SweepDirectory(ended).run_state(variant, 0) for variant in asked]
    assert [(state.summary is None, state.problem) for state in found] == [
        (False, None),
        (True, None),
    ]


def test_foreign_runs_are_moved_aside_and_kept(ended):
    path = SweepDirectory(ended).run_path(small_plan().variants[0], 0)
    for _ in range(2):
        (path / "config.toml").write_text("mine")
        execute_all(ended, small_plan())
    asides = sorted(path.parent.glob("seed0-*"))
    assert [aside.name for aside in asides] == ["seed0-set-aside-1", "seed0-set-aside-2"]
    assert (asides[0] / "config.toml").read_text() == "mine"


def test_links_in_the_place_of_runs_are_not_followed(tmp_path):
    plan = small_plan(seeds=(0,))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path = SweepDirectory(tmp_path / "sweep").run_path(plan.variants[0], 0)
    path.parent.mkdir(parents=True)
    path.symlink_to(elsewhere)
    with pytest.raises(RunDirectoryError, match="link"):
        execute_all(tmp_path / "sweep", plan)
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize(("soft", "hard", "raised"), [(8, 8, None), (40, 4096, 64), (64, 64, 0)])
def test_the_limit_of_open_files_is_raised_or_reported(monkeypatch, soft, hard, raised):
    import resource

    limits = []
    monkeypatch.setattr(resource, "getrlimit", lambda which: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda which, new: limits.append(new))
    refused = pytest.raises(StorageError, match="need 64 open files, and 8 are allowed")
    with refused if raised is None else nullcontext():
        LocalBackend(4).prepare(Control("x"))
    assert limits == ([(raised, hard)] if raised else [])
