"""Judges candidates: circuits that differ from a base circuit in a single gate.

A search tries thousands of changes of one gate. The *base* is simulated once and all its values are
kept. A candidate is then evaluated from its changed gate on, in the order of the gates and step by
step, and only where a value differs from the base's. This is concurrent fault simulation (Ulrich
and Baker 1974, "Concurrent simulation of nearly identical digital networks"). If much differs, all
gates are evaluated, which is then faster.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from difflogic.engine.hard.bases import TIDY_AFTER, SimulatedBase, new_job, undecided
from difflogic.engine.hard.hard_simulator import HardSimulator
from difflogic.engine.kernels import candidates as k
from difflogic.system.array_types import Bits
from difflogic.system.work import may_cancel

AT_ONCE = 64
"""Changes that a walk tries between two reports of progress."""

COUNTS = [k.TRIED, k.IMPROVEMENTS, k.WRONG]

MANY = 2**62
"""More improvements than any search makes."""


@dataclass
class Acceptance:
    """Keeps changes that do no harm; knows how far a search has come, and when it ends.

    A change that leaves fewer wrong bits is kept. A change that leaves as many is kept if at most
    `most_gates` gates are then active and a random number in [0, 1) is below `sideways`.
    """

    rng: np.random.Generator
    most_tried: int
    wrong: int = 0
    """Wrong bits of the current circuit."""
    most_gates: float = math.inf
    sideways: float = 1.0
    improvements: float = math.inf
    """Improvements left until a list of changes ends."""
    tried: int = 0

    @property
    def is_over(self) -> bool:
        """Whether no bit is wrong, or no tries are left."""
        return not self.wrong or self.tried >= self.most_tried

    @property
    def goes_on(self) -> bool:
        """Whether a list of changes goes on."""
        return self.improvements > 0 and not self.is_over

    def decide(self, wrong: int, gates: int) -> bool:
        """Count a change that leaves these wrong bits and gates; return whether it is kept."""
        with self.deciding(1) as decisions:
            return bool(k.accept(decisions, wrong, gates))

    @contextmanager
    def deciding(self, most: int) -> Iterator[k.Decisions]:
        """Yield the rule for kernels, which decide about up to `most` changes; then follow them."""
        before, fields = self.rng.bit_generator.state, np.zeros(k.WALK_FIELDS, np.int64)
        fields[COUNTS] = self.tried, min(self.improvements, MANY), self.wrong
        fields[k.MOST_TRIED] = self.most_tried
        chances = np.array([self.most_gates, self.sideways])
        yield k.Decisions(fields, chances, self.rng.random(most))
        self.follow(fields)
        # As if each number had been drawn only when needed.
        self.rng.bit_generator.state = before
        self.rng.random(fields[k.DRAWN])

    def follow(self, fields: npt.NDArray[np.int64]) -> None:
        """Go on as far as a walk with these `fields` has come."""
        self.tried, self.improvements, self.wrong = fields[COUNTS].tolist()


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
        ops: Bits,
        rule: Acceptance,
        on_progress: Callable[[], None],
    ) -> tuple[npt.NDArray[np.int64], int, bool]:
        """Try these changes until the rule ends it; return the indices of those that are kept.

        The base takes over the kept changes. At least one change is tried, if there is any.
        `on_progress` is called now and then. Also returns how many were passed, and whether the
        next change's values fit.
        """
        job, fits = new_job(parameters, ops, k.WALKS), True
        with rule.deciding(len(ops)) as decisions:
            fields = decisions.walk
            while fits and fields[k.PLACE] < len(ops) and (rule.goes_on or not fields[k.PLACE]):
                may_cancel()
                on_progress()
                fields[k.END] = min(len(ops), fields[k.PLACE] + AT_ONCE)
                fits = self.judge(job, decisions)
                rule.follow(fields)
                fits = fits or self.find_room()
        return job.kept[: fields[k.KEPT]], int(fields[k.PLACE]), fits

    def find(self, parameters: npt.NDArray[Any], ops: npt.NDArray[Any]) -> Found | None:
        """Return the first change that leaves no wrong bit; None if its values do not fit."""
        changes = parameters.astype(np.int32), ops.astype(np.uint8)
        job, decisions = new_job(*changes, k.FINDS, stop=0), undecided(len(ops))
        fields = decisions.walk
        may_cancel()
        while not self.judge(job, decisions):
            if not self.find_room():
                return None
        tried, hit = int(fields[k.TRIED]), int(fields[k.HIT])
        return Found(tried) if hit == k.NO_HIT else Found(tried, hit, int(job.results[hit, 1]))


def load_kernels(simulator: HardSimulator, ops: Bits) -> None:
    """Compile or load the kernels that judge, which are the same for every size."""
    nothing = np.zeros((simulator.batch, 1, simulator.grid.height, simulator.grid.width), np.uint8)
    script = simulator.script(1, at=(1,), targets=nothing, channels=(0,))
    starts = simulator.pack_states(np.repeat(nothing, simulator.netlist.channels, axis=1))
    candidates = Candidates(simulator, starts, script)
    if candidates.load(ops):
        candidates.change(np.zeros(TIDY_AFTER, np.int32), np.full(TIDY_AFTER, ops[0]))
