"""One run as several processes: equal bits, killed ranks, interruptions and refusals."""

import json
import os
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from pathlib import Path

import pytest
import typer

from cli import ranks
from difflogic.library.training import train
from difflogic.scale import verification
from difflogic.scale.verification import ranks as comparison
from difflogic.tasks import custom
from tests.cli.processes import with_hook
from tests.cli.test_survival import overrides, wait_for_epoch
from tests.difflogic.tasks.custom_task import write

pytestmark = pytest.mark.thorough

ENDLESS = ("training.batch=7", "training.epochs=1000000", "checkpoint.every_epochs=1")
INTO_RUN = ("--dir=run", "--oversubscribe", "--quiet")
LAUNCHER = Path(sysconfig.get_path("scripts")) / "mpiexec.gforker"


@pytest.fixture
def begin(start):
    """Start `dct` with MPI."""
    pytest.importorskip("mpi4py", reason="several ranks need mpi4py")
    if not LAUNCHER.is_file() or not Path("/proc/self/environ").exists():
        pytest.skip("needs the launcher of MPICH's wheel, and /proc")
    return start


def ranks_of(run):
    """Return the process of each rank of a run."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            session = os.getsid(int(folder.name))
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if session == run.pid:
            found |= {
                int(text.partition(b"=")[2]): int(folder.name)
                for text in variables
                if text.startswith(b"PMI_RANK=")
            }
    return found


def parent(process):
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


PATIENT = "from cli import ranks\nranks.GRACE = 300"
"""Code for ranks: on a busy machine, it takes them long to save."""


def test_three_ranks_give_the_bits_of_one_and_run_allowed_code(tmp_path, begin, monkeypatch):
    config = str(write(tmp_path))
    settings = ["training.batch=13", "training.epochs=12", "finishing.every=5"]
    words = ["--ranks=3", "--dir=three", "--json", "--oversubscribe", "--quiet"]
    run = begin("train", config, *overrides(settings), *words)
    assert run.end() == 0, run.err
    summary = json.loads(run.out)
    assert (summary["finished"], summary["ranks"], run.err) == (True, 3, "")
    monkeypatch.setattr(custom, "LOADED", {})
    train(config, settings, directory=tmp_path / "one", allow_code=True)
    model = (tmp_path / "three" / "model.npz").read_bytes()
    assert model == (tmp_path / "one" / "model.npz").read_bytes()


def test_a_killed_rank_ends_the_run_and_a_killed_command_lets_ranks_save(tmp_path, tiny, begin):
    settings = [*tiny, *ENDLESS]
    first = begin("train", "checkerboard", *overrides(settings), "--ranks=2", *INTO_RUN)
    wait_for_epoch(tmp_path / "run", first, 2)
    ranks = ranks_of(first)
    assert sorted(ranks) == [0, 1]
    os.kill(ranks[1], signal.SIGKILL)
    assert first.end() == 1
    assert "a rank ended early" in first.err
    assert "dct train --resume run\n" in first.err
    assert "Return code" not in first.err

    words = ["train", "--resume=run", "--ranks=3", "--oversubscribe", "--quiet"]
    second = begin(*words, variables=with_hook(tmp_path, PATIENT))
    latest = max(int(path.stem[11:]) for path in (tmp_path / "run").glob("checkpoint-*.npz"))
    wait_for_epoch(tmp_path / "run", second, latest + 3)
    # Its output ends when nobody is left who could write.
    assert second.end(signal.SIGKILL) == -signal.SIGKILL

    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["interrupted"]
    assert summary["resumed"] == 1
    left = iter(range(summary["epochs"]))
    train(
        "checkerboard",
        settings,
        directory=tmp_path / "one",
        should_stop=lambda: next(left, None) is None,
    )
    model = (tmp_path / "run" / "model.npz").read_bytes()
    assert model == (tmp_path / "one" / "model.npz").read_bytes()


def test_ranks_save_and_end_when_their_launcher_is_killed(tmp_path, tiny, begin):
    settings = overrides([*tiny, *ENDLESS])
    words = ["train", "checkerboard", *settings, "--ranks=2", *INTO_RUN]
    run = begin(*words, variables=with_hook(tmp_path, PATIENT))
    wait_for_epoch(tmp_path / "run", run, 2)
    os.kill(parent(ranks_of(run)[0]), signal.SIGKILL)
    assert run.end() == 1
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["interrupted"]
    assert "mpiexec.gforker ended early" in run.err
    assert "Abort" not in run.err


def test_a_stopped_rank_is_killed_some_time_after_a_signal(tmp_path, tiny, begin):
    settings = overrides([*tiny, *ENDLESS])
    run = begin("train", "checkerboard", *settings, "--ranks=2", *INTO_RUN)
    wait_for_epoch(tmp_path / "run", run, 2)
    ranks = ranks_of(run)
    os.kill(ranks[1], signal.SIGSTOP)
    assert run.end(signal.SIGTERM) == 143
    assert "killed ranks that did not end" in run.err
    assert "Return code" not in run.err
    assert not ranks_of(run)


DEAF = """
import os, pathlib, signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
pathlib.Path("ready").touch()
os.read(int(os.environ["DCT_RANKS_DESCRIPTORS"].split()[0]), 1)
pathlib.Path("ended").touch()
"""
"""A rank that missed a signal, and ends with the command that started it."""

DEAF_LAUNCHER = """
import signal, subprocess, sys

