"""Busy and waiting times of workers: a late worker makes no other worker's phase longer."""

import numpy as np
import pytest

from difflogic.engine.kernels.structures import BACKWARD, FORWARD, LOSS
from difflogic.engine.kernels.teams import (
    ABORTED,
    BEGAN,
    BUSY,
    CLOCK_FIELDS,
    CURSOR_FIELDS,
    ENDED,
    SPUN,
    WAITING,
)
from difflogic.experiment.searching import Trainer
from tests.difflogic.engine.plain import plain_kernels
from tests.difflogic.training.tiny import tiny


class Worker:
    """A worker's clocks, and the kernels that read them, as plain Python."""

    def __init__(self, spins):
        self.now = self.ran = 0.0
        self.spins = spins
        self.polls = 0
        self.clock = np.zeros(CLOCK_FIELDS)
        self.cursor = np.zeros(CURSOR_FIELDS, np.int64)
        self.control = np.zeros(ABORTED + 1, np.int64)
        primitives = {
            "now": lambda: self.now,
            "processor_clock": lambda: self.ran,
            "atomic_load": self.load,
            "atomic_add": lambda control, place, value: 0,
            "yield_thread": lambda: None,
        }
        self.teams = plain_kernels({"primitives": primitives}).teams

    def load(self, control, place):
        """Let a second pass with the third poll, before the barrier opens."""
        self.polls += 1
        if self.polls < 3:
            return 0
        self.now += 1.0
        self.ran += self.spins
        return 1


@pytest.mark.parametrize("spins", [1.0, 0.25])
def test_waiting_for_another_worker_or_for_a_core_does_not_count_as_busy(spins):
    """It waits at a barrier for a second, and runs for `spins` of it."""
    worker = Worker(spins)
    worker.teams.barrier(worker.control, 2, worker.cursor)
    # Then it works for two seconds, and has no core in one of them.
    worker.now += 2.0
    worker.ran += 1.0
    ended, ran = worker.teams.count_phase(worker.clock, LOSS, 0.0, 0.0, worker.cursor)
    assert (ended, ran) == (3.0, 1.0 + spins)
    expected = np.zeros(CLOCK_FIELDS)
    expected[BUSY + LOSS // 2] = 1.0
    expected[WAITING + LOSS // 2] = 2.0
    np.testing.assert_allclose(worker.clock, expected)
    assert worker.cursor[SPUN] == 0


@pytest.mark.parametrize(
    ("parts", "first", "last"),
    [(FORWARD | LOSS | BACKWARD, 0, 2), (FORWARD, 0, 0), (LOSS, 1, 1), (BACKWARD, 2, 2)],
)
def test_a_worker_that_is_not_awake_yet_or_is_done_waits(monkeypatch, parts, first, last):
    overrides = ("parallel.workers=2", "parallel.strategy=samples", "training.batch=2")
    with Trainer(tiny(*overrides)) as trainer:
        engine = trainer.descent.engine
        clock = engine._batch.clock

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
