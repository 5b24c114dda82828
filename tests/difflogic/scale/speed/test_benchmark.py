"""The benchmark: what it counts and compares. How fast anything is, no test asks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from difflogic.config import Config, load_config
from difflogic.engine.plan import ParallelPlan
from difflogic.engine.traffic import Traffic
from difflogic.model.model import Model
from difflogic.scale.speed import benchmark
from difflogic.scale.speed.benchmark import Agreement, Path, Report, ratio
from difflogic.training.phases import PHASES, PhaseTimer
from difflogic.training.reference import ReferenceTrainer
from difflogic.training.trainer import Trainer

pytestmark = pytest.mark.thorough

TINY = (
    "task.height=4",
    "task.width=4",
    "automaton.channels=2",
    "automaton.steps=2",
    "perception.kernels=2",
    "update.gates=[8,4,2]",
    "parallel.workers=2",
)


def tiny(*overrides: str) -> Config:
    return load_config("checkerboard-small", [*TINY, *overrides])


@pytest.fixture(autouse=True)
def short_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure the arithmetic peak for no longer than it takes to have a number."""
    monkeypatch.setattr(benchmark, "_peaks", lambda workers: (1e9, workers * 1e9))


def disturbed(trainer: type, only_workers: int, by: float) -> type:
    """Return a trainer that misplaces one logit if it has so many workers."""

    class Disturbed(trainer):  # type: ignore[misc, valid-type]
        @property
        def model(self) -> Model:
            model = super().model
            if self.workers != only_workers:
                return model
            logits = model.logits.copy()
            logits[-1, -1] += np.float32(by)
            return replace(model, logits=logits)

    return Disturbed


class TestRun:
    """A whole benchmark, of next to nothing."""

    def test_counts_what_a_step_does(self) -> None:
        config = tiny("training.batch=3")
        report = benchmark.run(config, repeat=2)
        # 2 kernels · 14 gates · 2 channels, 14 gates of the update, on 16 cells, 2 steps.
        assert config.architecture.gates == 70
        assert report.gate_lanes == 70 * 16 * 2 * 3
        assert report.limit == pytest.approx(report.gate_lanes * 15 / 2e9)
        assert report.share_of_peak == pytest.approx(report.limit / report.path.total.median)
        assert report.gate_rate == pytest.approx(report.gate_lanes / report.path.total.median)
        assert report.path.workers == 2
        planned = ParallelPlan.for_model(report.config)
        assert report.bytes_per_worker == planned.bytes_per_worker
        assert report.bytes_shared == planned.bytes_shared
        assert report.noise >= 0
        assert report.config == config

    def test_alone_has_nothing_to_compare(self) -> None:
        report = benchmark.run(tiny(), repeat=1)
        assert report.compared is report.agreement is report.speedup is None
        assert report.phase_speedup("forward") is None
        assert set(report.as_dict()["phase_speedup"].values()) == {None}

    def test_measures_as_often_as_asked_in_every_phase(self) -> None:
        done: list[int] = []
        report = benchmark.run(tiny(), "sequential", repeat=4, progress=done.append)
        assert done == [1, 2, 3, 4]
        assert report.compared is not None
        for path in (report.path, report.compared):
            assert len(path.steps) == 4
            assert set(path.phases) == set(PHASES)
            assert {len(seconds) for seconds in path.phases.values()} == {4}
            # Phases are parts of their step.
            for index, step in enumerate(path.steps):
                assert sum(seconds[index] for seconds in path.phases.values()) <= step

    @pytest.mark.parametrize("batch", [1, 3])
    def test_the_sequential_path_computes_the_same_bits(self, batch: int) -> None:
        report = benchmark.run(tiny(f"training.batch={batch}"), "sequential", repeat=2)
        assert report.compared is not None
        assert (report.compared.name, report.compared.workers) == ("sequential", 1)
        assert report.agreement == Agreement("soft losses and logits", 0.0, 0.0)
        assert report.path.losses == report.compared.losses
        assert report.speedup is not None

    def test_the_oracle_computes_nearly_the_same(self) -> None:
        report = benchmark.run(tiny(), "oracle", repeat=2)
        assert report.compared is not None
        assert report.agreement is not None
        assert report.compared.name == "oracle"
        assert 0 <= report.agreement.difference <= report.agreement.tolerance
        assert report.agreement.equal
        assert report.phase_speedup("reduce") is None  # the oracle has no slots to reduce
        assert report.phase_speedup("forward") is not None

    def test_everything_for_machines(self) -> None:
        found = benchmark.run(tiny(), "sequential", repeat=3).as_dict()
        assert found["experiment"] == "checkerboard-small"
        assert found["repeat"] == 3
        assert found["automaton_steps"] == 2
        assert found["agreement"] == {
            "equal": True,
            "what": "soft losses and logits",
            "difference": 0.0,
            "tolerance": 0.0,
        }
        for path in (found["path"], found["compared"]):
            spread = path["step_seconds"]
            assert 0 < spread["min"] <= spread["median"] <= spread["max"]
            assert set(path["phase_seconds"]) == set(PHASES)


