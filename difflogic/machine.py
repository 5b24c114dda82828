"""What a result depends on besides its configuration: versions and the processor."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

from difflogic import __version__


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


def physical_memory() -> int | None:
    """Return the bytes of this machine's memory; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def cpu_count() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
