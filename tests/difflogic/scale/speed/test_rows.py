"""Rows that are measured in turn: what they count, and that they must be equal."""

import pytest

from difflogic.engine.plan import ParallelPlan
from difflogic.library.benchmarking import compare
from difflogic.scale.speed import rows
from difflogic.scale.speed.rows import Comparison, Row, measure, of_workers, with_laws
from difflogic.system.errors import ConfigError
from difflogic.training.trainer import Trainer
from tests.difflogic.training.tiny import TINY, tiny

pytestmark = pytest.mark.thorough

CONFIG = tiny("training.batch=4")


def test_worker_counts_give_the_same_bits_and_are_counted(monkeypatch):
    monkeypatch.setattr(rows, "cpu_count", lambda: 2)
    monkeypatch.setattr(rows, "fma_rate", lambda threads: 1e9 * threads)
    heard = []
    found = measure(of_workers(CONFIG, (1, 2, 3)), 2, heard.append)
    assert heard == [1, 2]
    assert found.equal
    assert [row.difference for row in found.rows] == [None, 0.0, 0.0]
    assert [row.workers for row in found.rows] == [1, 2, 3]
    assert [row.peak for row in found.rows] == [1e9, 2e9, None]
    first = found.rows[0]
    assert first.speedup(first) == first.efficiency(first) == 1
    assert first.steal_ratio == first.waiting == 0
    for row in found.rows:
        assert len(row.steps) == len(row.phases["backward"]) == 2
        assert len(row.losses) == rows.WARM_UP_STEPS + 4
        assert 0 <= row.steal_ratio <= 1
        assert 0 <= row.waiting <= 1
        # Two steps are done for each that is measured; whole groups are one task each way.
        assert row.work.tasks >= 2 * 2 * 2 * 4
    data = found.as_dict()["rows"]
    assert data[1]["ceiling"] == 2
    assert data[2]["bytes"] - data[1]["bytes"] > data[0]["plan"]["bytes_per_worker"]


def made_up(*steps, repeat=8):
    """Return rows of 1, 2, … workers whose steps took so many seconds, on a sound machine."""
    found = []
    for setting, seconds in zip(of_workers(CONFIG, range(1, len(steps) + 1)), steps, strict=True):
        row = Row(setting, ParallelPlan.for_model(setting.config))
        row.steps[:] = [seconds + 0.01 * turn for turn in range(repeat)]
        row.phases = {"backward": [0.5 * seconds] * repeat, "reduce": [*row.steps]}
        row.peak, row.spent = 1e9 * row.workers, 1.0
        found.append(row)
    return Comparison(found)


def test_what_is_above_the_ceiling_is_no_speedup():
    first, row = made_up(3.0, 2.0, repeat=1).rows
    assert (row.speedup(first), row.efficiency(first)) == (1.5, 0.75)
    assert row.phase_speedup("backward", first) == 1.5
    assert not row.hides(first)
    row.phases["backward"] = [0.5]
    assert row.phase_speedup("backward", first) is None
    assert row.hides(first)
    row.steps[:] = [1.0]
    assert row.speedup(first) is row.efficiency(first) is None


def test_rows_that_differ_are_found(monkeypatch):
    step = Trainer.step

    def wrong(trainer):
        if trainer.workers == 2:
            trainer._logits[0, 0] += 1e-3
        return step(trainer)

    monkeypatch.setattr(Trainer, "step", wrong)
    found = measure(of_workers(CONFIG, (1, 2)), 1)
    assert not found.equal
    assert found.rows[1].difference > 0


def test_laws_are_fitted_within_the_cores(monkeypatch):
    monkeypatch.setattr(rows, "cpu_count", lambda: 2)
    found = made_up(8.0, 5.0, 6.0)
    fitted = with_laws(found)
    assert [row.oversubscribed for row in found.rows] == [False, False, True]
    assert fitted.fitted_oversubscribed
    assert fitted.fit.workers == (1, 2)
    assert fitted.fit.amdahl.serial == pytest.approx(0.25, abs=0.01)
    assert fitted.fit.best == 2
    assert with_laws(Comparison(found.rows[1:])).fit is None


def test_no_law_follows_where_the_machine_has_no_second_core(monkeypatch):
    monkeypatch.setattr(rows, "cpu_count", lambda: 2)
    sound = made_up(8.0, 5.0)
    assert sound.doubt is None
    assert with_laws(sound).fit is not None
    shared = made_up(8.0, 5.0)
    shared.rows[1].peak = 1.1e9
    assert "2 workers reach 1.1 times the peak of 1" in shared.doubt
    assert with_laws(shared).fit is None
    equal = made_up(8.0, 8.0)
    assert equal.doubt == "no difference found between 1 and 2 workers"
    assert with_laws(equal).fit is None
    few = made_up(8.0, 5.0, repeat=3)
    assert few.doubt == "no difference found between 1 and 2 workers"


def test_a_winner_is_named_only_beyond_chance():
    assert made_up(8.0, 5.0).best.workers == 2
    close = made_up(8.0, 5.0, 5.0)
    assert close.best is None
    assert [row.workers for row in close.tied] == [2, 3]
    assert close.as_dict()["fastest"] is None


def test_ways_batches_and_grids():
    ways = compare(CONFIG, ways=("sequential", "batch", "cells", "steps", "oracle"), repeat=1)
    assert ways.equal
    assert ways.rows[-1].plan is None
    assert ways.rows[-1].workers == 1
    batches = compare("checkerboard-small", [*TINY], grid=["training.batch=1,3"], repeat=1)
    one, three = batches.rows
    one.steps[:], three.steps[:] = [1.0], [2.0]
    assert three.speedup(one) == 1.5
    assert three.samples_per_second == 1.5
    assert three.difference is None
    found = compare(
        "checkerboard-small", [*TINY], grid=["parallel.lanes=16,32", "parallel.chunk=1"], repeat=1
    )
    assert [row.plan.lanes for row in found.rows] == [16, 32]
    assert found.rows[0].setting.label == "parallel.lanes=16 parallel.chunk=1"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "compare one thing"),
        ({"workers": (1,), "ways": ("cells",)}, "compare one thing"),
        ({"workers": (0, 1)}, "from 1 to 1024"),
        ({"workers": (1, 1)}, "twice"),
        ({"ways": ("cell",)}, 'no way "cell": did you mean "cells"'),
        ({"workers": (1, 2), "repeat": 0}, "at least once"),
        ({"workers": tuple(range(1, 100))}, "99 settings are too many: compare at most 64"),
        ({"grid": ("a.b=1",)}, "name or file"),
    ],
)
def test_what_cannot_be_compared_is_refused(asked, message):
    with pytest.raises(ConfigError, match=message):
        compare(CONFIG, **asked)
