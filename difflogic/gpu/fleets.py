"""Which runs share buffers and dispatches: those of one shape, as many as were announced."""

from __future__ import annotations

import threading

from difflogic.gpu.adapter import Adapter
from difflogic.gpu.fleet import Fleet
from difflogic.gpu.tables import Shape


class Fleets:
    """Fleets by shape, for runs side by side in threads of this process."""

    def __init__(self, runs: int) -> None:
        """At most `runs` of each shape are at work at a time."""
        self.runs = runs
        self._fleets: dict[Shape, Fleet] = {}
        self._lock = threading.Lock()

    def of(self, adapter: Adapter, shape: Shape) -> Fleet:
        """Return the fleet of a shape. Raises ConfigError if its runs do not fit."""
        with self._lock:
            if shape not in self._fleets:
                self._fleets[shape] = Fleet(adapter, shape, self.runs)
            return self._fleets[shape]


class _Alone(Fleets):
    def of(self, adapter: Adapter, shape: Shape) -> Fleet:
        return Fleet(adapter, shape, 1)


ALONE = _Alone(1)
"""For a run that shares nothing."""
