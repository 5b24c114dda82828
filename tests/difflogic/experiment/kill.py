"""Killed sessions in their own processes, and what must be equal afterwards."""

import csv
import multiprocessing
import os
import signal
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from difflogic.experiment.session import execute
from difflogic.run.metrics import COLUMNS
from tests.cli.processes import SECONDS

_SERVER = multiprocessing.get_context("forkserver")
"""Forks processes that have imported everything. A fork of the tests' process could deadlock: other
tests started threads in it."""
PRELOADED = ["difflogic.library.training", "difflogic.sweeps.sweep", "dask.cli", "distributed"]


def forked(work, *arguments):
    """Begin `work(*arguments)` in a process of its own, and return that."""
    _SERVER.set_forkserver_preload(PRELOADED)
    process = _SERVER.Process(target=work, args=arguments)
    process.start()
    return process


def in_a_process_of_its_own(work, *arguments):
    """Run `work(*arguments)`; return the process's exit code, negative if a signal ended it."""
    process = forked(work, *arguments)
    process.join(SECONDS)
    process.kill()  # if it hangs
    process.join()
    return process.exitcode


def killed_at(point, config, path):
    """Train until the process kills itself at its `point`-th write, from 0.

    Returns False if it finished before. Every flush, rename and removal counts twice: even points
    are before the call, odd ones after.
    """
    code = in_a_process_of_its_own(_train_and_die, point, config, path)
    assert code in (0, -signal.SIGKILL), code
    return code != 0


def _train_and_die(point, config, path):
    with killing(point):
        execute(config, path)


@contextmanager
def killing(point):
    """Count and kill at writes, for a process that ends anyway.

    Does not really flush, to save time: unlike a power cut, a kill loses nothing written.
    """
    calls = 0

    def counted(function):
        def call(*arguments, **options):
            nonlocal calls
            step()
            result = function(*arguments, **options)
            step()
            return result

        def step():
            nonlocal calls
            if calls == point:
                os.kill(os.getpid(), signal.SIGKILL)
            calls += 1

        return call

    os.fsync = counted(lambda descriptor: None)
    Path.replace = counted(Path.replace)
    Path.unlink = counted(Path.unlink)
    yield


def results(path):
    """Everything that must be equal in two runs of one configuration."""
    with (path / "metrics.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in COLUMNS if not name.endswith("_seconds")]
    last = max(path.glob("checkpoint-*.npz"), key=lambda name: int(name.stem.partition("-")[2]))
    with np.load(last) as archive:
        state = {name: archive[name].tobytes() for name in archive.files if name != "header"}
    return {
        "model": (path / "model.npz").read_bytes(),
        "metrics": [[row[name] for name in names] for row in rows],
        "checkpoint": last.name,
        "state": state,
    }
