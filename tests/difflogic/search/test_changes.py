"""Candidates that ranks judge together: what one would say, and only where it is sooner."""

import gc
import weakref

import numpy as np
import pytest

from difflogic.engine.workers import Workers
from difflogic.evaluation.exactness import Plan
from difflogic.evaluation.scene import Streams
from difflogic.evaluation.trial import Trial
from difflogic.model.model import Model
from difflogic.search.changes import Changes, SharedJudging
from difflogic.system.ranks import ALONE, in_threads
from difflogic.system.streams import Purpose
from tests.difflogic.training.tiny import growing

COUNT = 37


def judging(seed, asked=None):
    """Return what judges candidates by a table, as long as none is hit."""
    wrong = np.random.default_rng(seed).integers(0, 60, COUNT)

    def judge(gates, ops, limit, stop):
        if asked is not None:
            asked.append(len(gates))
        found = wrong[list(gates)]
        hits = np.flatnonzero(found <= stop)
        end = hits[0] + 1 if len(hits) else len(found)
        return found[:end], found[:end] + np.asarray(ops)[:end]

    return judge


def questions():
    """Yield what is asked for, the same on all ranks."""
    rng = np.random.default_rng(0)
    for _ in range(25):
        gates = rng.integers(0, COUNT, rng.integers(1, 33)).tolist()
        yield gates, rng.integers(0, 16, len(gates)).tolist(), 60, int(rng.integers(-1, 4))


def fitting(everywhere):
    return True


def answers(ranks, seed, asked=None):
    ask, judge = SharedJudging(ranks), judging(seed, asked)
    return [tuple(map(np.ndarray.tolist, ask(judge, fitting, *each))) for each in questions()]


@pytest.mark.parametrize("size", [2, 3])
def test_all_ranks_hear_what_one_would(size):
    seed = 2
    expected = answers(ALONE, seed)
    heard, asked = [], []
    with in_threads(size, lambda ranks: heard.append(answers(ranks, seed))) as ranks:
        ranks.always_share = True
        heard.append(answers(ranks, seed, asked))
    assert heard == [expected] * size
    alone = [len(gates) for gates, *_ in questions()]
    assert sum(asked) < sum(alone)


def test_rank_0_s_clock_decides_for_all():
    """With candidates that take no time nothing is handed over, whatever others measure."""
    asked = {0: [], 1: []}

    def slow(ranks):
        ask, judge = SharedJudging(ranks), judging(1, asked[ranks.rank])
        ask._seconds = -1e9 if ranks.leads else 1e9
        return [ask(judge, fitting, *each) for each in questions()]

    with in_threads(2, slow) as ranks:
        slow(ranks)
    assert asked[0] == asked[1] == [len(gates) for gates, *_ in questions()]


def test_where_the_values_fit_on_one_rank_only_all_go_without_them():
    told = {0: [], 1: []}

    def ask(ranks):
        def fits(everywhere):
            told[ranks.rank].append(everywhere)
            return ranks.leads

        ask, judge = SharedJudging(ranks), judging(1)
        for each in questions():
            ask(judge, fits, *each)

    with in_threads(2, ask) as ranks:
        ranks.always_share = True
        ask(ranks)
    assert told[0] == told[1]
    assert told[0] == [True, False] * (len(told[0]) // 2)
    assert told[0]


def test_changes_are_let_go_of_at_once():
    """And not when cycles of objects are next looked for: they hold all values of a circuit."""
    model = Model.create(growing())
    plan = Plan.of(model.config, 1, Streams(1, Purpose.CHECK_START, Purpose.CHECK_MASK))
    gc.disable()
    try:
        with Workers(1) as workers:
            changes = Changes(Trial(model.netlist, plan.scene, (0,)), workers, model.ops)
            changes.judge([0, 1], [1, 2], 10)
            known = weakref.ref(changes)
            del changes
        assert known() is None
    finally:
        gc.enable()
