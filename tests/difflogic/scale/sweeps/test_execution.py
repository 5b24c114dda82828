"""Sweeps as a whole, on this machine: real runs in real processes."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from difflogic.model.model import Model
from difflogic.scale.sweeps.backends import LocalBackend, WorkersLostError
from difflogic.scale.sweeps.directory import SweepDirectory
from difflogic.scale.sweeps.execution import CONTROL, Execution, default_jobs
from difflogic.scale.sweeps.progress import Progress
from difflogic.scale.sweeps.question import with_seed
from difflogic.scale.sweeps.results import make_row
from difflogic.scale.sweeps.work import Control, Job, Outcome, run
from difflogic.system.errors import RunDirectoryError, StorageError, TrainingError
from difflogic.training import session
from difflogic.training.lock import RunLock
from tests.difflogic.scale.sweeps.small import execute_all, question, timeless


@pytest.mark.thorough
def test_runs_are_those_of_a_plain_session(tmp_path):
    asked = question("training.weight_decay=0.0,0.5", seeds=(0, 3))
    rows = execute_all(tmp_path / "sweep", asked, jobs=2)
    expected = []
    for variant in asked.variants:
        for seed in asked.seeds:
            path = tmp_path / "plain" / variant.name / str(seed)
            summary = session.execute(with_seed(variant.config, seed), path)
            expected.append(make_row(variant, seed, summary))
            there = SweepDirectory(tmp_path / "sweep").run_path(variant, seed) / "model.npz"
            assert there.read_bytes() == (path / "model.npz").read_bytes()
    assert timeless(rows) == timeless(expected)
    assert not list((tmp_path / "sweep").glob(f"{CONTROL}*"))


def test_finished_runs_are_kept_and_missing_ones_done(tmp_path):
    first = execute_all(tmp_path, question(seeds=(0, 1)))
    models = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("model.npz")}
    assert len(models) == 2
    rows = execute_all(tmp_path, question(seeds=(0, 1, 2)))
    assert timeless(rows)[:2] == timeless(first)
    assert [row.seed for row in rows] == [0, 1, 2]
    assert {path: path.stat().st_mtime_ns for path in models} == models


def test_a_failed_run_stops_no_other_and_is_tried_again(tmp_path, monkeypatch):
    real = session.execute

    def failing(config, path, **options):
        if config.training.seed == 1:
            raise TrainingError("epoch 3: the soft loss is nan")
        if config.training.seed == 2:
            raise ZeroDivisionError("a bug")
        return real(config, path, **options)

    monkeypatch.setattr(session, "execute", failing)
    rows = execute_all(tmp_path, question(seeds=(0, 1, 2, 3)))
    assert [row.status == "failed" for row in rows] == [False, True, True, False]
    assert rows[1].error == "epoch 3: the soft loss is nan"
    assert rows[2].error == "ZeroDivisionError: a bug"

    monkeypatch.setattr(session, "execute", real)
    rows = execute_all(tmp_path, question(seeds=(0, 1, 2, 3)))
    assert "failed" not in [row.status for row in rows]


@pytest.mark.thorough
def test_stopped_runs_save_and_go_on(tmp_path):
    asked = question(seeds=(0, 1, 2), overrides=("training.epochs=1200",))
    directory = SweepDirectory(tmp_path / "stopped")
    directory.make()
    with Execution(directory, asked, LocalBackend(2)) as execution:
        progress = Progress(asked, execution)
        stopped = False
        for _ in execution.work(tick=0.02):
            if not stopped and any(run.epoch > 0 for run in progress.snapshot().running):
                execution.stop()
                stopped = True
        assert stopped
        assert progress.snapshot().ended < 3
    saved = list((tmp_path / "stopped").rglob("checkpoint-*.npz"))
    assert any(path.name != "checkpoint-0.npz" for path in saved)
    resumed = execute_all(tmp_path / "stopped", asked, jobs=2)
    assert timeless(resumed) == timeless(execute_all(tmp_path / "whole", asked, jobs=2))


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="sends SIGKILL")
def test_a_killed_worker_loses_nothing(tmp_path):
    asked = question(seeds=(0, 1, 2), overrides=("training.epochs=800",))
    directory = SweepDirectory(tmp_path / "killed")
    directory.make()
    killed = False
    with Execution(directory, asked, LocalBackend(2)) as execution:
        for _ in execution.work(tick=0.02):
            locks = [path.read_text() for path in (tmp_path / "killed").rglob(".lock")]
            if not killed and execution.running() and locks and locks[0]:
                os.kill(json.loads(locks[0])["pid"], signal.SIGKILL)
                killed = True
        assert killed
        assert len(execution.notices) == 1
        rows = execution.rows
    assert timeless(rows) == timeless(execute_all(tmp_path / "whole", asked, jobs=2))


class Losing:
    """A backend that loses all workers at each call, after so many finished runs."""

    compiles_here = True
    slots = 1
    warnings = ()

    def __init__(self, finished):
        self.finished = finished
        self.calls = 0

    def prepare(self, control):
        return control

    def outcomes(self, jobs):
        self.calls += 1
        for job in jobs[: self.finished]:
            yield run(job)
        raise WorkersLostError("killed")

    def request_stop(self):
        pass

    def close(self, at_once):
        pass


def test_workers_that_always_die_end_the_sweep(tmp_path):
    asked = question(seeds=(0, 1, 2, 3, 4))
    with (
        Execution(SweepDirectory(tmp_path), asked, Losing(0)) as execution,
        pytest.raises(WorkersLostError),
    ):
        list(execution.work(0.1))
    assert [row.status for row in execution.rows] == ["missing"] * 5


@pytest.mark.thorough
def test_workers_that_die_now_and_then_do_not(tmp_path):
    asked = question(seeds=(0, 1, 2, 3, 4))
    backend = Losing(1)
    with Execution(SweepDirectory(tmp_path), asked, backend) as execution:
        list(execution.work(0.1))
    assert "missing" not in [row.status for row in execution.rows]
    assert backend.calls == 5


def make_job(asked, path, control, seed=0, **changes):
    config = with_seed(asked.variants[0].config, seed).to_dict()
    return Job(0, config, str(path), control, **changes)


def test_a_run_waits_for_a_process_that_is_about_to_leave(tmp_path, monkeypatch):
    control = tmp_path / "control"
    control.mkdir()
    asked, path = question(), tmp_path / "run"
    path.mkdir()
    lock = RunLock(path)
    lock.__enter__()

    def leave(seconds, sleep=time.sleep):
        lock.__exit__()

    monkeypatch.setattr(time, "sleep", leave)
    outcome = run(make_job(asked, path, Control(str(control))))
    assert outcome.error is None
    assert outcome.summary["finished"]


def test_a_run_that_stays_in_use_fails(tmp_path, monkeypatch):
    from difflogic.scale.sweeps import work

    monkeypatch.setattr(work, "LOCK_SECONDS", 0.0)
    control, path = tmp_path / "control", tmp_path / "run"
    control.mkdir()
    path.mkdir()
    with RunLock(path):
        outcome = run(make_job(question(), path, Control(str(control))))
    assert "in use by" in outcome.error


def test_a_job_that_comes_after_the_end_is_not_begun(tmp_path):
    job = make_job(question(), tmp_path / "run", Control(str(tmp_path / "gone")))
    assert run(job) == Outcome(0)
    assert not (tmp_path / "run").exists()


def test_another_version_is_refused(tmp_path):
    control = Control(str(tmp_path))
    outcome = run(make_job(question(), tmp_path / "run", control, version="0.0.0"))
    assert "the worker has dct" in outcome.error


def test_a_run_elsewhere_gives_its_files_back(tmp_path, monkeypatch):
    # As on a machine that does not see the sweep's directory.
    monkeypatch.setattr(Control, "is_shared", lambda self: False)
    monkeypatch.setattr(Control, "stop_test", lambda self: lambda: False)
    asked = question()
    job = make_job(asked, tmp_path / "unseen", Control(str(tmp_path / "control"), event="x"))
    outcome = run(job)
    assert not (tmp_path / "unseen").exists()
    session.execute(with_seed(asked.variants[0].config, 0), tmp_path / "plain")
    assert outcome.files["model.npz"] == (tmp_path / "plain" / "model.npz").read_bytes()
    SweepDirectory(tmp_path).write_run(asked.variants[0], 0, outcome.files)
    there = SweepDirectory(tmp_path).run_path(asked.variants[0], 0)
    assert Model.load(there / "model.npz").config.training.seed == 0
    # What was brought over is a finished run as any other.
    assert session.execute(with_seed(asked.variants[0].config, 0), there) == outcome.summary


def test_jobs_keep_all_cores_busy(monkeypatch):
    from difflogic.scale.sweeps import execution

    monkeypatch.setattr(execution, "cpu_count", lambda: 8)
    many = tuple(range(100))
    assert default_jobs(question(seeds=many)) == 8
    assert default_jobs(question(seeds=(0, 1, 2))) == 3
    assert default_jobs(question(seeds=many, overrides=("parallel.workers=3",))) == 2
    assert default_jobs(question(seeds=many, overrides=("parallel.workers=auto",))) == 1


def test_a_directory_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunDirectoryError, match="cannot be created"):
        SweepDirectory(tmp_path / "file" / "sweep").make()


def swapped(first, second):
    aside = first.with_name("aside")
    first.rename(aside)
    second.rename(first)
    aside.rename(second)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda path: (path / "model.npz").unlink(), "model.npz: is missing"),
        (lambda path: (path / "model.npz").write_bytes(b""), "model.npz: is damaged"),
        (lambda path: (path / "metrics.csv").write_text(""), "metrics.csv: is damaged"),
        (lambda path: (path / "config.toml").write_text("x"), "config.toml: "),
        (lambda path: (path / "summary.json").write_text("{}"), "summary.json: is damaged"),
        (lambda path: swapped(path, path.with_name("seed1")), "training.seed: 1 → 0"),
        (
            lambda path: swapped(path / "summary.json", path.with_name("seed1") / "summary.json"),
            "summary.json: is that of another run",
        ),
    ],
)
def test_a_finished_run_that_is_not_what_it_says_is_told_and_done_again(tmp_path, damage, says):
    asked = question(seeds=(0, 1))
    before = execute_all(tmp_path, asked)
    (variant,) = asked.variants
    directory = SweepDirectory(tmp_path)
    damage(directory.run_path(variant, 0))
    with Execution(directory, asked, LocalBackend(1)) as execution:
        assert says in "\n".join(execution.warnings)
        assert execution.rows[0].status == "missing"
        list(execution.work(0.05))
        assert execution.rows[0].error is None
        assert timeless(execution.rows) == timeless(before)
    with Execution(directory, asked, LocalBackend(1)) as execution:
        assert execution.warnings == []
        assert execution.kept == 2


def test_what_is_set_aside_is_kept(tmp_path):
    asked = question(seeds=(0,))
    execute_all(tmp_path, asked)
    path = SweepDirectory(tmp_path).run_path(asked.variants[0], 0)
    for _ in range(2):
        (path / "config.toml").write_text("mine")
        execute_all(tmp_path, asked)
    asides = sorted(path.parent.glob("seed0-*"))
    assert [aside.name for aside in asides] == ["seed0-set-aside-1", "seed0-set-aside-2"]
    assert (asides[0] / "config.toml").read_text() == "mine"


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_links_in_the_place_of_runs_are_not_followed(tmp_path):
    asked = question(seeds=(0,))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path = SweepDirectory(tmp_path / "sweep").run_path(asked.variants[0], 0)
    path.parent.mkdir(parents=True)
    path.symlink_to(elsewhere)
    with pytest.raises(RunDirectoryError, match="link"):
        execute_all(tmp_path / "sweep", asked)
    assert list(elsewhere.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
@pytest.mark.parametrize(("soft", "hard", "raised"), [(8, 8, None), (40, 4096, 64), (64, 64, 0)])
def test_too_few_open_files_are_told_or_mended(monkeypatch, soft, hard, raised):
    import resource

    asked = []
    monkeypatch.setattr(resource, "getrlimit", lambda which: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda which, limits: asked.append(limits))
    backend = LocalBackend(4)
    if raised is None:
        with pytest.raises(StorageError, match="need 64 open files, and 8 are allowed"):
            backend.prepare(Control("x"))
    else:
        backend.prepare(Control("x"))
    assert asked == ([(raised, hard)] if raised else [])


@pytest.mark.skipif(os.name != "posix", reason="descriptors of POSIX")
def test_the_tracker_of_worker_processes_prints_nothing():
    """It would print a traceback: it is told to forget what it never knew."""
    code = """
from joblib.externals.loky.backend import resource_tracker as tracker
from difflogic.scale.sweeps.backends import shield_workers
shield_workers()
tracker.unregister("/never-there", "semlock")
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path or "." for path in sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
