"""Many circuits that differ from one in a single gate, judged by what the difference reaches.

A search tries thousands of changes of one gate. Simulating each circuit anew would mostly repeat
what is known: here the circuit as it is, the *base*, is simulated once and every value is kept.
A candidate then starts from its changed gate and goes on only where a value differs from the
base's, in the order of the gates, step after step. The field calls it concurrent fault simulation
(Ulrich and Baker 1974, "Concurrent simulation of nearly identical digital networks"). Where much
differs all gates are evaluated, which then is sooner.

Candidates are independent of each other, so workers share them; each result depends on base and
candidate alone. Whoever asks leads, and decides in the order of the candidates. The others each
have a base of their own, on a thread that judges what will be asked for next. The leader never
waits for one: on a busy machine, where a thread may be stopped anywhere, it does all by itself.
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
from difflogic.engine.workers import Workers

MOST_BYTES = 2**29
"""For all bases' values: past that, they are read from memory more slowly than computed anew."""

MOST_HELPERS = 3
"""Threads besides the leader's: the more there are, the more is judged ahead in vain."""

WORTH = 2e-3
"""Seconds of work that are worth calling helpers for: more than ten times what a call takes. Two
threads at once in Python wait for each other, and for whoever else has the core of one of them."""

RECENT = 0.2
"""Weight of the last job in the means that tell how long the next one will take."""

ANEW = 32
"""Changes from which on a base is simulated anew sooner than it takes them over."""

ANY = np.array([np.inf, 0.0])
"""Chances that let a hit have any number of gates."""

AT_ONCE = 64
"""Changes that a walk tries between two reports of progress."""


@dataclass
class Walk:
    """A walk through changes that are tried one after the other, and what ends it.

    A change that leaves fewer bits wrong is kept. One that leaves as many is, if no more than
    `most_gates` matter then, where the next of `draws` in [0, 1) is below `sideways`.
    """

    wrong: int
    """Bits that are wrong in the circuit as it is."""
    improvements: int
    """Those that are left until it ends."""
    most_tried: int
    most_gates: float
    sideways: float
    draws: npt.NDArray[np.float64]
    """As many as there are changes."""
    tried: int = 0
    place: int = 0
    """The next change."""
    drawn: int = 0

    @property
    def goes_on(self) -> bool:
        """Whether there is something wrong, and improvements and tries are left."""
        return self.wrong > 0 and self.improvements > 0 and self.tried < self.most_tried

    @property
    def chances(self) -> npt.NDArray[np.float64]:
        """What a kernel decides by."""
        return np.array([self.most_gates, self.sideways])

    def decide(self, wrong: int, gates: int) -> bool:
        """Try a change with so many wrong bits and active gates; return whether it is kept."""
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
        """Return what a kernel goes on with, from its own first change on."""
        fields = np.zeros(k.WALK_FIELDS, np.int64)
        fields[k.TRIED], fields[k.MOST_TRIED] = self.tried, self.most_tried
        fields[k.IMPROVEMENTS], fields[k.WRONG] = self.improvements, self.wrong
        fields[k.DRAWN] = self.drawn
        return fields

    def take(self, fields: npt.NDArray[np.int64], first: int) -> None:
        """Take what a kernel made of them, whose first change was the walk's `first`."""
        self.place = first + int(fields[k.PLACE])
        self.tried, self.improvements = int(fields[k.TRIED]), int(fields[k.IMPROVEMENTS])
        self.wrong, self.drawn = int(fields[k.WRONG]), int(fields[k.DRAWN])


Batch = tuple[npt.NDArray[Any], npt.NDArray[Any]]
"""Changes that are drawn at a time: gates, and an op for each."""


class Round(NamedTuple):
    """What came of some batches, one after the other."""

    batch: int
    """The last one of them."""
    tried: int
    """Changes of all that were not told of before."""
    hit: int | None = None
    """The one in the last batch that leaves no bit wrong, if there is any to consider."""
    gates: int = 0
    """Those that matter then."""


