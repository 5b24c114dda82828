"""Traces are complete, in order, and in the trace-event format; counts add up."""

import json
from itertools import pairwise

import numpy as np
import pytest

from difflogic.engine.kernels.teams import CURSOR_FIELDS, STEALS, TASKS, WAITED, WAITS
from difflogic.engine.tracing import SERIAL, TASK, Tracer, WorkStats, write_events
from difflogic.system.errors import RunDirectoryError
from difflogic.training.searching import Trainer
from tests.difflogic.training.tiny import tiny


def traced(*overrides, steps=2):
    tracer = Tracer()
    with Trainer(tiny(*overrides)) as trainer:
        trainer.trace(tracer)
        for _ in range(steps):
            trainer.step()
        return trainer, tracer


@pytest.mark.thorough
@pytest.mark.parametrize("strategy", ["samples", "cells", "steps", "gates"])
@pytest.mark.parametrize("workers", [1, 3])
def test_every_piece_of_work_is_recorded_once(strategy, workers):
    overrides = (f"parallel.strategy={strategy}", f"parallel.workers={workers}")
    overrides += () if strategy == "samples" else ("parallel.lanes=16",)
    trainer, tracer = traced(*overrides, "training.batch=2", steps=2)
    plan, events = trainer.plan, tracer.events
    tasks = [event for event in events if event.kind == TASK and event.place is not None]
    pieces = sorted((event.name, *event.place) for event in tasks)
    expected = [
        (name, group, step, chunk)
        for name in ("forward", "backward")
        for group in range(plan.groups)
        for step in range(plan.rollouts.steps)
        for chunk in range(len(plan.chunks))
    ]
    # There are two steps, and a record from each worker that shares a tile.
    assert pieces == sorted(2 * plan.parts * expected)
    assert {event.name for event in events if event.kind == SERIAL} >= {"sample", "hard", "reduce"}
    assert not tracer.full
    for worker in range(plan.workers):
        own = sorted((e.since, e.until) for e in events if e.worker == worker)
        assert all(since <= until for since, until in own)
        # No worker does two things at once. Clocks are accurate to about a microsecond.
        for (_, until), (since, _) in pairwise(own):
            assert since >= until - 5e-5


def test_tracing_changes_no_bit_and_can_be_stopped():
    losses = []
    for recorded in (False, True):
        tracer = Tracer()
        with Trainer(tiny("parallel.workers=2")) as trainer:
            trainer.trace(tracer if recorded else None)
            found = [trainer.step().soft_loss for _ in range(2)]
            trainer.trace(None)
            count = len(tracer.events)
            found.append(trainer.step().soft_loss)
            assert len(tracer.events) == count
            assert bool(count) is recorded
        losses.append(found)
    assert losses[0] == losses[1]


def test_a_tracer_keeps_a_limited_number_of_events():
    tracer = Tracer(most=40)
    with Trainer(tiny("parallel.workers=1")) as trainer:
        trainer.trace(tracer)
        for _ in range(20):
            trainer.step()
    assert tracer.full
    assert 0 < len(tracer.events) <= 40


def test_the_file_is_in_the_trace_event_format(tmp_path):
    """Checks the fields of "Trace Event Format", Google."""
    _, tracer = traced("parallel.workers=2", "parallel.lanes=16")
    write_events(tmp_path / "trace.json", tracer.events, "tiny")
    written = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert {event["name"] for event in written if event["ph"] == "M"} == {
        "process_name",
        "thread_name",
    }
    complete = [event for event in written if event["ph"] == "X"]
    for event, recorded in zip(complete, sorted(tracer.events, key=lambda e: e.since), strict=True):
        assert (event["name"], event["pid"], event["tid"]) == (recorded.name, 1, recorded.worker)
        began = recorded.since - min(each.since for each in tracer.events)
        times = 1e6 * began, 1e6 * recorded.seconds
        assert (event["ts"], event["dur"]) == pytest.approx(times, abs=1e-3)


def test_a_file_that_cannot_be_written_is_reported(tmp_path):
    with pytest.raises(RunDirectoryError, match="written"):
        write_events(tmp_path / "no" / "trace.json", [], "x")


def test_counts_are_read_added_and_subtracted():
    cursor = np.zeros(CURSOR_FIELDS, np.int64)
    cursor[[TASKS, STEALS, WAITS, WAITED]] = 5, 2, 3, 1_500_000_000
    stats = WorkStats.of(cursor)
    assert stats == WorkStats(tasks=5, steals=2, waits=3, seconds_waited=1.5)
    assert stats + stats == WorkStats(10, 4, 6, 3.0)
    assert stats + stats - stats == stats
    found = (stats + WorkStats(created=5)).per_step(2)
    assert found == {"created": 2.5, "own": 1.5, "stolen": 1.0}
