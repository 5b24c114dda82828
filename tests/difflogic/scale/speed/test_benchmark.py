"""The benchmark: what it counts and compares. How fast anything is, no test asks."""

import math
from dataclasses import replace

import numpy as np
import pytest

from difflogic.config import load_config
from difflogic.engine.plan import ParallelPlan
from difflogic.scale.speed import benchmark, rows
from difflogic.scale.speed.rows import Row, Setting, measure, of_workers, ratio
from difflogic.training.metrics import PHASES
from difflogic.training.reference import ReferenceTrainer
from difflogic.training.trainer import Trainer
from tests.difflogic.training.tiny import growing, tiny

pytestmark = pytest.mark.thorough

RATE = rows.fma_rate

CONFIG = tiny("automaton.steps=2", "training.batch=3", "parallel.workers=2")


@pytest.fixture(scope="module", autouse=True)
def short_peak():
    """Measure the arithmetic peak for no longer than it takes to have a number."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (benchmark, rows):
            patch.setattr(module, "fma_rate", lambda threads: threads * 1e9)
        yield


@pytest.fixture(scope="module")
def measured(short_peak):
    """A benchmark beside the sequential path, and what it reported as progress."""
    done = []
    return benchmark.run(CONFIG, "sequential", repeat=4, progress=done.append), done


def test_it_counts_what_a_step_does(measured):
    report, _ = measured
    # 2 kernels · 14 gates · 2 channels, 14 gates of the update; 42 cells, 2 steps, 3 samples.
    assert report.gate_lanes == 70 * 42 * 2 * 3
    assert report.limit == pytest.approx(report.gate_lanes * 15 / 2e9)
    assert report.peak_one_core == 1e9
    assert report.share_of_peak == pytest.approx(report.limit / report.path.total.median)
    assert report.gate_rate == pytest.approx(report.gate_lanes / report.path.total.median)
    assert report.path.workers == 2
    planned = ParallelPlan.for_model(report.config)
    found = report.as_dict()
    assert found["path"]["plan"]["bytes_per_worker"] == planned.bytes_per_worker
    assert found["path"]["plan"]["bytes_shared"] == planned.bytes_shared
    assert report.noise == report.path.total.median / report.path.total.minimum - 1


def test_both_paths_are_measured_as_often_as_asked_in_every_phase(measured):
    report, done = measured
    assert done == [1, 2, 3, 4]
    for path in (report.path, report.compared):
        assert {len(seconds) for seconds in (path.steps, *path.phases.values())} == {4}
        assert set(path.phases) == set(PHASES)
        # Phases are parts of their step.
        for index, step in enumerate(path.steps):
            assert sum(seconds[index] for seconds in path.phases.values()) <= step


def test_the_sequential_path_computes_the_same_bits(measured):
    report, _ = measured
    assert (report.compared.setting.label, report.compared.workers) == ("sequential", 1)
    assert (report.compared.difference, report.compared.tolerance) == (0.0, 0.0)
    assert report.path.losses == report.compared.losses
    found = report.as_dict()
    assert (found["experiment"], found["repeat"]) == (CONFIG.name, 4)
    assert found["compared"]["equal"] is True
    for path in (found["path"], found["compared"]):
        spread = path["step_seconds"]
        assert 0 < spread["min"] <= spread["median"] <= spread["max"]


def test_every_step_belongs_to_one_attempt_and_none_searches():
    searching = growing("finishing.every=2", "finishing.from_epoch=2", "training.restart_every=4")
    reports = [
        benchmark.run(config, "sequential", repeat=2)
        for config in (searching, searching.without_searches())
    ]
    assert reports[0].path.losses == reports[1].path.losses
    assert reports[0].path.phase("finish").maximum == 0
    found = [
        measure(of_workers(config, [1, 2]), 2).rows
        for config in (searching, searching.without_searches())
    ]
    assert found[0][1].losses == found[1][0].losses == reports[0].path.losses


def test_alone_there_is_nothing_to_compare(measured):
    report = replace(measured[0], compared=None)
    assert report.speedup is report.phase_speedup("forward") is None
    assert {report.phase_speedup(name) for name in report.path.phases} == {None}


@pytest.mark.parametrize(("alone", "speedup"), [(1.8, 1.8), (2.0, 2.0), (8.05, None)])
def test_no_speedup_is_above_its_ceiling(measured, alone, speedup, monkeypatch):
    report = measured[0]
    ours = replace(report.path, steps=[1.0], phases={phase: [1.0] for phase in PHASES})
    theirs = replace(report.compared, steps=[alone], phases={phase: [alone] for phase in PHASES})
    report = replace(report, path=ours, compared=theirs)
    monkeypatch.setattr(Row, "ceiling", 2.0)
    assert report.speedup == speedup
    assert report.phase_speedup("backward") == speedup
    # One thread does it, and nothing is known of how fast it can be.
    assert report.phase_speedup("optimizer") == alone
    # Nobody waits for somebody else where one works alone.
    assert report.phase_speedup("waiting") is None
    theirs.phases["reduce"], ours.phases["hard"] = [0.0], [0.0]
    assert report.phase_speedup("reduce") is report.phase_speedup("hard") is None
    assert report.phase_speedup("no such phase") is None


def test_the_oracle_computes_nearly_the_same():
    report = benchmark.run(CONFIG, "oracle", repeat=1)
    assert report.compared.setting.label == "oracle"
    assert 0 < report.compared.difference <= report.compared.tolerance
    assert report.phase_speedup("reduce") is None  # the oracle has no slots to reduce
    assert report.phase_speedup("forward") is not None


@pytest.mark.parametrize("by", [2.0**-10, math.nan])
def test_a_single_logit_that_differs_is_found(monkeypatch, by):
    class Disturbed(Trainer):
        @property
        def model(self):
            model = super().model
            logits = model.logits.copy()
            logits[-1, -1] += np.float32(by if self.workers == 2 else 0)
            return replace(model, logits=logits)

    monkeypatch.setattr(rows, "Trainer", Disturbed)
    compared = benchmark.run(CONFIG, "sequential", repeat=1).compared
    assert not compared.equal
    assert compared.difference == pytest.approx(by, rel=1e-3, nan_ok=True)


def test_a_loss_that_differs_once_is_found(monkeypatch):
    class OnceWrong(Trainer):
        def step(self):
            result = super().step()
            wrong = self.workers == 2 and result.epoch == 2
            return replace(result, soft_loss=result.soft_loss + 0.5) if wrong else result

    monkeypatch.setattr(rows, "Trainer", OnceWrong)
    assert benchmark.run(CONFIG, "sequential", repeat=1).compared.difference == 0.5


def test_an_oracle_that_learns_more_slowly_is_found(monkeypatch):
    def slower(config):
        training = config.training.model_copy(update={"learning_rate": 0.045})
        return ReferenceTrainer(config.model_copy(update={"training": training}))

    monkeypatch.setattr(rows, "ReferenceTrainer", slower)
    assert not benchmark.run(CONFIG, "oracle", repeat=2).compared.equal


@pytest.mark.parametrize(("overrides", "steps"), [([], 20), (["automaton.steps=1000"], 1000)])
def test_what_the_oracle_cannot_finish_is_cut(overrides, steps):
    assert rows.within_reach_of_the_oracle(CONFIG) == CONFIG
    config = load_config("checkerboard", ["training.batch=64", *overrides])
    cut = rows.within_reach_of_the_oracle(config)
    assert 1 <= cut.automaton.steps <= steps
    assert 1 <= cut.training.batch < 64
    one_sample_and_step = cut.architecture.gates * cut.task.height * cut.task.width
    lanes = one_sample_and_step * cut.automaton.steps * cut.training.batch
    assert lanes <= max(rows.ORACLE_GATE_LANES, one_sample_and_step)


def test_the_report_holds_what_was_measured(monkeypatch):
    monkeypatch.setattr(rows, "ORACLE_GATE_LANES", 70 * 42)
    report = benchmark.run(CONFIG, "oracle", repeat=1)
    assert report.config.automaton.steps == report.config.training.batch == 1
    assert report.gate_lanes == 70 * 42


def test_a_ratio_is_the_median_of_pairs_measured_in_turn():
    # A machine that turns ten times slower in between changes no ratio.
    assert ratio([2.0, 20.0, 21.0], [1.0, 10.0, 10.0]) == 2.0
    assert ratio([1.0, 1.0], [0.0, 0.5]) == 2.0
    assert ratio([1.0], [0.0]) is None
    with pytest.raises(ValueError, match="longer"):
        ratio([1.0], [1.0, 2.0])


def test_what_is_no_number_is_no_agreement():
    oracle = Setting("oracle", CONFIG, oracle=True)
    differences = (0, 1e-4, 2e-4, math.inf, math.nan)
    found = [Row(oracle, None, difference=each).equal for each in differences]
    assert found == [True, True, False, False, False]


@pytest.mark.parametrize("threads", [1, 2])
def test_the_arithmetic_peak_is_that_of_all_threads(threads, monkeypatch):
    # 500 rounds take a second, however many threads do as many at the same time.
    ran = []
    monkeypatch.setattr(rows, "fma_peak", lambda rounds, seed: ran.append(rounds))
    monkeypatch.setattr(rows, "fastest_rate", lambda run: (run(500), 1e6)[1])
    assert RATE(threads) == threads * rows.fma_per_round() * 1e6
    assert ran == [1] + [500] * threads
