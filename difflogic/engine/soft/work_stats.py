"""What each worker did: counts of tasks, steals and waits."""

from __future__ import annotations

from dataclasses import astuple, dataclass

from difflogic.engine.kernels import teams as t
from difflogic.system.array_types import Int64s


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
    def of(cls, cursor: Int64s) -> WorkStats:
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
