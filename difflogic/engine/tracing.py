"""What each worker did and when: counts, timelines and trace files."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.engine.kernels import teams as t
from difflogic.engine.kernels.structures import BACKWARD, FORWARD, LOSS
from difflogic.system.files import check_output, write_whole


@dataclass(frozen=True)
class WorkStats:
    """What one worker has done, or the sum over several."""

    tasks: int = 0
    """Pieces of work taken: whole groups of samples, or one automaton step of a chunk of cells."""
    steals: int = 0
    """Tasks taken from another worker's share."""
    waits: int = 0
    """Waits for another worker, at a barrier or for the cells around its own."""
    seconds_waited: float = 0.0
    """Wall time of the waits, in seconds, added up over several workers."""
    created: int = 0
    """Tasks that the work was cut into, whoever takes them; known for all workers together."""

    @classmethod
    def of(cls, cursor: npt.NDArray[np.int64]) -> WorkStats:
        """Read the counts that a worker's kernel keeps in its cursor."""
        tasks, steals, waits, waited = (
            int(cursor[k]) for k in (t.TASKS, t.STEALS, t.WAITS, t.WAITED)
        )
        return cls(tasks, steals, waits, waited / 1e9)

    def __add__(self, other: WorkStats) -> WorkStats:
        return WorkStats(*(x + y for x, y in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, before: WorkStats) -> WorkStats:
        """Return what was done between two readings of the same counts."""
        return WorkStats(*(x - y for x, y in zip(astuple(self), astuple(before), strict=True)))

    def per_step(self, steps: int) -> dict[str, float]:
        """Return the tasks created, taken by their own worker, and stolen, in each of `steps`."""
        counts = {"created": self.created, "own": self.tasks - self.steals, "stolen": self.steals}
        return {name: count / steps for name, count in counts.items()}


SHORTEST_WAIT = 1e-6
"""Seconds. A shorter gap between two tasks counts to the later task."""

MOST_EVENTS = 200_000
"""Events to keep: hundreds of steps, about 30 MB as a file."""

NAMES = {FORWARD: "forward", LOSS: "loss", BACKWARD: "backward"}
WAIT = "wait"
SERIAL = "serial"
TASK = "task"


@dataclass(frozen=True)
class Event:
    """Something that a worker did. Times are in seconds of `time.perf_counter`."""

    worker: int
    name: str
    """A phase of training, or "wait"."""
    kind: str
    """"task", "wait", or "serial" for work that one thread does alone."""
    since: float
    until: float
    stolen: bool = False
    """Whether the task was taken from another worker's share."""
    place: tuple[int, int, int] | None = None
    """Group of samples, automaton step and chunk of a task."""

    @property
    def seconds(self) -> float:
        return self.until - self.since


class Tracer:
    """Collects events; pass it to a Trainer's `trace`. Keeps the first `most` events."""

    def __init__(self, most: int = MOST_EVENTS) -> None:
        self.full = False
        """Whether some events were dropped."""
        self._left = most
        self._phases: list[Event] = []
        self._calls: list[list[npt.NDArray[np.float64]]] = []
        self._ahead = _clock_difference()

    @property
    def events(self) -> list[Event]:
        """The recorded events, worker by worker in each call."""
        found = list(self._phases)
        for call in self._calls:
            for worker, trace in enumerate(call):
                found += _events(worker, trace, self._ahead)
        return found

    def add_phase(self, phase: str, since: float, until: float) -> None:
        """Record a phase that the calling thread does alone."""
        if self._has_room(1):
            self._phases.append(Event(0, phase, SERIAL, since, until))

    def add_call(self, traces: list[npt.NDArray[np.float64]]) -> None:
        """Record one call of the workers from their traces, which are decoded later."""
        # Each task may come with a wait.
        if self._has_room(2 * sum(map(len, traces))):
            self._calls.append(traces)

    def _has_room(self, events: int) -> bool:
        if self.full or events > self._left:
            self.full = True
            return False
        self._left -= events
        return True


def _clock_difference() -> float:
    """Return Python's clock minus the kernels' clock, in seconds."""
    t.read_clock()  # compile it first
    found = []
    for _ in range(20):
        before, theirs, after = time.perf_counter(), t.read_clock(), time.perf_counter()
        found.append((after - before, (before + after) / 2 - theirs))
    # The quickest reading was not interrupted.
    return float(min(found)[1])


def _events(worker: int, trace: npt.NDArray[np.float64], ahead: float) -> Iterator[Event]:
    """Yield the tasks of one worker's call in order, with the waits between them."""
    calls = trace[trace[:, t.KIND] == t.CALL]
    tasks = trace[trace[:, t.KIND] != t.CALL]
    if not len(calls):
        return
    at, until = float(calls[0, t.SINCE]), float(calls[0, t.UNTIL])
    taken, stolen, group = float(tasks[0, t.STOLEN]) if len(tasks) else 0.0, False, -1.0
    for index, task in enumerate(tasks):
        since, end = float(task[t.SINCE]), float(task[t.UNTIL])
        if since - at >= SHORTEST_WAIT:
            yield Event(worker, WAIT, WAIT, at + ahead, since + ahead)
        else:
            since = at
        # A stolen whole group is stolen with all of its chunks.
        same = task[t.OF_PHASE] == t.ALONE and task[t.OF_GROUP] == group
        stolen = task[t.STOLEN] > taken or (stolen and same and index > 0)
        taken, group = float(task[t.STOLEN]), float(task[t.OF_GROUP])
        is_loss = task[t.KIND] == LOSS
        places = tuple(int(task[c]) for c in (t.OF_GROUP, t.OF_STEP, t.OF_CHUNK))
        yield Event(
            worker=worker,
            name=NAMES[int(task[t.KIND])],
            kind=TASK,
            since=since + ahead,
            until=end + ahead,
            stolen=bool(stolen) and not is_loss,
            place=None if is_loss else (places[0], places[1], places[2]),
        )
        at = end
    if until - at >= SHORTEST_WAIT:
        yield Event(worker, WAIT, WAIT, at + ahead, until + ahead)


def trace_events(events: list[Event], name: str) -> dict[str, Any]:
    """Return events in the trace-event format, which Perfetto and Chrome's tracing page open.

    Times are in microseconds since the first event. Source: "Trace Event Format", Google: complete
    events (X) and metadata (M).
    """
    start = min((event.since for event in events), default=0.0)
    workers = sorted({event.worker for event in events})
    found: list[dict[str, Any]] = [
        {"name": "process_name", "ph": "M", "pid": 1, "tid": 0, "args": {"name": name}}
    ]
    for worker in workers:
        label = f"worker {worker}" + (", and the serial part" if worker == 0 else "")
        found.append(
            {"name": "thread_name", "ph": "M", "pid": 1, "tid": worker, "args": {"name": label}}
        )
    for event in sorted(events, key=lambda event: event.since):
        arguments: dict[str, Any] = {}
        if event.place is not None:
            group, step, chunk = event.place
            arguments = {"group": group, "step": step, "chunk": chunk, "stolen": event.stolen}
        found.append(
            {
                "name": event.name,
                "cat": "steal" if event.stolen else event.kind,
                "ph": "X",
                "pid": 1,
                "tid": event.worker,
                "ts": round(1e6 * (event.since - start), 3),
                "dur": round(1e6 * event.seconds, 3),
                "args": arguments,
            }
        )
    return {"traceEvents": found, "displayTimeUnit": "ms"}


def write_events(path: Path, events: list[Event], name: str) -> None:
    """Write events to a new trace-event file. Raises RunDirectoryError if that fails."""
    text = json.dumps(trace_events(events, name), separators=(",", ":"))
    check_output(path, remedy="choose another path")
    write_whole(path, lambda file: file.write(text.encode()))
