"""Changes that ranks judge together: what one would say, and sharing where that is faster."""

import gc
import weakref

import numpy as np
import pytest

from difflogic.circuit.gates import OPS
from difflogic.engine.workers import Workers
from difflogic.evaluation.exactness import Plan
from difflogic.evaluation.scene import Streams
from difflogic.evaluation.trial import Trial
from difflogic.search.changes import Changes
from difflogic.system.ranks import ALONE, in_threads
from difflogic.system.streams import Purpose
from tests.difflogic.evaluation.naive import random_model
from tests.difflogic.training.tiny import growing

MODEL = random_model(growing(), 5)
PLAN = Plan.of(MODEL.config, 1, Streams(1, Purpose.CHECK_START, Purpose.CHECK_MASK))


def questions():
    """Yield what is asked: gates, ops, the limit and where to stop, the same on all ranks."""
    rng = np.random.default_rng(0)
    for _ in range(25):
        gates = rng.integers(0, MODEL.netlist.parameters, rng.integers(1, 33)).tolist()
        yield gates, rng.integers(0, OPS, len(gates)).tolist(), 45, int(rng.integers(20, 35))


def answers(ranks, spoil=lambda changes: None):
    with Workers(1) as workers:
        changes = Changes(Trial(MODEL.netlist, PLAN.scene, (0,)), workers, MODEL.ops, ranks)
        spoil(changes)
        found = []
        for gates, ops, limit, stop in questions():
            wrong, active = changes.judge(gates, ops, limit, stop)
            known = wrong <= limit
            found.append((np.minimum(wrong, limit + 1).tolist(), active[known].tolist()))
        return found


def asked_alone(changes, asked):
    """Note how many changes a rank judges itself."""
    judge = changes._judge_alone

    def count(gates, *more):
        asked.append(len(gates))
        return judge(gates, *more)

    changes._judge_alone = count


@pytest.mark.parametrize("size", [2, 3])
def test_all_ranks_hear_what_one_would(size):
    expected = answers(ALONE)
    assert any(
        len(wrong) < len(asked[0]) for (wrong, _), asked in zip(expected, questions(), strict=True)
    )
    heard, asked = [], []
    with in_threads(size, lambda ranks: heard.append(answers(ranks))) as ranks:
        ranks.always_share = True
        heard.append(answers(ranks, lambda changes: asked_alone(changes, asked)))
    assert heard == [expected] * size
    assert sum(asked) < sum(len(gates) for gates, *_ in questions())


def test_rank_0_s_clock_decides_for_all():
    """Nothing is shared if changes take no time on rank 0, whatever other ranks measure."""
    asked = {0: [], 1: []}

    def ask(ranks):
        def spoil(changes):
            changes._seconds = -1e9 if ranks.leads else 1e9
            asked_alone(changes, asked[ranks.rank])

        return answers(ranks, spoil)

    with in_threads(2, ask) as ranks:
        ask(ranks)
    assert asked[0] == asked[1] == [len(gates) for gates, *_ in questions()]


def test_values_that_fit_on_one_rank_only_are_dropped_by_all():
    kept = {}

    def ask(ranks):
        def spoil(changes):
            kept[ranks.rank] = changes
            if not ranks.leads:
                changes._candidates = None

        return answers(ranks, spoil)

    with in_threads(2, ask) as ranks:
        ranks.always_share = True
        assert ask(ranks) == answers(ALONE)
    assert [changes._candidates for changes in kept.values()] == [None, None]


def test_changes_are_freed_at_once():
    """Not only when the garbage collector looks for cycles: they hold all values of a circuit."""
    gc.disable()
    try:
        with Workers(1) as workers:
            changes = Changes(Trial(MODEL.netlist, PLAN.scene, (0,)), workers, MODEL.ops)
            changes.judge([0, 1], [1, 2], 10)
            known = weakref.ref(changes)
            del changes
        assert known() is None
    finally:
        gc.enable()
