"""The memory that this process can have: the machine's, and the limits on it."""

from __future__ import annotations

import sys
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
"""Where Linux describes the limits of a container."""


def peak_memory() -> int | None:
    """Return the largest resident memory of this process so far, in bytes; None on Windows."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else largest * 1024


def address_space() -> tuple[int, int] | None:
    """Return the bytes of address space that this process uses, and its limit (ulimit -v).

    None if there is no limit, or it is unknown.
    """
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0])
    except (ImportError, AttributeError, OSError, ValueError, IndexError):
        return None
    return pages * resource.getpagesize(), limit


def available_memory() -> int | None:
    """Return the bytes that this process can have without swapping; None if unknown.

    This is the least that the system and the control groups have left.
    """
    limits = [left for folder in control_groups() if (left := _left(folder)) is not None]
    try:
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
        found = dict(line.split(":", 1) for line in lines)
        limits.append(int(found["MemAvailable"].split()[0]) * 1024)
    except (OSError, KeyError, ValueError):  # not Linux
        pass
    return min(limits, default=None)


_FILES = ("max", "current", "stat")


def _left(group: Path) -> int | None:
    """Return the bytes that a control group has left; None without a limit."""
    try:
        texts = [(group / f"memory.{name}").read_text(encoding="utf-8") for name in _FILES]
        limit = int(texts[0])
        used = int(texts[1])
        kept = dict(line.split() for line in texts[2].splitlines())
        # Cached files are dropped from memory when it is needed.
        used -= int(kept.get("inactive_file", 0))
    except (OSError, ValueError):  # no file, or "max"
        return None
    return max(0, limit - used)


def control_groups() -> list[Path]:
    """Return the control groups that may limit this process, from its own to the outermost."""
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    # The line is 0::/path. A container sees its own group as the outermost.
    own = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), "")
    places = [_CGROUP / own, *(_CGROUP / own).parents]
    return [place for place in places if place.is_relative_to(_CGROUP)]
