import json

import numpy as np
import pytest

from difflogic.circuit.grid import Grid
from difflogic.config import config_from_dict, load_config
from difflogic.engine import oracle
from difflogic.engine.soft.rollout import Engine
from difflogic.system.strategy import STRATEGIES
from difflogic.training import trainer
from difflogic.verification import Deviation, checks, deviation, equivalence
from difflogic.verification.case import IRREGULAR, SINGLE, SMALL, Case
from tests.difflogic.training.tiny import tiny
from tests.marks import compiled

SMALL_CASES = [
    Case("one cell", SINGLE, Grid(1, 1, "zero"), 2, 2, 0.5),
    Case("odd", SMALL, Grid(5, 13, "periodic"), 2, 2),
    Case("irregular", IRREGULAR, Grid(2, 3, "zero"), 2, 3, 0.6),
]


@pytest.fixture
def few(monkeypatch):
    """Fewer cases and workers than the command uses."""
    monkeypatch.setattr(checks, "awkward_cases", lambda: SMALL_CASES)
    monkeypatch.setattr(checks, "worker_counts", lambda: (2, 5))
    monkeypatch.setattr(checks, "EPOCHS", 2)


@pytest.mark.once
@pytest.mark.usefixtures("few")
def test_everything_is_equivalent(monkeypatch):
    def noting(name, check):
        return lambda *given: (ran.add(name), check(*given))[1]

    ran = set()
    made = {}
    for name, check in vars(checks).items():
        returned = str(getattr(check, "__annotations__", {}).get("return"))
        if "Deviation" in returned and check.__module__ == checks.__name__:
            made[name] = check
            monkeypatch.setattr(checks, name, noting(name, check))
    findings = list(equivalence(tiny("update.gates=[6,4,2]", "automaton.fire_rate=0.5")))
    assert [finding for finding in findings if not finding.passed] == []
    assert ran == made.keys() - {"equivalence"}
    compared = {(finding.what.split(",")[0], finding.against) for finding in findings}
    assert {(name, "sequential") for name in STRATEGIES} <= compared
    assert all(finding.tolerance.reason and finding.where for finding in findings)
    levers = {f.against for f in findings if "with levers" in f.where}
    assert levers == {"sequential", "reference trainer"}


@pytest.mark.exhaustive
@compiled
def test_the_shipped_cases_are_equivalent():
    assert all(finding.passed for finding in equivalence(tiny()))


def failures(findings):
    return [f"{f.what} / {f.against}" for f in findings if not f.passed]


def change_gradients(monkeypatch, change):
    """Change the gradients of all engines."""
    right = Engine.backward
    monkeypatch.setattr(Engine, "backward", lambda self, up: change(self, right(self, up)))


@pytest.mark.thorough
def test_levers_that_depend_on_the_workers_are_found(monkeypatch):
    def depends(problem, epoch, number, run):
        sample = right(problem, epoch, number, run)
        return sample._replace(target=sample.target + 1e-6 * next(calls))

    right = trainer.draw_pool_sample
    calls = iter(range(10**6))
    monkeypatch.setattr(trainer, "draw_pool_sample", depends)
    monkeypatch.setattr(checks, "worker_counts", lambda: (2,))
    assert not failures(checks.training_is_the_same_at_any_worker_count(tiny()))
    levers = checks.with_levers(tiny())
    assert len(failures(checks.training_is_the_same_at_any_worker_count(levers))) == 5


def test_levers_are_off_for_tasks_that_move_on():
    life = load_config("game-of-life-small")
    assert checks.with_levers(life).training.later_steps == 0
    assert checks.with_levers(tiny()).training.later_steps == 3
    assert config_from_dict(checks.with_levers(tiny("name=a")).to_dict() | {"name": "a"}, "test")


def test_a_wrong_oracle_is_found(monkeypatch):
    monkeypatch.setattr(oracle, "loss_gradient", lambda state, target, channels: state - target)
    assert failures([checks.oracle_agrees_with_finite_differences(SMALL_CASES[1])])


def test_results_that_depend_on_the_workers_are_found(monkeypatch):
    def depends(engine, found):
        return found * np.float32(1 if engine.plan.workers < 3 else 1 + 1e-7)

    change_gradients(monkeypatch, depends)
    monkeypatch.setattr(checks, "worker_counts", lambda: (2,))
    assert not failures(checks.sharing_changes_nothing(SMALL_CASES[1]))
    monkeypatch.setattr(checks, "worker_counts", lambda: (2, 3))
    assert len(failures(checks.sharing_changes_nothing(SMALL_CASES[1]))) == len(STRATEGIES)


def test_imprecise_float32_is_found(monkeypatch):
    def coarse(engine, found):
        return found.astype(np.float16).astype(found.dtype) if found.dtype == "float32" else found

    change_gradients(monkeypatch, coarse)
    found = failures(checks.single_precision_is_close(SMALL_CASES[1]))
    assert found == ["float32 gradients / float64"]


def test_a_finding_passes_within_its_tolerance():
    names = {"what": "this", "against": "that", "where": "here"}
    found = [
        Deviation(**names, difference=difference, tolerance=checks.KERNEL_TOLERANCE).passed
        for difference in (0.0, 1e-9, 2e-9, np.nan, np.inf)
    ]
    assert found == [True, True, False, False, False]
    finding = Deviation(**names, difference=0.0, tolerance=checks.EXACT)
    numbers = {"difference": 0.0, "tolerance": 0.0, "reason": "the same bits", "passed": True}
    assert json.loads(json.dumps(finding.as_dict())) == names | numbers


def test_distances():
    x = np.array([1.0, 2.0])
    for other, distance, relative in (
        (x, 0, 0),
        (x + np.array([0, 0.5]), 0.5, 0.2),
        (x[:1], np.inf, np.inf),
        (np.array([1.0, np.nan]), np.inf, np.inf),
        (np.array([-np.inf, 2]), np.inf, np.inf),
    ):
        assert deviation.distance(x, other) == distance
        assert deviation.relative(x, other) == relative
    assert deviation.relative(0 * x, 0 * x) == 0
    assert deviation.relative(x, 0 * x) > 1e300
