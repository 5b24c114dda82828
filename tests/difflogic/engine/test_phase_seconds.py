"""What each worker was busy, and what it waited: a late worker makes no phase longer."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from difflogic.training.trainer import Trainer
from tests.difflogic.training.tiny import tiny

LATE = 0.2
SCRIPT = """
import json, sys, time
from dataclasses import asdict
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
    phases = [asdict(phase) for phase in trainer.engine.phases]
    print(json.dumps([trainer.phases.seconds, phases, sum(took)]))
"""


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["samples", "steps"])
def test_who_waits_for_a_late_worker_is_not_busy(way):
    # Without the compiler, so that a worker can be made to be late in the loss.
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, way, str(LATE)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seconds, workers, took = json.loads(done.stdout)
    assert workers[1]["busy"]["loss"] >= LATE
    assert workers[0]["busy"]["loss"] < LATE / 2
    assert workers[0]["waiting"]["loss"] >= 0.9 * LATE
    for name in ("loss", "backward"):
        assert seconds[name] == pytest.approx(np.mean([w["busy"][name] for w in workers]))
    waited = [sum(worker["waiting"].values()) for worker in workers]
    assert seconds["waiting"] == pytest.approx(np.mean(waited))
    whole = sum(seconds[name] for name in ("forward", "loss", "backward", "waiting"))
    assert whole == pytest.approx(took, abs=LATE / 2)


@pytest.mark.parametrize(
    ("strategy", "workers"), [("samples", 1), ("samples", 3), ("steps", 3), ("gates", 3)]
)
def test_workers_of_a_call_are_busy_or_wait_for_equally_long(strategy, workers):
    more = () if strategy == "samples" else ("parallel.lanes=16",)
    ways = (f"parallel.strategy={strategy}", f"parallel.workers={workers}", *more)
    with Trainer(tiny(*ways, "training.batch=3", "task.height=16", "task.width=16")) as trainer:
        trainer.step()
        before = trainer.phases.seconds["waiting"]
        trainer.step()
        found = trainer.engine.phases
        assert len(found) == trainer.plan.workers
        # From the first worker's begin to the last one's end.
        spans = [sum(each.busy.values()) + sum(each.waiting.values()) for each in found]
        np.testing.assert_allclose(spans, max(spans), rtol=0.02, atol=2e-4)
        assert all(min(*e.busy.values(), *e.waiting.values()) >= 0 for e in found)
        waited = trainer.phases.seconds["waiting"] - before
        assert waited == pytest.approx(sum(sum(e.waiting.values()) for e in found) / len(found))
        if workers == 1:
            assert waited == 0
