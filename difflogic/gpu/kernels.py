"""The shader's text for runs of one shape: constants, then kernels.wgsl."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

from difflogic.circuit.gates import DECIDED
from difflogic.gpu.tables import LANES, Shape

KERNELS = ("learn", "mix", "forward", "loss", "backward", "reduce", "share")
"""Entry points, in the order in which a step runs them."""

THREADS = 64
"""Threads of a workgroup: a power of two, for the loss's sum."""


def source() -> str:
    """Return kernels.wgsl."""
    return Path(__file__).with_name("kernels.wgsl").read_text(encoding="utf-8")


def constants(shape: Shape, runs: int) -> dict[str, int]:
    """Return the constants of a shader for `runs` runs of one shape."""
    found = {
        "CHANNELS": shape.channels,
        "LANES": shape.lanes,
        "TILES": shape.tiles,
        "TILE": LANES,
        "GRID_CELLS": shape.grid.cells,
        "ROWS": shape.rows,
        "GATES": shape.gates,
        "PARAMETERS": shape.parameters,
        "NUMBERS": shape.numbers,
        "THREADS": THREADS,
        "RUNS_AT_MOST": runs,
    }
    sizes = {
        "NET": shape.net,
        "JOB": shape.job,
        "LEARNED": shape.learned,
        "STATE": shape.state,
        "SUMS": shape.sums,
        "REPORT": shape.report,
    }
    for name, parts in sizes.items():
        found |= offsets(parts)
        found[f"{name}_SIZE"] = sum(parts.values())
    return found


def offsets(parts: dict[str, int]) -> dict[str, int]:
    """Return where each part begins; they follow each other."""
    return dict(zip(parts, accumulate([0, *parts.values()]), strict=False))


def shader(shape: Shape, runs: int) -> str:
    """Return the whole text."""
    head = [f"const {name} = {value}u;" for name, value in constants(shape, runs).items()]
    return "\n".join([*head, f"const DECIDED = {DECIDED};", source()])
