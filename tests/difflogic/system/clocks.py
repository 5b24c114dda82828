"""A clock for tests of time limits, independent of the machine's speed."""

from dataclasses import dataclass, field

from difflogic.system.deadline import Deadline


@dataclass(frozen=True)
class Clock(Deadline):
    """Passes after a number of looks at it."""

    at: float = 0.0
    most: float = float("inf")
    """Number of looks until it has passed."""
    seen: dict[str, int] = field(default_factory=lambda: {"looks": 0})

    @property
    def passed(self) -> bool:
        self.seen["looks"] += 1
        return self.seen["looks"] > self.most

    @property
    def looks(self) -> int:
        return self.seen["looks"]
