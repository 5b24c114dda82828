"""Busy and waiting times of workers: a late worker makes no other worker's phase longer."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from difflogic.engine.kernels.teams import BEGAN, BUSY, WAITING
from difflogic.training.trainer import Trainer
from tests.difflogic.training.tiny import tiny

LATE = 0.2
PHASES = ("forward", "loss", "backward")
SCRIPT = """
import json, sys, time
from difflogic.config import load_config
from difflogic.engine.kernels import training
from difflogic.training.trainer import Trainer
from tests.difflogic.training.tiny import tiny

way, late = sys.argv[1], float(sys.argv[2])

def slowed(plain, which):
    def slow(worker, *arguments):
        if worker == which:
            time.sleep(late)
        return plain(worker, *arguments)
    return slow

training.loss_share = slowed(training.loss_share, 1)
overrides = ["task.height=16", "task.width=16", "parallel.lanes=16", "training.batch=2"]
with Trainer(tiny("parallel.workers=2", f"parallel.strategy={way}", *overrides)) as trainer:
    assert trainer.plan.workers == 2
    plain, took = trainer.engine.run_training, []
    def timed(*arguments, **more):
        begin = time.perf_counter()
        found = plain(*arguments, **more)
        took.append(time.perf_counter() - begin)
        return found
    trainer.engine.run_training = timed
    trainer.step()
    print(json.dumps([trainer.phases.seconds, trainer.engine._clock.tolist(), sum(took)]))
"""


def phases(clock):
    """Seconds that a worker was busy, and that it waited, by phase."""
    return [dict(zip(PHASES, clock[at : at + 3], strict=True)) for at in (BUSY, WAITING)]


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["samples", "steps"])
def test_waiting_for_a_late_worker_does_not_count_as_busy(way):
    # Without the compiler, so that a worker can be delayed in the loss.
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, way, str(LATE)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seconds, clocks, took = json.loads(done.stdout)
    busy, waiting = zip(*map(phases, clocks), strict=True)
    assert busy[1]["loss"] >= LATE
    assert busy[0]["loss"] < LATE / 2
    assert waiting[0]["loss"] >= 0.9 * LATE
    for name in ("loss", "backward"):
        assert seconds[name] == pytest.approx(np.mean([worker[name] for worker in busy]))
    waited = [sum(worker.values()) for worker in waiting]
    assert seconds["waiting"] == pytest.approx(np.mean(waited))
    whole = sum(seconds[name] for name in (*PHASES, "waiting"))
    assert whole == pytest.approx(took, abs=LATE / 2)


@pytest.mark.parametrize(
    ("strategy", "workers"), [("samples", 1), ("samples", 3), ("steps", 3), ("gates", 3)]
)
def test_each_worker_is_busy_or_waits_during_the_whole_call(strategy, workers):
    more = () if strategy == "samples" else ("parallel.lanes=16",)
    ways = (f"parallel.strategy={strategy}", f"parallel.workers={workers}", *more)
    with Trainer(tiny(*ways, "training.batch=3", "task.height=16", "task.width=16")) as trainer:
        trainer.step()
        before = trainer.phases.seconds["waiting"]
        trainer.step()
        clock = trainer.engine._clock
        assert len(clock) == trainer.plan.workers
        # From the start of the first worker to the end of the last one.
        spans = clock[:, BUSY:BEGAN].sum(axis=1)
        np.testing.assert_allclose(spans, max(spans), rtol=0.02, atol=2e-4)
        assert clock[:, BUSY:BEGAN].min() >= 0
        waited = trainer.phases.seconds["waiting"] - before
        assert waited == pytest.approx(clock[:, WAITING:BEGAN].sum(axis=1).mean())
        if workers == 1:
            assert waited == 0
