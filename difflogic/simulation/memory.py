"""How much memory a simulation takes, and refusing one that cannot fit."""

from __future__ import annotations

from difflogic.simulation.bit_grid import Geometry
from difflogic.system import machine
from difflogic.system.errors import ConfigError

MARGIN = 2**26
"""Bytes for everything but the two grids: the interpreter's bands and the workers' rows."""


def needed_memory(geometry: Geometry) -> int:
    """Return the bytes of a simulator's two grids."""
    return 2 * geometry.bytes


def require_memory(geometry: Geometry) -> None:
    """Raise ConfigError if the grids do not fit into the memory that is available."""
    needed, available = needed_memory(geometry) + MARGIN, machine.available_memory()
    if available is None or needed <= available:
        return
    raise ConfigError(
        f"{geometry.height}×{geometry.width} cells of {geometry.channels} "
        f"channel{'' if geometry.channels == 1 else 's'} need {gigabytes(needed)}, and "
        f"{gigabytes(available)} are available: choose a smaller grid, or simplify the circuit, "
        "which drops channels"
    )


def gigabytes(size: int) -> str:
    """Format bytes in billions."""
    return f"{size / 1e9:,.1f} GB"
