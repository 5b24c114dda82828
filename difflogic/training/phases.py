"""Where the time of a training run goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

WAITING = "waiting"
"""What workers waited for each other. As of the phases that they share, it is their mean."""

SHARED = ("forward", "loss", "backward")
"""Phases that workers share, in seconds that they are busy, as a mean; one thread does others."""

PHASES = (
    "sample",
    "forward",
    "loss",
    "backward",
    WAITING,
    "reduce",
    "optimizer",
    "hard",
    "finish",
    "checkpoint",
    "other",
)
"""In the order of a training step; "other" is what the caller does between steps, and starting
over with another wiring."""


class PhaseTimer:
    """Adds up seconds by phase, which together are the wall clock's; compilation is kept apart."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self.compile_seconds = 0.0
        self.listener: Callable[[str, float, float], None] | None = None
        """Hears the phase, the beginning and the end of each block that is timed."""

    def add(self, seconds: Mapping[str, float]) -> None:
        """Count seconds that were measured elsewhere, by phase."""
        for phase, spent in seconds.items():
            self.seconds[phase] += spent

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Time a block as `phase`, one of PHASES."""
        start = time.perf_counter()
        try:
            yield
        finally:
            end = time.perf_counter()
            self.seconds[phase] += end - start
            if self.listener is not None:
                self.listener(phase, start, end)
