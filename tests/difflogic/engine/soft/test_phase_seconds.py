"""Busy and waiting times of workers: a late worker makes no other worker's phase longer."""

import json

import numpy as np
import pytest

from difflogic.engine.kernels.structures import BACKWARD, FORWARD, LOSS
from difflogic.engine.kernels.teams import BEGAN, BUSY, ENDED, WAITING
from difflogic.experiment.searching import Trainer
from tests.cli.processes import run_python
from tests.difflogic.training.tiny import tiny

LATE = 0.2
PHASES = ("forward", "loss", "backward")
SCRIPT = """
import json, sys, threading, time
from types import SimpleNamespace
from difflogic.config import load_config
from difflogic.engine.soft import rollout
from difflogic.engine.kernels import pipeline, teams, training
from difflogic.experiment.searching import Trainer
from tests.difflogic.training.tiny import tiny

late = float(sys.argv[1])
clock, waits, ran = [0.0], threading.Event(), threading.local()

def now():
    # Stands still, except while worker 1 is late.
    return clock[0]

def processor_clock():
    # A waiting worker spins, and so runs all the time.
    return getattr(ran, "seconds", clock[0])

def slowed(plain, which):
    def slow(worker, *arguments):
        if worker == which:
            while not trainer.descent.engine._control[teams.ARRIVED]:
                time.sleep(0.001)
            # The other worker is at the barrier: its next turn there comes after its look at the
            # clock.
            waits.clear()
            waits.wait()
            clock[0] += late
            ran.seconds = 0.0 if preempted else late
        return plain(worker, *arguments)
    return slow

for module in (pipeline, teams, training):
    module.now, module.processor_clock = now, processor_clock
rollout.time = SimpleNamespace(perf_counter=now)
teams.yield_thread = lambda: waits.set() or time.sleep(0)
training.loss_share = slowed(training.loss_share, 1)
for way, preempted in json.loads(sys.argv[2]):
    clock[0] = 0.0
    overrides = ["task.height=16", "task.width=16", "automaton.steps=2", "training.batch=2"]
    with Trainer(tiny("parallel.workers=2", f"parallel.strategy={way}", *overrides)) as trainer:
        assert trainer.descent.plan.workers == 2
        trainer.step()
        print(json.dumps([trainer.phases.seconds, trainer.descent.engine._batch.clock.tolist()]))
"""


def phases(clock):
    """Seconds that a worker was busy, and that it waited, by phase."""
    return [dict(zip(PHASES, clock[at : at + 3], strict=True)) for at in (BUSY, WAITING)]


CASES = [("samples", False), ("steps", False), ("steps", True)]


@pytest.fixture(scope="module")
def measured():
    """What each case printed; in one process, without the compiler, so that a worker can be
    delayed in the loss, by work or without a core.
    """
    words = ["-c", SCRIPT, str(LATE), json.dumps(CASES)]
    done = run_python(*words, variables={"NUMBA_DISABLE_JIT": "1"})
    assert done.returncode == 0, done.stderr
    return dict(zip(CASES, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.thorough
@pytest.mark.parametrize(("way", "preempted"), CASES)
def test_waiting_for_a_late_worker_or_a_core_does_not_count_as_busy(measured, way, preempted):
    seconds, clocks = measured[way, preempted]
    busy, waiting = zip(*map(phases, clocks), strict=True)
    nothing = dict.fromkeys(PHASES, 0.0)
    late = pytest.approx(nothing | {"loss": LATE})
    assert (busy[0], waiting[0]) == (nothing, late)
    assert (busy[1], waiting[1]) == ((nothing, late) if preempted else (late, nothing))
    assert seconds["loss"] == pytest.approx(0.0 if preempted else LATE / 2)
    assert seconds["waiting"] == pytest.approx(LATE if preempted else LATE / 2)
    assert seconds["backward"] == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("parts", "first", "last"),
    [(FORWARD | LOSS | BACKWARD, 0, 2), (FORWARD, 0, 0), (LOSS, 1, 1), (BACKWARD, 2, 2)],
)
def test_a_worker_that_is_not_awake_yet_or_is_done_waits(monkeypatch, parts, first, last):
    overrides = ("parallel.workers=2", "parallel.strategy=samples", "training.batch=2")
    with Trainer(tiny(*overrides)) as trainer:
        engine = trainer.descent.engine
        clock = trainer.descent.engine._batch.clock

        def run(kernel, calls):
            clock[:] = 0.0
            clock[:, BEGAN] = (10.0, 12.5)
            clock[:, ENDED] = (17.0, 20.0)

        monkeypatch.setattr(engine._workers, "run", run)
        engine._call(parts, 0, 1)
        waited = clock[:, WAITING:BEGAN]
    expected = np.zeros((2, 3))
    expected[1, first] += 2.5
    expected[0, last] += 3.0
    assert waited.tolist() == expected.tolist()
