"""What a result depends on besides its configuration: versions and the processor."""

from __future__ import annotations

import os
import platform
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from difflogic import __version__

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
"""Where Linux tells the caches of the first processor."""

_CGROUP = Path("/sys/fs/cgroup")
"""Where Linux tells what a container may use."""


def versions() -> dict[str, str]:
    """Return the versions of Python, of what computes, and of dct itself."""
    libraries = {name: metadata.version(name) for name in ("numpy", "numba", "joblib")}
    return {"python": platform.python_version(), **libraries, "dct": __version__}


def cpu_name() -> str:
    """Return the processor's name as the system tells it, or its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        key, _, value = line.partition(":")
        if key.strip() == "model name" and value.strip():
            return value.strip()
    return platform.processor() or platform.machine() or "unknown"


def cpu() -> dict[str, str | int]:
    """Return the processor's name, and how many this process may use."""
    return {"name": cpu_name(), "count": cpu_count()}


@cache
def cache_bytes(level: int) -> int | None:
    """Return the size of one core's data cache of a level; None where the system does not tell."""
    for folder in sorted(_CACHES.glob("index*")):
        try:
            found = [(folder / name).read_text().strip() for name in ("level", "type", "size")]
        except OSError:
            continue
        kilobytes = re.fullmatch(r"([0-9]{1,9})K", found[2])
        if found[0] == str(level) and found[1] in ("Data", "Unified") and kilobytes:
            return 1024 * int(kilobytes[1])
    return None


def physical_memory() -> int | None:
    """Return the bytes of this machine's memory; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def address_space() -> tuple[int, int] | None:
    """Return the bytes of address space that this process has, and may have (ulimit -v).

    None where there is no limit, or the system does not tell.
    """
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, AttributeError, OSError, ValueError, IndexError):
        return None
    return pages * resource.getpagesize(), limit


def memory_limit() -> int | None:
    """Return the bytes that control groups let processes have; None if there is no limit."""
    limits = []
    for group in _control_groups():
        with suppress(OSError, ValueError):  # not there, or "max"
            limits.append(int((group / "memory.max").read_text()))
    return min(limits, default=None)


def available_memory() -> int | None:
    """Return the bytes that this process can have without swapping; None if nothing tells.

    The least of what the system has left and what control groups have left for it.
    """
    limits = [left for folder in _control_groups() if (left := _left(folder)) is not None]
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        found = dict(line.split(":", 1) for line in lines)
        limits.append(int(found["MemAvailable"].split()[0]) * 1024)
    except (OSError, KeyError, ValueError):
        whole = physical_memory()
        limits += [] if whole is None else [whole]
    return min(limits, default=None)


def _left(group: Path) -> int | None:
    """Return the bytes that one control group has left: its limit, less what cannot go."""
    try:
        limit, used = (int((group / f"memory.{name}").read_text()) for name in ("max", "current"))
        kept = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        # Files that were read stay in memory until somebody needs it.
        used -= int(kept.get("inactive_file", 0))
    except (OSError, ValueError):  # not there, or "max"
        return None
    return max(0, limit - used)


@dataclass(frozen=True)
class Processors:
    """What bounds how many processors this process may use."""

    logical: int
    """Of the machine, as the system counts them."""
    affinity: int
    """That this process is allowed to run on."""
    quota: float | None
    """Processors' worth of time that its container grants; None if there is no limit."""
    physical: int
    """Cores among them: two threads of one core share its arithmetic."""
    usable: int
    """Workers that the rest leaves: at least one, and no more than whole ones of the quota."""


def processors() -> Processors:
    """Find out what this process may use: from the system, its container, and joblib's limits."""
    import joblib

    logical = os.cpu_count() or 1
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else logical
    physical = min(joblib.cpu_count(only_physical_cores=True), logical)
    return Processors(logical, affinity, cpu_quota(), physical, cpu_count())


def cpu_count() -> int:
    """Return how many workers may run at once: on the processors, within a container's quota."""
    # Imported here: it takes longer than all that most commands do before they start.
    import joblib

    quota = cpu_quota()
    # Workers wait for each other: one that is stopped for having used up its time stops all. So a
    # part of a processor is none, where joblib rounds up.
    return min(joblib.cpu_count(), max(1, int(quota or 2**16)))


def cpu_quota() -> float | None:
    """Return the processors' worth of time that control groups grant; None if there is no limit."""
    if not _CGROUP.is_dir():
        return None
    shares = [share for folder in _control_groups() if (share := _share(folder)) is not None]
    return min(shares, default=None)


def _control_groups() -> list[Path]:
    """Return the groups that may limit this process: the outermost, and those down to its own."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        lines = []
    # One line is 0::/path; a container sees its own group as the outermost.
    own = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), "")
    places = [_CGROUP / own, *(_CGROUP / own).parents]
    return [place for place in places if place.is_relative_to(_CGROUP)]


def _share(group: Path) -> float | None:
    """Return what one group grants."""
    try:
        quota, period = (group / "cpu.max").read_text().split()
        share = int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):  # not there, or "max"
        return None
    return share if share > 0 else None
