"""The machine and the libraries that a result depends on: versions, processors."""

from __future__ import annotations

import platform
import re
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from difflogic.system.environment import environment_of
from difflogic.system.memory import control_groups
from difflogic.version import __version__


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
