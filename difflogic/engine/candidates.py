"""Judges candidates: circuits that differ from a base circuit in a single gate.

A search tries thousands of changes of one gate. The *base* is simulated once and all its values are
kept. A candidate is then evaluated from its changed gate on, in the order of the gates and step by
step, and only where a value differs from the base's. This is concurrent fault simulation (Ulrich
and Baker 1974, "Concurrent simulation of nearly identical digital networks"). If much differs, all
gates are evaluated, which is then faster.

A candidate's result depends only on the base and the candidate, so workers can share the work. The
calling thread leads: it decides about the candidates in their order. Helpers have bases of their
own, and judge on other threads the candidates that come next. The leader never waits for a helper.
On a busy machine, where a thread may be stopped at any point, it does everything itself.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from difflogic.engine.bases import NO_DRAWS, TIDY, Ops, SimulatedBase, new_job, wiring_of
from difflogic.engine.hard import HardSimulator, Script, Words
from difflogic.engine.kernels import candidates as k
from difflogic.engine.sizes import MOST_HELPERS
from difflogic.engine.workers import Workers
from difflogic.system.callbacks import may_cancel

MOST_BYTES = 2**29
"""Bytes for all bases' values. Reading more from memory is slower than computing it again."""

WORTH = 2e-3
"""Seconds of work that make helpers worth calling, more than ten times the cost of a call. Two
Python threads at once wait for each other, and for other processes on their cores."""

RECENT = 0.2
"""Weight of the last job in the running means that predict the next job's time."""

ANEW = 32
"""Simulating a base again is faster than taking over this many changes."""

AT_ONCE = 64
"""Changes that a walk tries between two reports of progress."""


@dataclass
class Walk:
    """A walk: changes are tried one after the other, and kept if they do no harm.

    A change that leaves fewer wrong bits is kept. A change that leaves as many is kept if at most
    `most_gates` gates are then active and the next of `draws` in [0, 1) is below `sideways`.
    """

    wrong: int
    """Wrong bits of the current circuit."""
    improvements: int
    """Improvements left until the walk ends."""
    most_tried: int
    most_gates: float
    sideways: float
    draws: npt.NDArray[np.float64]
    """Random numbers, one for each change."""
    tried: int = 0
    place: int = 0
    """Index of the next change."""
    drawn: int = 0
    """Draws used so far."""

    @property
    def goes_on(self) -> bool:
        """Whether bits are wrong, and improvements and tries are left."""
        return self.wrong > 0 and self.improvements > 0 and self.tried < self.most_tried

    @property
    def chances(self) -> npt.NDArray[np.float64]:
        """The limits by which a kernel decides."""
        return np.array([self.most_gates, self.sideways])

    def decide(self, wrong: int, gates: int) -> bool:
        """Count a change that leaves these wrong bits and gates; return whether it is kept."""
        self.tried += 1
        if wrong > self.wrong:
            return False
        if wrong < self.wrong:
            self.wrong, self.improvements = wrong, self.improvements - 1
            return True
        if gates > self.most_gates:
            return False
        self.drawn += 1
        return bool(self.draws[self.drawn - 1] < self.sideways)

    def fields(self) -> npt.NDArray[np.int64]:
        """Return the walk's state for a kernel, which counts changes from its own first one."""
        fields = np.zeros(k.WALK_FIELDS, np.int64)
        fields[k.TRIED], fields[k.MOST_TRIED] = self.tried, self.most_tried
        fields[k.IMPROVEMENTS], fields[k.WRONG] = self.improvements, self.wrong
        fields[k.DRAWN] = self.drawn
        return fields

    def read_fields(self, fields: npt.NDArray[np.int64], first: int) -> None:
        """Read the state back from a kernel whose first change was the walk's `first`."""
        self.place = first + int(fields[k.PLACE])
        self.tried, self.improvements = int(fields[k.TRIED]), int(fields[k.IMPROVEMENTS])
        self.wrong, self.drawn = int(fields[k.WRONG]), int(fields[k.DRAWN])


Batch = tuple[npt.NDArray[Any], npt.NDArray[Any]]
"""Changes that are drawn together: gates, and an op for each."""


class Round(NamedTuple):
    """The result of one or several batches."""

    batch: int
    """Index of the last of these batches."""
    tried: int
    """Changes tried since the previous round."""
    hit: int | None = None
    """Index of the change in the last batch that leaves no wrong bit; None without one."""
    gates: int = 0
    """Active gates after the hit."""