class Candidates:
    """Judges changes of single gates of a circuit, the base, on one packed batch.

    The memory is that of every value of the base at every step, and the same for each other worker
    if all of it is no more than MOST_BYTES; else one worker judges alone.
    """

    def __init__(
        self, simulator: HardSimulator, starts: Words, script: Script, workers: Workers
    ) -> None:
        """`starts` and `script` are as the simulator packs them; the script says what counts.

        The `workers` are entered when anything is judged.
        """
        of_base = simulator, starts, script, wiring_of(simulator.netlist)
        self._base = SimulatedBase(*of_base, MOST_BYTES)
        count = min(workers.count, 1 + MOST_HELPERS)
        # Most are never called: what is tried of a circuit often is done soon.
        make = partial(SimulatedBase, *of_base, MOST_BYTES // count)
        self._helpers = [Helper(make, number, workers) for number in range(1, count)]
        self._usual = {True: 0.0, False: 0.0}
        """Seconds per candidate of jobs that keep changes, or do not, of late."""
        self._seconds = 0.0
        """Those of the present job."""

    @property
    def room(self) -> int:
        """Rows whose values can be kept."""
        return self._base.room

    @property
    def workers(self) -> int:
        """Those that a job may have."""
        return 1 + len(self._helpers)

    def differ_from(self, ops: Ops) -> bool:
        """Take the circuit with `ops` (parameters,) for the base; return whether it fits."""
        return self._base.differ_from(ops)

    def take_over(self, parameters: Sequence[int], ops: Sequence[int]) -> bool:
        """Make the base the circuit with `ops[i]` for gate `parameters[i]`, for each i.

        Returns whether that fits.
        """
        return self._base.take_over(np.asarray(parameters, np.int32), np.asarray(ops, np.uint8))

    def walk(
        self,
        parameters: npt.NDArray[np.int32],
        ops: Ops,
        walk: Walk,
        on_progress: Callable[[], None],
    ) -> tuple[npt.NDArray[np.int64], bool]:
        """Go on with a walk through some changes; return the places of those that are kept.

        The base takes these over. At least one is tried, if there is any. `on_progress` is called
        now and then. Returns also whether the values of the next one fit.
        """
        fields, first, fits = walk.fields(), walk.place, True
        with self._shared(walk.chances, parameters, ops, walk.wrong, keeps=True) as job:
            while fits and fields[k.PLACE] < len(ops) and (walk.goes_on or not fields[k.PLACE]):
                on_progress()
                fields[k.END] = min(len(ops), fields[k.PLACE] + AT_ONCE)
                fields[k.MOST_KEPT] = fields[k.VERSION] + self._base.untidied
                fits = self._lead(job, fields, walk.chances, walk.draws)
                walk.take(fields, first)
                fits = fits or self._base.find_room()
        return job.versions[1 : int(fields[k.VERSION]) + 1, k.START] - 1, fits

    def judge(
        self, parameters: Sequence[int], ops: Sequence[int], limit: int, stop: int = -1
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
        """Return what becomes of the base with `ops[i]` for gate `parameters[i]`, for each i.

        These are the wrong bits, where a number above `limit` only says that there are more than
        that, and else the gates that the counted channels depend on. After the first with at most
        `stop` wrong bits nothing is told. None if the values of one do not fit.
        """
        fields, size, fits = np.zeros(k.WALK_FIELDS, np.int64), len(ops), True
        fields[k.END] = size
        asked = np.asarray(parameters, np.int32), np.asarray(ops, np.uint8), limit
        with self._shared(ANY, *asked, stop=stop) as job:
            while fits and not self._lead(job, fields, ANY):
                fits = self._base.find_room()
        if not fits:
            return None
        hit = int(fields[k.HIT])
        told = np.arange(size if hit == k.NO_HIT else hit + 1)
        by = job.known.reshape(job.workers, size)[:, : len(told)].argmax(axis=0)
        found = job.told.reshape(job.workers, size, 2)[by, told]
        return found[:, 0], found[:, 1]

    def rounds(self, batches: Sequence[Batch], most_gates: int) -> Generator[Round, None, int]:
        """Yield the hits of some batches in turn: those that leave no bit wrong.

        A hit is the first of its batch, and passed over if more than `most_gates` matter then. The
        last one to be told of is none. Helpers go on meanwhile; the base must not change before the
        generator is closed. Returns how many batches fit.
        """
        sizes = [len(ops) for _, ops in batches]
        starts = np.cumsum([0, *sizes])
        gates, ops = (np.concatenate(each) for each in zip(*batches, strict=True))
        chances = np.array([most_gates, 0.0])
        fields = np.zeros(k.WALK_FIELDS, np.int64)
        fields[k.END] = len(ops)
        asked = gates.astype(np.int32), ops.astype(np.uint8), 0
        with self._shared(chances, *asked, stop=0, sizes=sizes) as job:
            while True:
                fits = self._lead(job, fields, chances)
                tried, place, hit = (int(fields[each]) for each in (k.TRIED, k.PLACE, k.HIT))
                fields[k.TRIED] = 0
                if hit != k.NO_HIT:
                    number = int(np.searchsorted(starts, hit, "right")) - 1
                    known = job.known[hit :: len(ops)].argmax() * len(ops) + hit
                    found = hit - int(starts[number])
                    yield Round(number, tried, found, int(job.told[known, 1]))
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
        job: k.Job,
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
    ) -> Iterator[k.Job]:
        """Hand candidates to helpers, too, while they are judged; but not if that soon is done."""
        size, each = max(1, len(ops)), self._usual[keeps]
        workers = self.workers if size * each >= WORTH else 1
        job = new_job(parameters, ops, limit, workers, keeps=keeps, **batches)
        self._seconds = 0.0
        try:
            for helper in self._helpers[: workers - 1]:
                helper.call(self._base.ops.copy(), job, chances)
            yield job
        finally:
            job.control[k.OVER] = 1
            self._usual[keeps] += RECENT * (self._seconds * workers / size - each)


Call = tuple[Ops, k.Job, npt.NDArray[np.float64]]


class Helper:
    """A worker who judges on a thread what will be asked for next."""

    def __init__(self, make: Callable[[], SimulatedBase], number: int, workers: Workers) -> None:
        """`make` makes its base, of no circuit yet, when it is first called."""
        self._make, self._number, self._workers = make, number, workers
        self._fits = True
        self._calls: deque[Call] = deque(maxlen=1)
        """The last call, while nobody has taken it."""
        self._running = Future[None]()
        self._running.set_result(None)

    def call(self, ops: Ops, job: k.Job, chances: npt.NDArray[np.float64]) -> None:
        """Let it help, with candidates of the circuit with `ops`, as soon as it is free.

        Raises what went wrong before.
        """
        self._calls.append((ops, job, chances))
        # One that is about to end may not see this call: then it helps from the next one on.
        if self._running.done():
            self._running.result()
            self._running = self._workers.aside(self._run)

    def _run(self) -> None:
        while self._calls:
            try:
                self._help(*self._calls.pop())
            except MemoryError:
                # The leader does without, and has what memory there is.
                self._fits = False
                self.__dict__.pop("_base", None)

    def _help(self, ops: Ops, job: k.Job, chances: npt.NDArray[np.float64]) -> None:
        fields = np.zeros(k.WALK_FIELDS, np.int64)
        fits = self._fits and not job.control[k.OVER] and self._follow(ops)
        while fits and not job.control[k.OVER]:
            fields[k.MOST_KEPT] = fields[k.VERSION] + self._base.untidied
            fits = self._base.judge(job, self._number, fields, chances)
            if fields[k.VERSION] < fields[k.MOST_KEPT]:
                break
        self._fits = self._fits and (fits or self._base.find_room())

    @cached_property
    def _base(self) -> SimulatedBase:
        return self._make()

    def _follow(self, ops: Ops) -> bool:
        """Make its base the circuit with `ops`; return whether that fits."""
        if not len(self._base.ops):
            return self._base.differ_from(ops)
        changed = np.flatnonzero(ops != self._base.ops).astype(np.int32)
        if len(changed) >= ANEW:
            return self._base.differ_from(ops)
        return not len(changed) or self._base.take_over(changed, ops[changed])


def warm_up(simulator: HardSimulator, ops: Ops) -> None:
    """Compile or load the kernels that judge; they are the same for any size."""
    nothing = np.zeros((simulator.batch, 1, simulator.grid.height, simulator.grid.width), np.uint8)
    script = simulator.script(1, at=(1,), targets=nothing, channels=(0,))
    starts = simulator.pack_states(np.repeat(nothing, simulator.netlist.channels, axis=1))
    candidates = Candidates(simulator, starts, script, Workers(1))
    if candidates.differ_from(ops):
        candidates.judge([0], [0], 0)
        candidates.take_over([0] * TIDY, [int(ops[0])] * TIDY)