signal.signal(signal.SIGINT, signal.SIG_IGN)
subprocess.run(sys.argv[1:], close_fds=False)
"""
"""Passes no signal on. By itself Python would wait a quarter of a second, and kill the rank."""


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_a_signal_that_a_starting_rank_misses_ends_it_all_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ranks, "PATIENCE", 0.2)

    before = signal.getsignal(signal.SIGINT)

    def interrupt():
        while not Path("ready").exists() or signal.getsignal(signal.SIGINT) is before:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    command = [sys.executable, "-c", DEAF_LAUNCHER, sys.executable, "-c", DEAF]
    assert ranks._run(command) == (-signal.SIGKILL, 130, b"")
    while not Path("ended").exists():
        time.sleep(0.01)


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_a_signal_while_the_launcher_starts_reaches_it(monkeypatch):
    class Interrupted(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    assert ranks._run(["sleep", "600"]) == (-signal.SIGINT, 130, b"")


TURNING = """
import os, sys, time

class Turning:
    def find_spec(self, name, path=None, target=None):
        if name == "difflogic.scale.verification":
            print("rank", os.environ.get("PMI_RANK"), "imports", file=sys.stderr, flush=True)
            try:
                time.sleep(600)
            except KeyboardInterrupt:
                raise RuntimeError("turned") from None

sys.meta_path.insert(0, Turning())
"""


def test_an_import_that_turns_ctrl_c_into_another_error_is_an_interruption(tmp_path, tiny, begin):
    words = ["verify", "equivalence", "--small", *overrides(tiny), "--ranks=1,2"]
    run = begin(*words, variables=with_hook(tmp_path, TURNING))
    run.wait_for("rank 0 imports")
    assert run.end(signal.SIGINT) == 130, run.err
    assert "interrupted" in run.err
    assert "turned" not in run.err
    assert "Abort" not in run.err


def test_ranks_are_measured_in_turn(tmp_path, tiny, begin):
    settings = overrides([*tiny, "training.batch=4"])
    words = ["--ranks=2", "--repeat=2", "--json", "--oversubscribe"]
    run = begin("bench", "--small", *settings, *words)
    assert run.end() == 0, run.err
    found = json.loads(run.out)
    assert found["equal"]
    one, two = found["rows"]
    assert (one["ranks"], two["ranks"], two["difference"]) == (1, 2, 0.0)
    assert one["exchange_seconds"] is None
    assert 0 < two["exchange_seconds"]["min"] <= two["exchange_seconds"]["median"]
    # Four float32 sums for each of 42 gates, and a loss for each of four samples.
    assert two["exchanged_bytes"] == 16 * 42 + 8 * 4


def test_verify_compares_ranks_and_says_how_without_mpi(dct, tiny, monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    monkeypatch.setattr(verification, "equivalence", lambda config: iter(()))
    monkeypatch.setattr(comparison, "WORKERS", (1,))
    result = dct("verify", "equivalence", "--small", *overrides(tiny), "--ranks", "1,2")
    assert result.exit_code == 0, result.stderr
    assert "using threads instead of processes" in result.stderr
    assert "pip install '.[mpi]'" in result.stderr
    assert "training by 2 ranks as threads" in result.stdout
    assert "all 12 comparisons passed" in result.stdout


TWO = "--ranks 2 --oversubscribe"
IS_ONE = "is already a rank started by dct"


@pytest.mark.parametrize(
    ("command", "variable", "message"),
    [
        ("verify equivalence --ranks 1,x", None, '"x" is not a whole number from 1 to 64'),
        ("verify equivalence --ranks 3,3", None, "lists a number twice"),
        ("bench --ranks 2 --workers 1,2", None, "--workers and --ranks measure"),
        ("train checkerboard --ranks 5000", None, "--oversubscribe"),
        ("bench --ranks 64", None, "--oversubscribe"),
        (f"train checkerboard {TWO}", None, "pip install '.[mpi]'"),
        ("train checkerboard", "PMI_SIZE", "pip install '.[mpi]'"),
        (f"train checkerboard {TWO}", ranks.LAUNCHED, IS_ONE),
        (f"bench --small {TWO}", ranks.LAUNCHED, IS_ONE),
        ("verify equivalence --small --ranks 2", ranks.LAUNCHED, IS_ONE),
    ],
)
def test_refusals(dct, monkeypatch, command, variable, message):
    monkeypatch.setattr(ranks, "_run", lambda command: pytest.fail("it was launched"))
    if message != IS_ONE:
        monkeypatch.setitem(sys.modules, "mpi4py", None)
    if variable:
        monkeypatch.setenv(variable, "2")
    result = dct(*command.split())
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize(("failures", "code"), [(2, 0), (3, 1)])
def test_ranks_that_cannot_connect_are_started_again(monkeypatch, capsys, failures, code):
    calls = []

    def run(command):
        calls.append(command)
        return (1, 0, b"") if len(calls) <= failures else (0, 0, b"+.")

    monkeypatch.setattr(ranks, "_run", run)
    monkeypatch.setattr(ranks, "launcher", lambda ranks: Path("mpiexec"))
    with pytest.raises(typer.Exit) as ended:
        ranks.launch(2)
    assert ended.value.exit_code == code
    assert len(calls) == 3
    assert calls[0][:3] == ["mpiexec", "-n", "2"]
    err = capsys.readouterr().err
    assert err.count("MPI did not start") == failures
    assert ("a rank ended early" in err) == bool(code)
