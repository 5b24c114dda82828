"""The machine and the libraries that a result depends on: versions, processors."""

from __future__ import annotations

import os
import platform
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from difflogic.system.environment import environment_of
from difflogic.system.errors import ConfigError
from difflogic.system.memory import control_groups
from difflogic.system.quantities import format_ranges, parse_ranges
from difflogic.version import __version__

_NODES = Path("/sys/devices/system/node")
"""Where Linux describes the nodes: processors, each with memory that is near to them (NUMA)."""


def versions() -> dict[str, str]:
    """Return the versions of Python, dct and the libraries that compute."""
    libraries = {name: metadata.version(name) for name in ("numpy", "numba", "joblib")}
    return {"python": platform.python_version(), **libraries, "dct": __version__}


def cpu_name() -> str:
    """Return the processor's name, or its architecture if the name is unknown."""
    with suppress(OSError):
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        if found := re.search(r"^model name\s*: *(\S.*)", text, re.MULTILINE):
            return found[1].strip()
    return platform.processor() or platform.machine() or "unknown"


def cpu() -> dict[str, str | int]:
    """Return the processor's name, and how many workers this process may run."""
    return {"name": cpu_name(), "count": cpu_count()}


@dataclass(frozen=True)
class MemoryNode:
    """Processors that this process may run on, and the memory that is near to all of them."""

    number: int
    processors: str
    """Their numbers, such as 0-15,32-47."""
    count: int
    memory: int | None
    """Bytes; None if unknown."""

    @property
    def prefix(self) -> str:
        """The command before another one that keeps it on this node."""
        if shutil.which("numactl"):
            return f"numactl --cpunodebind={self.number} --membind={self.number}"
        return f"taskset --cpu-list {self.processors}"


def nodes() -> list[MemoryNode]:
    """Return the nodes on which this process may run; an empty list if they are unknown."""
    found = []
    for folder in list(_NODES.glob("node[0-9]*"))[:_MOST_NODES]:
        try:
            own = os.sched_getaffinity(0) & {*parse_ranges(_start_of(folder / "cpulist"))}
            number = int(folder.name.removeprefix("node"))
        except (OSError, ValueError, AttributeError, ConfigError):
            continue
        memory = None
        with suppress(OSError):
            total = re.search(r"MemTotal: +([0-9]{1,15}) kB", _start_of(folder / "meminfo"))
            memory = int(total[1]) * 1024 if total else None
        if own:
            found.append(MemoryNode(number, format_ranges(sorted(own)), len(own), memory))
    return sorted(found, key=lambda node: node.number)


_MOST_NODES = 1024
_LONGEST = 2**16
"""Bounds of what is read: folders, and bytes of a file."""


def _start_of(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_LONGEST).decode("ascii", "replace").strip()


def cpu_count() -> int:
    """Return how many workers may run at once, by the processors and the container's quota."""
    # Imported here because it takes long, and most commands do not need it.
    with environment_of("joblib", "JOBLIB_", "LOKY_"):
        import joblib

        available = int(joblib.cpu_count())
    quota = cpu_quota()
    # Rounded down, unlike in joblib: workers wait for each other, so a worker that is suspended
    # because the quota is used up stops them all.
    return min(available, max(1, int(quota or 2**16)))


def cpu_quota() -> float | None:
    """Return the processor time that control groups grant, in processors; None without a limit."""
    shares = [share for folder in control_groups() if (share := _share(folder)) is not None]
    return min(shares, default=None)


def _share(group: Path) -> float | None:
    """Return the processor time that one group grants, in processors; None without a limit."""
    try:
        quota, period = (group / "cpu.max").read_text(encoding="utf-8").split()
        share = int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):  # no file, or "max"
        return None
    return share if share > 0 else None