class TestWrongAnswers:
    """A fast path that computes something else is found out."""

    def test_a_single_logit_that_differs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        wrong = disturbed(Trainer, only_workers=2, by=2.0**-10)
        monkeypatch.setattr(benchmark, "Trainer", wrong)
        agreement = benchmark.run(tiny(), "sequential", repeat=1).agreement
        assert agreement is not None
        assert not agreement.equal
        assert agreement.difference == pytest.approx(2.0**-10, rel=1e-3)

    def test_a_loss_that_differs_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class OnceWrong(Trainer):
            def step(self) -> Any:
                result = super().step()
                wrong = self.workers == 2 and result.epoch == 2
                return replace(result, soft_loss=result.soft_loss + 0.5) if wrong else result

        monkeypatch.setattr(benchmark, "Trainer", OnceWrong)
        agreement = benchmark.run(tiny(), "sequential", repeat=1).agreement
        assert agreement is not None
        assert agreement.difference == 0.5

    def test_logits_that_are_no_number(self, monkeypatch: pytest.MonkeyPatch) -> None:
        wrong = disturbed(Trainer, only_workers=2, by=math.nan)
        monkeypatch.setattr(benchmark, "Trainer", wrong)
        agreement = benchmark.run(tiny(), "sequential", repeat=1).agreement
        assert agreement is not None
        assert not agreement.equal

    def test_an_oracle_that_learns_more_slowly(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def slower(config: Config) -> ReferenceTrainer:
            training = config.training.model_copy(update={"learning_rate": 0.045})
            return ReferenceTrainer(config.model_copy(update={"training": training}))

        monkeypatch.setattr(benchmark, "ReferenceTrainer", slower)
        agreement = benchmark.run(tiny(), "oracle", repeat=2).agreement
        assert agreement is not None
        assert not agreement.equal


class TestOracleSize:
    """What is measured when the oracle is compared with."""

    def test_a_small_configuration_stays(self) -> None:
        assert benchmark.within_reach_of_the_oracle(tiny()) == tiny()

    @pytest.mark.parametrize(("overrides", "steps"), [([], 20), (["automaton.steps=1000"], 1000)])
    def test_a_large_one_is_cut_to_what_can_be_finished(
        self, overrides: list[str], steps: int
    ) -> None:
        config = load_config("checkerboard", ["training.batch=64", *overrides])
        cut = benchmark.within_reach_of_the_oracle(config)
        assert 1 <= cut.automaton.steps <= steps
        assert 1 <= cut.training.batch < 64
        cells = cut.task.height * cut.task.width
        lanes = cut.architecture.gates * cells * cut.automaton.steps * cut.training.batch
        one_sample_and_step = cut.architecture.gates * cells
        assert lanes <= max(benchmark.ORACLE_GATE_LANES, one_sample_and_step)

    def test_the_report_holds_what_was_measured(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(benchmark, "ORACLE_GATE_LANES", 70 * 16)
        report = benchmark.run(tiny("training.batch=2"), "oracle", repeat=1)
        assert report.config.automaton.steps == report.config.training.batch == 1
        assert report.gate_lanes == 70 * 16


class TestNumbers:
    """Ratios and what is said about noise."""

    def test_ratio_is_the_median_of_pairs_measured_in_turn(self) -> None:
        # A machine that turns ten times slower in between changes no ratio.
        assert ratio([2.0, 20.0, 21.0], [1.0, 10.0, 10.0]) == 2.0
        assert ratio([1.0, 1.0], [0.0, 0.5]) == 2.0
        assert ratio([1.0], [0.0]) is None
        with pytest.raises(ValueError, match="longer"):
            ratio([1.0], [1.0, 2.0])

    @pytest.mark.parametrize(
        ("difference", "equal"),
        [(0.0, True), (1e-3, True), (2e-3, False), (math.inf, False), (math.nan, False)],
    )
    def test_agreement(self, difference: float, equal: bool) -> None:
        assert Agreement("losses", difference, 1e-3).equal is equal

    def test_noise_is_how_far_the_median_is_above_the_minimum(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seconds = iter([1.0, 1.2, 3.0])

        def measure(path: Path, steps: Any) -> None:
            path.steps.append(next(seconds))

        monkeypatch.setattr(benchmark, "_measure", measure)
        report: Report = benchmark.run(tiny(), repeat=3)
        assert report.noise == pytest.approx(0.2)


@pytest.mark.parametrize("threads", [1, 2])
def test_fma_rate_is_a_rate(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple] = []

    class Fake:
        def run(self, kernel: Any, arguments: list[tuple]) -> None:
            assert len(arguments) == threads
            calls.extend(arguments)

    @contextmanager
    def workers(count: int) -> Iterator[Fake]:
        assert count == threads
        yield Fake()

    def fastest_rate(run: Any) -> float:
        run(500)
        return 1e6

    monkeypatch.setattr(benchmark, "Workers", workers)
    monkeypatch.setattr(benchmark, "fma_peak", lambda rounds, seed: None)
    monkeypatch.setattr(benchmark, "fastest_rate", fastest_rate)
    assert benchmark.fma_rate(threads) == threads * benchmark.fma_per_round() * 1e6
    assert calls == [(500, 0.5)] * threads


def test_phases_that_took_no_time_have_no_speedup() -> None:
    assert set(PhaseTimer().seconds) == set(PHASES)
    ours = Path("parallel", 2, [1.0], {"reduce": [0.5], "hard": [0.0]})
    theirs = Path("oracle", 1, [3.0], {"reduce": [0.0], "hard": [1.0]})
    report = Report(
        tiny(),
        ours,
        theirs,
        None,
        1,
        Traffic(1, 1),
        1,
        1.0,
        2.0,
        1,
        1,
        None,
        1.0,
        16,
        4,
        4,
        0.0,
        1.9,
        0.0,
    )
    assert report.speedup == 3.0
    assert report.phase_speedup("reduce") is None
    assert report.phase_speedup("hard") is None
    assert report.phase_speedup("no such phase") is None


@pytest.mark.parametrize(
    ("alone", "shared", "speedup"), [(1.8, 1.0, 1.8), (2.0, 1.0, 2.0), (8.05, 1.0, None)]
)
def test_no_speedup_is_above_its_ceiling(
    alone: float, shared: float, speedup: float | None
) -> None:
    report = replace(benchmark.run(tiny(), "sequential", repeat=1), ceiling=2.0)
    assert report.compared is not None
    report.path.steps[:], report.compared.steps[:] = [shared], [alone]
    for phase in PHASES:
        report.path.phases[phase], report.compared.phases[phase] = [shared], [alone]
    assert report.speedup == speedup
    assert report.phase_speedup("backward") == speedup
    # One thread does it, and nothing is known of how fast it can be.
    assert report.phase_speedup("optimizer") == alone / shared
    # Nobody waits for somebody else where one works alone.
    assert report.phase_speedup("waiting") is None
