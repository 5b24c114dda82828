"""Where the time of a step goes."""

import pytest

from difflogic.engine.tracing import Event
from difflogic.scale.speed.profile import Profile, profile, timeline
from tests.difflogic.training.tiny import tiny

CONFIG = tiny("parallel.workers=2")


def made_up(plan):
    """A step of 10 s: 2 s by one thread, then 7 s by two, of which the second waits 3; 1 s left."""
    step = [
        Event(0, "sample", "serial", 0.0, 2.0),
        Event(0, "forward", "task", 2.5, 9.5),
        Event(1, "forward", "task", 2.5, 6.5, stolen=True),
        Event(1, "wait", "wait", 6.5, 9.5),
    ]
    return Profile(CONFIG, plan, [step], [10.0], [8.0])


def test_steps_are_traced_beside_others():
    heard = []
    found = profile(CONFIG, 2, heard.append)
    assert heard == [1, 2]
    assert len(found.steps) == len(found.seconds) == len(found.untraced) == 2
    parts = {(each.kind, each.what) for each in found.bottlenecks}
    assert {("task", "forward"), ("task", "backward"), ("serial", "hard")} <= parts
    data = found.as_dict()
    assert sum(part["share"] for part in data["bottlenecks"]) == pytest.approx(1, abs=0.1)
    assert data["tasks"] > 0

    parts = made_up(found.plan).bottlenecks
    assert [(each.what, each.seconds, each.gain) for each in parts] == [
        ("wait", 1.5, 1.5),
        ("sample", 2.0, 1.0),
        ("hand over", 1.0, 1.0),
        ("forward", 5.5, 0.0),
    ]
    assert made_up(found.plan).serial_share == pytest.approx(0.2)
    assert made_up(found.plan).cost == pytest.approx(0.25)
    assert timeline(made_up(found.plan).typical, 2, 19) == [
        "sssssFFFFFFFFFFFFFF",
        "     FFFFFFFF......",
    ]
    assert timeline([], 2) == []