class Candidates:
    """Judges changes of single gates of a base circuit on one packed batch.

    It holds every value of the base at every step, once per worker. If that is more than MOST_BYTES
    altogether, one worker judges alone.
    """

    def __init__(
        self, simulator: HardSimulator, starts: Words, script: Script, workers: Workers
    ) -> None:
        """`starts` and `script` are packed by the simulator. The script says what counts.

        `workers` must be entered before anything is judged.
        """
        common = simulator, starts, script, wiring_of(simulator.netlist)
        self._base = SimulatedBase(*common, MOST_BYTES)
        count = min(workers.count, 1 + MOST_HELPERS)
        # Bases are created at the first call, since most helpers are never called.
        make = partial(SimulatedBase, *common, MOST_BYTES // count)
        self._helpers = [Helper(make, number, workers) for number in range(1, count)]
        self._usual = {True: 0.0, False: 0.0}
        """Recent seconds per candidate, of jobs that keep changes and of others."""
        self._seconds = 0.0
        """Seconds of the present job."""

    def set_base(self, ops: Ops) -> bool:
        """Make the circuit with `ops` (parameters,) the base; return whether its values fit."""
        return self._base.load(ops)

    def change_base(self, parameters: Sequence[int], ops: Sequence[int]) -> bool:
        """Change each gate `parameters[i]` of the base to `ops[i]`; return whether it fits."""
        return self._base.change(np.asarray(parameters, np.int32), np.asarray(ops, np.uint8))

    def walk(
        self,
        parameters: npt.NDArray[np.int32],
        ops: Ops,
        walk: Walk,
        on_progress: Callable[[], None],
    ) -> tuple[npt.NDArray[np.int64], bool]:
        """Continue a walk through these changes; return the indices of those that are kept.

        The base takes over the kept changes. At least one change is tried, if there is any.
        `on_progress` is called now and then. Also returns whether the next change's values fit.
        """
        fields, first, fits = walk.fields(), walk.place, True
        with self._shared(walk.chances, parameters, ops, walk.wrong, keeps=True) as job:
            while fits and fields[k.PLACE] < len(ops) and (walk.goes_on or not fields[k.PLACE]):
                may_cancel()
                on_progress()
                fields[k.END] = min(len(ops), fields[k.PLACE] + AT_ONCE)
                fields[k.MOST_KEPT] = fields[k.VERSION] + self._base.until_tidying
                fits = self._lead(job, fields, walk.chances, walk.draws)
                walk.read_fields(fields, first)
                fits = fits or self._base.find_room()
        return job.versions[1 : int(fields[k.VERSION]) + 1, k.START] - 1, fits

    def rounds(self, batches: Sequence[Batch], most_gates: int) -> Generator[Round, None, int]:
        """Yield the hits of the batches in turn: changes that leave no wrong bit.

        Only the first such change of a batch is a hit, and only if at most `most_gates` are then
        active. The last round yielded has no hit. Helpers continue in the meantime, so the base
        must not change before the generator is closed. Returns how many batches fit.
        """
        sizes = [len(ops) for _, ops in batches]
        starts = np.cumsum([0, *sizes])
        gates, ops = (np.concatenate(each) for each in zip(*batches, strict=True))
        chances = np.array([most_gates, 0.0])
        fields = np.zeros(k.WALK_FIELDS, np.int64)
        fields[k.END] = len(ops)
        changes = gates.astype(np.int32), ops.astype(np.uint8)
        with self._shared(chances, *changes, 0, stop=0, sizes=sizes) as job:
            while True:
                may_cancel()
                fits = self._lead(job, fields, chances)
                tried, place, hit = (int(fields[each]) for each in (k.TRIED, k.PLACE, k.HIT))
                fields[k.TRIED] = 0
                if hit != k.NO_HIT:
                    number = int(np.searchsorted(starts, hit, "right")) - 1
                    row = job.result_versions[hit :: len(ops)].argmax() * len(ops) + hit
                    found = hit - int(starts[number])
                    yield Round(number, tried, found, int(job.results[row, 1]))
                elif fits:
                    yield Round(len(sizes) - 1, tried)
                    return len(sizes)
                elif not self._base.find_room():
                    number = int(np.searchsorted(starts, place, "right")) - 1
                    yield Round(number - 1, tried - (place - int(starts[number])))
                    return number
                else:
                    fields[k.TRIED] = tried

    def _lead(
        self,
        job: k.CandidateJob,
        fields: npt.NDArray[np.int64],
        chances: npt.NDArray[np.float64],
        draws: npt.NDArray[np.float64] = NO_DRAWS,
    ) -> bool:
        """Do the leader's part of a job; return whether all values fit."""
        since = time.perf_counter()
        fits = self._base.judge(job, 0, fields, chances, draws)
        self._seconds += time.perf_counter() - since
        return fits

    @contextmanager
    def _shared(
        self,
        chances: npt.NDArray[np.float64],
        parameters: npt.NDArray[np.int32],
        ops: Ops,
        limit: int,
        keeps: bool = False,
        **batches: Any,
    ) -> Iterator[k.CandidateJob]:
        """Create a job, and call the helpers for it if it is long enough."""
        size, each = max(1, len(ops)), self._usual[keeps]
        workers = 1 + len(self._helpers) if size * each >= WORTH else 1
        job = new_job(parameters, ops, limit, workers, keeps=keeps, **batches)
        self._seconds = 0.0
        try:
            for helper in self._helpers[: workers - 1]:
                helper.call(self._base.ops.copy(), job, chances)
            yield job
        finally:
            job.control[k.OVER] = 1
            self._usual[keeps] += RECENT * (self._seconds * workers / size - each)


Call = tuple[Ops, k.CandidateJob, npt.NDArray[np.float64]]


class Helper:
    """A worker that judges the next candidates ahead of the leader, on a thread of its own."""

    def __init__(self, make: Callable[[], SimulatedBase], number: int, workers: Workers) -> None:
        """`make` creates its base, at the first call."""
        self._make, self._number, self._workers = make, number, workers
        self._fits = True
        self._calls: deque[Call] = deque(maxlen=1)
        """The latest call, until it is taken."""
        self._running = Future[None]()
        self._running.set_result(None)

    def call(self, ops: Ops, job: k.CandidateJob, chances: npt.NDArray[np.float64]) -> None:
        """Help with candidates of the circuit with `ops`, as soon as this helper is free.

        Raises the exception that ended an earlier call.
        """
        self._calls.append((ops, job, chances))
        # A thread that is about to end may miss this call. The next call then starts another.
        if self._running.done():
            self._running.result()
            self._running = self._workers.submit(self._run)

    def _run(self) -> None:
        while self._calls:
            try:
                self._help(*self._calls.pop())
            except MemoryError:
                # Leave the memory to the leader, which does everything itself.
                self._fits = False
                self.__dict__.pop("_base", None)

    def _help(self, ops: Ops, job: k.CandidateJob, chances: npt.NDArray[np.float64]) -> None:
        fields = np.zeros(k.WALK_FIELDS, np.int64)
        fits = self._fits and not job.control[k.OVER] and self._follow(ops)
        while fits and not job.control[k.OVER]:
            fields[k.MOST_KEPT] = fields[k.VERSION] + self._base.until_tidying
            fits = self._base.judge(job, self._number, fields, chances)
            if fields[k.VERSION] < fields[k.MOST_KEPT]:
                break
        self._fits = self._fits and (fits or self._base.find_room())

    @cached_property
    def _base(self) -> SimulatedBase:
        return self._make()

    def _follow(self, ops: Ops) -> bool:
        """Make the circuit with `ops` this helper's base; return whether its values fit."""
        if not len(self._base.ops):
            return self._base.load(ops)
        changed = np.flatnonzero(ops != self._base.ops).astype(np.int32)
        if len(changed) >= ANEW:
            return self._base.load(ops)
        return not len(changed) or self._base.change(changed, ops[changed])


def load_kernels(simulator: HardSimulator, ops: Ops) -> None:
    """Compile or load the kernels that judge, which are the same for every size."""
    nothing = np.zeros((simulator.batch, 1, simulator.grid.height, simulator.grid.width), np.uint8)
    script = simulator.script(1, at=(1,), targets=nothing, channels=(0,))
    starts = simulator.pack_states(np.repeat(nothing, simulator.netlist.channels, axis=1))
    candidates = Candidates(simulator, starts, script, Workers(1))
    if candidates.set_base(ops):
        candidates.change_base([0] * TIDY, [int(ops[0])] * TIDY)
