"""Sweeps on a Dask cluster: a scheduler and two workers, each a process of its own."""

import json
import os
import signal
import sys
from contextlib import suppress

import distributed  # its settings are restored with those that a test sets
import pytest
from dask import config

from difflogic.sweeps import cluster
from difflogic.sweeps.cluster import ClusterError, ClusterLostError, DaskBackend
from tests.cli.processes import wait_until
from tests.difflogic.experiment.kill import forked
from tests.difflogic.sweeps.small import at_work, execute_all, small_plan, timeless

pytestmark = pytest.mark.once


SEEDS = (0, 1, 2, 3)
ENDLESS = small_plan(seeds=(0, 1), overrides=("training.epochs=1000000",))

APART = "from difflogic.sweeps import cluster\ncluster.is_folder = lambda path: False\n"
"""Code for a worker that pretends to be on another machine."""

HELD = """
import os, time
from difflogic.sweeps import planned_run

def hold(self, result):
    self.write(result.epoch)
    while not os.path.exists("go"):
        time.sleep(0.01)

planned_run.Beat.__call__ = hold
"""
"""Code for a worker whose runs wait after their first epoch for a file `go`."""


def _dask(path, *arguments):
    """Do what the command does, in a directory."""
    from dask.cli import run_cli

    os.chdir(path)
    log = os.open(f"dask-{os.getpid()}.log", os.O_CREAT | os.O_WRONLY)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.argv = ["dask", *map(str, arguments)]
    run_cli()


class Cluster:
    """A scheduler, and the workers that a test starts and kills, in its directory `path`."""

    def __init__(self, path):
        self.path = path
        self.workers = []
        told = path / "scheduler.json"
        self.scheduler = self.start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(told)
        )
        self.address = None

        def is_told():
            assert self.scheduler.is_alive()
            with suppress(OSError, ValueError):  # not there yet, or half of it
                self.address = json.loads(told.read_text())["address"]
            return self.address

        wait_until(is_told)

    def start(self, *arguments):
        return forked(_dask, self.path, *arguments, "--no-dashboard")

    def wait_for(self, workers):
        """Wait until the scheduler has this number of workers."""
        with distributed.Client(self.address, timeout=120, set_as_default=False) as client:
            wait_until(
                lambda: (
                    len(client.scheduler_info(n_workers=-1)["workers"]) == workers
                    or not self.scheduler.is_alive()
                )
            )

    def add_worker(self, code=""):
        """Start a worker that first runs this code."""
        first = self.path / f"first-{len(self.workers)}.py"
        first.write_text(code)
        options = f"--nthreads 1 --no-nanny --host 127.0.0.1 --local-directory {self.path}"
        options += f" --death-timeout 120 --preload {first}"
        worker = self.start("worker", self.address, *options.split())
        self.workers.append(worker)
        return worker

    def end(self, processes):
        for process in processes:
            process.kill()
            process.join()


@pytest.fixture(scope="module")
def clusters():
    made = []
    yield made
    for each in made:
        each.end([each.scheduler])


@pytest.fixture
def dask(tmp_path, clusters):
    """A scheduler without workers: that of the test before, if it is alive."""
    if not clusters or not clusters[-1].scheduler.is_alive():
        clusters.append(Cluster(tmp_path))
    made = clusters[-1]
    made.path = tmp_path
    made.workers = []
    made.wait_for(0)
    yield made
    made.end(made.workers)


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """Directory and rows of the same runs on this machine."""
    path = tmp_path_factory.mktemp("local")
    return path, timeless(execute_all(path, small_plan(seeds=SEEDS)))


def test_a_killed_worker_loses_nothing(tmp_path, dask, local):
    victim = dask.add_worker(HELD)
    dask.add_worker(HELD)
    dask.wait_for(2)
    backend = DaskBackend(dask.address, None)
    with at_work(tmp_path / "cluster", small_plan(seeds=SEEDS), backend) as execution:
        for _ in execution.work(tick=0.02):
            active = [run for run in execution.running() if run[2] > 0]
            # If two runs are active, one is the victim's.
            if victim.is_alive() and len(active) == 2:
                victim.kill()
                victim.join()
                (tmp_path / "go").touch()
        assert victim.exitcode == -signal.SIGKILL
        rows = execution.rows
    assert timeless(rows) == local[1]
    for path in local[0].rglob("model.npz"):
        there = tmp_path / "cluster" / path.relative_to(local[0])
        assert there.read_bytes() == path.read_bytes()


def test_a_worker_that_does_not_see_the_sweep_is_refused(tmp_path, dask):
    dask.add_worker(APART)
    dask.wait_for(1)
    backend = DaskBackend(dask.address, None)
    refused = pytest.raises(ClusterError, match=r"1 of 1 workers .* does not see the sweep's direc")
    with at_work(tmp_path / "cluster", ENDLESS, backend) as execution, refused:
        list(execution.work(tick=0.05))


@pytest.mark.parametrize(
    ("required", "address", "remedy"),
    [
        (True, "tcp://127.0.0.1:9", "start one with .*tls:// before its address"),
        (False, "tls://127.0.0.1:9", "needs the TLS variables of docs/sweeps.md"),
    ],
)
def test_what_tls_needs_is_told(required, address, remedy):
    with (
        config.set({"distributed.comm.require-encryption": required}),
        pytest.raises(ClusterError, match=f"no scheduler answers at {address} .*{remedy}"),
    ):
        cluster._connect(address, 0.1)


def test_a_scheduler_without_workers_is_reported(tmp_path, dask, monkeypatch):
    # It may take more than the second in which there must be workers to answer.
    connect = cluster._connect
    monkeypatch.setattr(cluster, "_connect", lambda address, _: connect(address, 120))
    backend = DaskBackend(dask.address, None, timeout=1)
    with (
        at_work(tmp_path / "cluster", small_plan(), backend) as execution,
        pytest.raises(ClusterError, match="has no workers: start some with dask worker"),
    ):
        list(execution.work(0.05))


def test_a_lost_scheduler_ends_the_sweep_with_a_message(tmp_path, dask):
    dask.add_worker()
    dask.wait_for(1)

    def watch(execution):
        for _ in execution.work(tick=0.02):
            if dask.scheduler.is_alive() and any(run[2] > 0 for run in execution.running()):
                dask.scheduler.kill()

    with at_work(tmp_path / "cluster", ENDLESS, DaskBackend(dask.address, None)) as execution:
        with pytest.raises(ClusterLostError):
            watch(execution)
        assert [row.status for row in execution.rows] == ["missing", "missing"]


@pytest.mark.parametrize("address", ["tcp://host", "http://127.0.0.1:80", ""])
def test_malformed_addresses_are_refused_at_once(address):
    with pytest.raises(ClusterError, match="is not an address"):
        DaskBackend(address, None)
