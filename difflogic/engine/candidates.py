"""Judges candidates: circuits that differ from a base circuit in a single gate.

A search tries thousands of changes of one gate. The *base* is simulated once and all its values are
kept. A candidate is then evaluated from its changed gate on, in the order of the gates and step by
step, and only where a value differs from the base's. This is concurrent fault simulation (Ulrich
and Baker 1974, "Concurrent simulation of nearly identical digital networks"). If much differs, all
gates are evaluated, which is then faster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from difflogic.engine.bases import TIDY, Ops, SimulatedBase, new_job
from difflogic.engine.hard import HardSimulator
from difflogic.engine.kernels import candidates as k
from difflogic.system.callbacks import may_cancel

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


class Found(NamedTuple):
    """The first of some changes that leaves no wrong bit."""

    tried: int
    """Changes tried."""
    hit: int | None = None
    """Its index; None without one."""
    gates: int = 0
    """Active gates after it."""


class Candidates(SimulatedBase):
    """Judges changes of single gates of its circuit."""

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
        job, fields, first = new_job(parameters, ops, k.WALKS), walk.fields(), walk.place
        fits = True
        while fits and fields[k.PLACE] < len(ops) and (walk.goes_on or not fields[k.PLACE]):
            may_cancel()
            on_progress()
            fields[k.END] = min(len(ops), fields[k.PLACE] + AT_ONCE)
            fits = self.judge(job, fields, walk.chances, walk.draws)
            walk.read_fields(fields, first)
            fits = fits or self.find_room()
        return job.kept[: fields[k.KEPT]], fits

    def find(self, parameters: npt.NDArray[Any], ops: npt.NDArray[Any]) -> Found | None:
        """Return the first change that leaves no wrong bit; None if its values do not fit."""
        changes = parameters.astype(np.int32), ops.astype(np.uint8)
        job, fields = new_job(*changes, k.FINDS, stop=0), np.zeros(k.WALK_FIELDS, np.int64)
        fields[k.END] = len(ops)
        may_cancel()
        while not self.judge(job, fields):
            if not self.find_room():
                return None
        tried, hit = int(fields[k.TRIED]), int(fields[k.HIT])
        return Found(tried) if hit == k.NO_HIT else Found(tried, hit, int(job.results[hit, 1]))


def load_kernels(simulator: HardSimulator, ops: Ops) -> None:
    """Compile or load the kernels that judge, which are the same for every size."""
    nothing = np.zeros((simulator.batch, 1, simulator.grid.height, simulator.grid.width), np.uint8)
    script = simulator.script(1, at=(1,), targets=nothing, channels=(0,))
    starts = simulator.pack_states(np.repeat(nothing, simulator.netlist.channels, axis=1))
    candidates = Candidates(simulator, starts, script)
    if candidates.load(ops):
        candidates.change(np.zeros(TIDY, np.int32), np.full(TIDY, ops[0]))
