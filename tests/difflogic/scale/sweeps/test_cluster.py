"""Sweeps on a Dask cluster: a scheduler and two workers, each a process of its own."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from difflogic.scale.sweeps.cluster import ClusterError, ClusterLostError, DaskBackend
from difflogic.scale.sweeps.directory import SweepDirectory
from difflogic.scale.sweeps.execution import Execution
from tests.difflogic.scale.sweeps.small import execute_all, question, timeless

pytestmark = pytest.mark.thorough

pytest.importorskip("distributed")

REPOSITORY = Path(__file__).resolve().parents[4]
SEEDS = (0, 1, 2, 3)
ENDLESS = question(seeds=(0, 1), overrides=("training.epochs=1000000",))

APART = """
from difflogic.scale.sweeps import work
work.Control.is_shared = lambda self: False
"""
"""For a worker: the sweep's directory is on another machine."""

HELD = """
import os, time
from difflogic.scale.sweeps import work

def hold(self, result):
    self.tell(result.epoch)
    while not os.path.exists("go"):
        time.sleep(0.01)

work.Beat.__call__ = hold
"""
"""For a worker: a run waits after its first epoch until there is a file `go`."""


class Cluster:
    """A scheduler and workers, started and killed at will."""

    def __init__(self, path):
        self.path = path
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self.scheduler = self.start(
            "scheduler", "--host", "127.0.0.1", "--port", self.address.rpartition(":")[2]
        )
        self.processes = [self.scheduler]
        self.wait_for(0)

    def start(self, *arguments):
        log = (self.path / f"dask-{time.monotonic_ns()}.log").open("w")
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments, "--no-dashboard"],
            cwd=self.path,
            env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
            stdout=log,
            stderr=log,
        )

    def wait_for(self, workers):
        """Wait until the scheduler answers and has so many workers."""
        import distributed

        with distributed.Client(self.address, timeout=120, set_as_default=False) as client:
            while len(client.scheduler_info(n_workers=-1)["workers"]) < workers:
                assert self.scheduler.poll() is None
                time.sleep(0.02)

    def add_worker(self, code=""):
        """Start a worker that runs this code first."""
        (self.path / "first.py").write_text(code)
        options = f"--nthreads 1 --no-nanny --host 127.0.0.1 --local-directory {self.path}"
        options += " --death-timeout 10 --preload first.py"
        worker = self.start("worker", self.address, *options.split())
        self.processes.append(worker)
        return worker

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def dask(tmp_path):
    cluster = Cluster(tmp_path)
    yield cluster
    cluster.close()


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """The same runs on this machine: where they are, and their rows."""
    path = tmp_path_factory.mktemp("local")
    return path, timeless(execute_all(path, question(seeds=SEEDS), jobs=2))


def at_work(path, asked, backend):
    """Return an execution of a sweep in a new directory."""
    directory = SweepDirectory(path / "cluster")
    directory.make()
    return Execution(directory, asked, backend)


@pytest.mark.parametrize("apart", [pytest.param("", marks=pytest.mark.exhaustive), APART])
def test_a_killed_worker_loses_nothing(tmp_path, dask, local, apart):
    victim = dask.add_worker(apart + HELD)
    dask.add_worker(apart + HELD)
    dask.wait_for(2)
    backend = DaskBackend(dask.address, None, ["float32"])
    with at_work(tmp_path, question(seeds=SEEDS), backend) as execution:
        for _ in execution.work(tick=0.02):
            # On this machine they can write where the sweep looks.
            at_it = [run for run in execution.running() if run[2] > 0]
            # Once both are at work, one of the two is the victim's.
            if victim.poll() is None and len(at_it) == 2:
                victim.send_signal(signal.SIGKILL)
                victim.wait()
                (tmp_path / "go").touch()
        assert victim.returncode == -signal.SIGKILL
        rows = execution.rows
    assert timeless(rows) == local[1]
    for path in local[0].rglob("model.npz"):
        there = tmp_path / "cluster" / path.relative_to(local[0])
        assert there.read_bytes() == path.read_bytes()
        if apart:  # it was made in a directory elsewhere
            assert not list(there.parent.glob("checkpoint-*"))


@pytest.mark.slow
def test_runs_elsewhere_hear_that_they_are_to_stop(tmp_path, dask, monkeypatch):
    dask.add_worker(APART)
    with at_work(tmp_path, ENDLESS, DaskBackend(dask.address, None, ["float32"])) as execution:
        threading.Timer(3.0, execution.stop).start()  # what goes on there is not seen from here
        for _ in execution.work(tick=0.05):
            pass
        assert [row.status for row in execution.rows] == ["missing", "missing"]


def test_a_lost_scheduler_ends_the_sweep_in_words(tmp_path, dask):
    dask.add_worker()

    def watch(execution):
        for _ in execution.work(tick=0.02):
            if dask.scheduler.poll() is None and any(run[2] > 0 for run in execution.running()):
                dask.scheduler.kill()

    with at_work(tmp_path, ENDLESS, DaskBackend(dask.address, None, ["float32"])) as execution:
        with pytest.raises(ClusterLostError):
            watch(execution)
        assert [row.status for row in execution.rows] == ["missing", "missing"]


def test_a_cluster_of_its_own_answers_nobody_without_its_certificate(tmp_path):
    import distributed
    from distributed.comm import connect

    backend = DaskBackend(None, 1, ["float32"])
    with at_work(tmp_path, ENDLESS, backend) as execution:
        work = execution.work(0.05)
        while not any(run[2] > 0 for run in execution.running()):
            next(work)
        scheduler = backend._cluster.scheduler_address
        known = backend._client.scheduler_info(n_workers=-1)["workers"]
        nannies = [each["nanny"] for each in known.values()]
        assert len(nannies) == 1
        for address in [scheduler, *known, *nannies]:
            assert address.startswith("tls://127.0.0.1:"), address
        stranger = distributed.Security.temporary().get_connection_args("client")
        for address, arguments in (
            (scheduler, {}),
            (scheduler.replace("tls", "tcp"), {}),
            (scheduler, stranger),
        ):
            # No Client: one that fails may be collected while the next is made, and they deadlock.
            with pytest.raises((OSError, TimeoutError, TypeError)):
                asyncio.run(connect(address, timeout=2, **arguments))
        ((_, _, before),) = execution.running()
        while execution.running()[0][2] <= before:  # nobody stopped it
            next(work)
        execution.stop()
        list(work)


def test_no_scheduler_answers(tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{unused.getsockname()[1]}"
        backend = DaskBackend(address, None, ["float32"], timeout=1)
        said = f"no scheduler answers at {re.escape(address)}"
        with (
            at_work(tmp_path, question(), backend) as execution,
            pytest.raises(ClusterError, match=said),
        ):
            list(execution.work(0.05))


def test_a_scheduler_without_workers(tmp_path, dask):
    backend = DaskBackend(dask.address, None, ["float32"], timeout=1)
    with (
        at_work(tmp_path, question(), backend) as execution,
        pytest.raises(ClusterError, match="has no workers: start some with dask worker"),
    ):
        list(execution.work(0.05))


@pytest.mark.parametrize("address", ["nonsense", "tcp://host", "http://127.0.0.1:80", "a b:1", ""])
def test_what_is_no_address_is_refused_at_once(address):
    with pytest.raises(ClusterError, match="is not an address"):
        DaskBackend(address, None, ["float32"])


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:8786", "host:1", "tls://[::1]:8786"])
def test_addresses(address):
    assert DaskBackend(address, 3, []).slots == 3
