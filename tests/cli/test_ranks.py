"""One run as several processes of mpiexec: equal bits, killed ranks, signals and refusals."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from difflogic.library.training import train
from difflogic.tasks import custom
from tests.cli.conftest import TINY
from tests.cli.processes import HELD, as_options, mpiexec, of_session, wait_until, with_hook
from tests.cli.test_survival import latest, wait_for_epoch
from tests.difflogic.experiment.kill import results
from tests.difflogic.tasks.custom_task import write
from tests.difflogic.training.tiny import growing

pytestmark = pytest.mark.thorough

SETTINGS = (
    *TINY,
    "training.seed=23",
    "training.batch=7",
    "training.epochs=1000000",
    "checkpoint.every_epochs=1",
)
ENDLESS = f"train checkerboard --dir=run --quiet {as_options(SETTINGS)}"


def rank(run, number):
    """Return the process of a rank of a run."""
    for process in of_session(run.pid):
        variables = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
        if f"PMI_RANK={number}".encode() in variables:
            return process
    raise AssertionError(f"no rank {number}")


def model_of(folder):
    return (folder / "model.npz").read_bytes()


def test_three_ranks_give_the_bits_of_one_and_run_allowed_code(tmp_path, start, monkeypatch):
    config = str(write(tmp_path))
    settings = ["training.batch=13", "training.epochs=12", "finishing.every=5"]
    run = start("train", config, as_options(settings), "--dir=three --json --quiet", **mpiexec(3))
    assert run.end() == 0, run.err
    summary = json.loads(run.out)
    assert (summary["finished"], summary["ranks"]) == (True, 3)
    monkeypatch.setattr(custom, "LOADED", {})
    train(config, settings, directory=tmp_path / "one", allow_code=True)
    assert model_of(tmp_path / "three") == model_of(tmp_path / "one")


def test_a_killed_rank_ends_the_run_and_a_signal_saves_it(tmp_path, start):
    folder = tmp_path / "run"
    first = start(ENDLESS, **mpiexec(2))
    wait_for_epoch(folder, first, 2)
    os.kill(rank(first, 1), signal.SIGKILL)
    first.end()

    second = start("train --resume=run --quiet", **mpiexec(3))
    wait_for_epoch(folder, second, latest(folder) + 3)
    os.kill(rank(second, 1), signal.SIGTERM)
    os.kill(rank(second, 0), signal.SIGTERM)
    assert second.end() == 143, second.err
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["interrupted"], summary["resumed"]) == (True, 1)
    left = iter(range(summary["epochs"]))
    train(
        "checkerboard",
        SETTINGS,
        directory=tmp_path / "one",
        should_stop=lambda: next(left, None) is None,
    )
    assert model_of(folder) == model_of(tmp_path / "one")


STOPPED_AT = """
import os, signal, time
from pkgutil import resolve_name

rank = os.environ.get("PMI_RANK")
with open(f"pid{{rank}}", "w") as file:
    file.write(str(os.getpid()))
owner, name = resolve_name({owner!r}), {name!r}
real = getattr(owner, name)
calls = iter(range({call}, -1, -1))

def stopped(*arguments, **more):
    if rank == "0" and next(calls, 1) == 0:
        pid = os.getppid() if {who!r} == "mpiexec" else int(open("pid" + {who!r}).read())
        os.kill(pid, signal.SIGTERM)
        time.sleep(0.2)
    return real(*arguments, **more)

setattr(owner, name, stopped)
"""
"""Code for `with_hook`: rank 0 sends SIGTERM to a rank, or to the launcher, as it calls this."""
PLACES = {
    "learning": ("difflogic.training.trainer:Descent", "step", 7),
    "a search": ("difflogic.experiment.best:BestCircuit", "_search", 1),
    "polishing": ("difflogic.experiment.best:BestCircuit", "_polish", 0),
    "the tests": ("difflogic.experiment.session", "summarize", 0),
}

GROWN = growing("training.seed=0", "finishing.polish=300")


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """A run that is found exact, and polished."""
    path = tmp_path_factory.mktemp("grown") / "run"
    train(GROWN, directory=path)
    return results(path)


@pytest.mark.slow
@pytest.mark.parametrize(("place", "who"), [*zip(PLACES, ["0", "1", "mpiexec", "1"], strict=True)])
def test_a_signal_to_any_rank_saves_the_run(place, who, grown, tmp_path, start):
    owner, name, call = PLACES[place]
    options = mpiexec(2)
    hook = STOPPED_AT.format(owner=owner, name=name, call=call, who=who)
    options["variables"] |= with_hook(tmp_path, hook)
    (tmp_path / "grow.toml").write_text(GROWN.to_toml())
    run = start("train grow.toml --dir=run --quiet", **options)
    assert run.end() == 143, run.err
    assert "error" not in run.err
    folder = tmp_path / "run"
    summary = folder / "summary.json"
    assert not (folder / ".lock").exists()
    assert summary.exists() or place == "the tests"
    if place != "the tests":
        assert json.loads(summary.read_text())["interrupted"]
    train(resume=folder)
    assert results(folder) == grown


def test_a_signal_ends_a_rank_that_waits_for_one_that_is_held(tmp_path, start):
    options = mpiexec(2)
    held = HELD.format(epoch=1, go="go") + "from cli import ranks\nranks.SAVING_SECONDS = 0.1\n"
    options["variables"] |= with_hook(tmp_path, held)
    run = start(ENDLESS, **options)
    wait_for_epoch(tmp_path / "run", run, 1)
    os.kill(rank(run, 1), signal.SIGTERM)
    assert run.end() >= 0


def test_a_signal_ends_a_rank_that_waits_for_one_that_never_comes(tmp_path, start):
    options = mpiexec(1)
    program = [sys.executable, "-P", "-c"]
    options["launcher"] += [*program, "import time; time.sleep(600)", ":", "-n", "1"]
    run = start("train checkerboard --dir=run", **options)
    maps = "/proc/{}/maps".format
    wait_until(lambda: any(b"libmpi" in Path(maps(p)).read_bytes() for p in of_session(run.pid)))
    os.kill(rank(run, 1), signal.SIGTERM)
    assert run.end() >= 0


@pytest.mark.once
@pytest.mark.parametrize("words", ["train checkerboard", "verify equivalence"])
def test_ranks_without_mpi_are_refused(dct, monkeypatch, words):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    monkeypatch.setenv("PMI_SIZE", "2")
    assert "pip install '.[mpi]'" in dct(words).refusal
