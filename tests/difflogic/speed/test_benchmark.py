"""The benchmark: what it counts and compares. No test asserts speed."""

import math
from dataclasses import replace

import numpy as np
import pytest

from difflogic.experiment.device_plan import plan_of
from difflogic.experiment.searching import Trainer
from difflogic.run.measures import PHASES
from difflogic.speed import benchmark, measurements
from difflogic.speed.measurements import Comparison, measure, of_ways, of_workers
from difflogic.system.work import working
from tests.difflogic.training.tiny import growing, tiny

pytestmark = pytest.mark.once

RATE = measurements.fma_rate

CONFIG = tiny("automaton.steps=2", "training.batch=3", "parallel.workers=2")


@pytest.fixture(scope="module", autouse=True)
def short_peak():
    """Replace the measurement of the arithmetic peak, which takes long."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (benchmark, measurements):
            patch.setattr(module, "fma_rate", lambda threads: threads * 1e9)
        yield


def compared(way, repeat=1):
    """The configured way, and another one beside it."""
    return measure(of_ways(CONFIG, [way]), repeat).rows


def test_a_report_counts_the_work_of_a_step():
    report = benchmark.bench(CONFIG, repeat=4)
    assert len(report.path.passed) == 4
    assert all(0.001 < found < 100 for found in report.path.passed)
    assert report.vector_bits in (128, 256, 512)
    # 2 kernels · 14 gates · 2 channels, 14 gates of the update; 42 cells, 2 steps, 3 samples.
    assert report.gate_lanes == 70 * 42 * 2 * 3
    assert report.limit == pytest.approx(report.gate_lanes * 15 / 2e9)
    assert report.peak == 2e9
    assert report.share_of_peak == pytest.approx(report.limit / report.path.total.median)
    assert report.gate_rate == pytest.approx(report.gate_lanes / report.path.total.median)
    assert report.path.workers == 2
    planned = plan_of(report.config)
    found = report.as_dict()
    assert found["path"]["plan"]["bytes_per_worker"] == planned.bytes_per_worker
    assert found["path"]["plan"]["bytes_shared"] == planned.bytes_shared
    assert report.noise == report.path.total.median / report.path.total.minimum - 1


@pytest.mark.parametrize(
    ("passed", "shared"), [([5.9] * 4, 0), ([5.9, 3.0, 5.8, 5.9], 0.25), ([3.0] * 3, 1), ([], 0)]
)
def test_a_core_that_passes_few_instructions_is_shared(passed, shared):
    row = measurements.Measurement("configured", CONFIG, None, steps=[1.0] * 4, passed=passed)
    assert row.shared == shared


def test_both_ways_are_measured_in_every_phase_and_give_the_same_bits():
    done = []
    with working(tell=lambda news: done.append(news.done)):
        rows = path, other = compared("sequential", 4)
    assert done == [0, 1, 2, 3, 4]
    for row in rows:
        assert {len(seconds) for seconds in (row.steps, *row.phases.values())} == {4}
        assert set(row.phases) == set(PHASES)
        for index, step in enumerate(row.steps):
            assert sum(seconds[index] for seconds in row.phases.values()) <= step
    assert (other.label, other.workers) == ("sequential", 1)
    assert other.difference == 0.0
    assert path.losses == other.losses
    found = Comparison(rows).as_dict()
    assert (found["experiment"], found["repeat"], found["equal"]) == (CONFIG.name, 4, True)
    for row in found["rows"]:
        spread = row["step_seconds"]
        assert 0 < spread["min"] <= spread["median"] <= spread["max"]


def test_measured_steps_neither_search_nor_restart():
    searching = growing("finishing.every=2", "finishing.from_epoch=2", "training.restart_every=4")
    configs = searching, searching.without_searches()
    one, other = (benchmark.bench(config, repeat=2) for config in configs)
    assert one.path.losses == other.path.losses
    assert one.path.phase("finish").maximum == 0
    found = [measure(of_workers(config, [1, 2]), 2).rows for config in configs]
    assert found[0][1].losses == found[1][0].losses == one.path.losses


@pytest.mark.parametrize(("logit", "loss"), [(2.0**-10, 0), (math.nan, 0), (0, 0.5)])
def test_a_single_different_number_is_found(monkeypatch, logit, loss):
    class Disturbed(Trainer):
        @property
        def model(self):
            model = super().model
            logits = model.logits.copy()
            logits[-1, -1] += np.float32(logit if self.descent.plan.workers == 2 else 0)
            return replace(model, logits=logits)

        def step(self):
            result = super().step()
            wrong = self.descent.plan.workers == 2 and result.epoch == 2
            return replace(result, soft_loss=result.soft_loss + loss * wrong)

    monkeypatch.setattr(measurements, "Trainer", Disturbed)
    _, other = compared("sequential")
    assert not other.equal
    assert other.difference == pytest.approx(logit + loss, rel=1e-3, nan_ok=True)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_arithmetic_peak_is_that_of_all_threads(threads, monkeypatch):
    # 500 rounds, done by all threads at the same time, take half a millisecond.
    ran = []
    monkeypatch.setattr(measurements, "fma_peak", lambda rounds, seed: ran.append(rounds))
    monkeypatch.setattr(measurements, "fastest_rate", lambda run: (run(500), 1e6)[1])
    assert RATE(threads) == threads * measurements.fma_per_round() * 1e6
    assert ran == [1] + [500] * threads
