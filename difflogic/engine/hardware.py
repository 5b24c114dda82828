"""What work is planned for: a machine's cores and memory."""

from __future__ import annotations

from dataclasses import dataclass

from difflogic.system import machine, memory


@dataclass(frozen=True)
class Hardware:
    """The properties of a machine that a plan depends on. Sizes are in bytes."""

    cores: int
    """Workers that can run at once."""
    memory: int | None = None
    """Memory that is available without swapping; None if unknown."""

    @classmethod
    def here(cls) -> Hardware:
        """Return this machine within the limits of this process."""
        return cls(cores=machine.cpu_count(), memory=memory.available_memory())
