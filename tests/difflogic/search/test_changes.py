"""What becomes of changes that are judged."""

import gc
import weakref

from difflogic.engine.workers import Workers
from difflogic.evaluation.exactness import Plan
from difflogic.evaluation.scene import Streams
from difflogic.evaluation.trial import Trial
from difflogic.search.changes import Changes
from difflogic.system.streams import Purpose
from tests.difflogic.evaluation.naive import random_model
from tests.difflogic.training.tiny import growing

MODEL = random_model(growing(), 5)
PLAN = Plan.of(MODEL.config, 1, Streams(1, Purpose.CHECK_START, Purpose.CHECK_MASK))


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
