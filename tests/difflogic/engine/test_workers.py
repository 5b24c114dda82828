"""The team of threads and its joblib backend."""

import os
import threading
import time
from types import SimpleNamespace

import joblib
import joblib.parallel
import pytest

from difflogic.engine.workers import Workers
from tests.cli.processes import run_python


def idle(team):
    """Let three workers do nothing."""
    team.run(lambda worker: None, [(0,), (1,), (2,)])


@pytest.mark.parametrize("count", [1, 3])
def test_all_calls_run_at_the_same_time(count):
    meeting = threading.Barrier(count)
    seen = []

    def call(worker):
        meeting.wait(timeout=60)
        seen.append((worker, threading.get_ident()))

    with Workers(count) as team:
        for _ in range(3):
            team.run(call, [(worker,) for worker in range(count)])
    assert sorted(worker for worker, _ in seen) == sorted(3 * list(range(count)))
    # The same threads every time, and the caller's is one of them.
    threads = {thread for _, thread in seen}
    assert len(threads) == count
    assert threading.get_ident() in threads


@pytest.mark.parametrize("delay", [0.0, 0.02])
def test_the_backend_never_polls(monkeypatch, delay):
    def refuse(seconds):
        raise AssertionError(f"slept {seconds} s")

    monkeypatch.setattr(joblib.parallel, "time", SimpleNamespace(sleep=refuse, time=time.time))
    # Joblib sleeps if a result is there before the task's callback was called. A thread may be
    # interrupted between the two.
    callback = joblib.parallel.BatchCompletionCallBack.__call__

    def late(*arguments):
        time.sleep(delay)
        callback(*arguments)

    monkeypatch.setattr(joblib.parallel.BatchCompletionCallBack, "__call__", late)
    with Workers(3) as team:
        for _ in range(3):
            idle(team)


@pytest.mark.parametrize("culprit", [0, 1, 2])
def test_an_exception_of_any_task_reaches_the_caller(culprit):
    def call(worker):
        if worker == culprit:
            raise KeyError(worker)

    calls = [(0,), (1,), (2,)]
    with Workers(3) as team:
        with pytest.raises(KeyError):
            team.run(call, calls)
        with pytest.raises(RuntimeError, match="interrupted"):
            team.run(call, calls)
    # The next team works.
    with Workers(3) as team:
        idle(team)


def test_threads_end_with_the_team():
    def workers():
        return {thread for thread in threading.enumerate() if "dct-worker" in thread.name}

    before = workers()
    with Workers(3) as team:
        idle(team)
        assert workers() - before
    assert not workers() - before


FORKED = """
import multiprocessing, threading
from pathlib import Path
import numpy as np
from difflogic import SoftRollout, Trainer, load_config
from difflogic.formats.circuit_file import read_circuit
from difflogic.simulation.bit_grid import Geometry
from difflogic.simulation.simulator import Simulator, World

config = load_config("checkerboard-small", ["parallel.workers=2", "parallel.strategy=steps"])
layer, trainer = SoftRollout(config, workers=2), Trainer(config).__enter__()
starts = np.random.default_rng(0).random((2, 8, 16, 16)).astype("f")
circuit = read_circuit(Path("docs/gallery/checkerboard.json")).circuit
world = World(Geometry(len(circuit.labels), 64, 64, "zero"))
simulator = Simulator(circuit, world, workers=2).__enter__()
simulator.randomize()

def work(number=0):
    states, back = layer(layer.model.logits, starts)
    simulator.run(3)
    found = states, *back(states), simulator.grid.words, [trainer.step().soft_loss]
    return [np.asarray(each).tolist() for each in found]

def hold():
    with layer._lock:
        held.set()
        threading.Event().wait(600)

work()
held = threading.Event()
threading.Thread(target=hold, daemon=True).start()
held.wait()
with multiprocessing.get_context("fork").Pool(1) as pool:
    forked = pool.map_async(work, [0]).get(timeout=60)[0]
layer._locks.clear()
assert forked == work()
"""


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_child_begins_workers_of_its_own():
    """Layers, trainers and simulators, even if a thread is in a call of the layer."""
    run_python("-c", FORKED, good=True)
