"""Where the time of a step goes."""

import pytest

from difflogic.engine.tracing import Event, WorkStats
from difflogic.scale.speed.profile import Profile, profile, timeline
from tests.difflogic.training.tiny import growing, tiny

CONFIG = tiny("parallel.workers=2")
MEASURED = ("perception", "update", "moves")


def made_up(plan):
    """A step of 10 s: 2 s serial, then 7 s of two workers, of which one waits 3 s; 1 s is left."""
    step = [
        Event(0, "sample", "serial", 0.0, 2.0),
        Event(0, "forward", "task", 2.5, 9.5, gates=(2.0, 4.0)),
        Event(1, "forward", "task", 2.5, 6.5, stolen=True, gates=(1.0, 2.5)),
        Event(1, "wait", "wait", 6.5, 9.5),
    ]
    return Profile(CONFIG, plan, [step], [10.0], [8.0], WorkStats(3, 1, created=3))


def test_steps_are_traced_beside_untraced_ones():
    heard = []
    found = profile(CONFIG, 2, heard.append)
    assert heard == [1, 2]
    assert len(found.steps) == len(found.seconds) == len(found.untraced) == 2
    parts = {(each.kind, each.what) for each in found.bottlenecks}
    tasks = {f"{way}: {part}" for way in ("forward", "backward") for part in MEASURED}
    assert {("serial", "hard"), *(("task", each) for each in tasks)} <= parts
    assert found.search is found.search_per_epoch is None
    data = found.as_dict()
    parts = sum(part["seconds"] for part in data["bottlenecks"])
    assert parts == pytest.approx(sum(found.seconds) / 2, rel=0.1)
    assert data["tasks"]["own"] + data["tasks"]["stolen"] == data["tasks"]["created"] > 0

    known = made_up(found.plan)
    assert [(each.what, each.seconds, each.gain) for each in known.bottlenecks] == [
        ("wait", 1.5, 1.5),
        ("sample", 2.0, 1.0),
        ("hand over", 1.0, 1.0),
        ("forward: update", 3.25, 0.0),
        ("forward: perception", 1.5, 0.0),
        ("forward: moves", 0.75, 0.0),
    ]
    assert known.serial_share == pytest.approx(0.2)
    assert known.tasks == {"created": 1.5, "own": 1.0, "stolen": 0.5}
    assert known.cost == pytest.approx(0.25)
    assert timeline(known.typical, 2, 19) == ["sssssFFFFFFFFFFFFFF", "     FFFFFFFF......"]
    assert timeline([], 2) == []


def test_a_search_is_measured_separately_from_the_steps():
    config = growing("finishing.every=1", "training.restart_every=2")
    heard = []
    found = profile(config, 3, heard.append)
    assert set(heard) == {1, 2, 3}
    assert len(heard) > 3  # also during the search, so that it can be cancelled
    assert not any(event.name == "finish" for step in found.steps for event in step)
    assert found.search_per_epoch == found.search > 0
    assert found.as_dict()["search"] == found.search
