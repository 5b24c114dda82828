"""Sweeps whose runs take no time."""

from pathlib import Path
from typing import Any

from difflogic.sweeps.backends import Backend, LocalBackend
from difflogic.sweeps.directory import SweepDirectory
from difflogic.sweeps.execution import Execution
from difflogic.sweeps.sweep_plan import Request, SweepPlan, make_plan
from difflogic.sweeps.sweep_results import Row
from difflogic.verification.case import UNEVEN

TINY = (
    *UNEVEN,
    "training.epochs=20",
    "finishing.every=100",
    "finishing.from_epoch=200",
    "training.restart_every=700",
)


def small_plan(*grid: str, seeds: tuple[int, ...] = (0, 1), overrides: tuple[str, ...] = ()) -> Any:
    """A checkerboard of 6×7 cells."""
    axes = tuple(f"{axis.partition('=')[0]}=" for axis in grid)
    fixed = [each for each in (*TINY, *overrides) if not each.startswith(axes)]
    return make_plan(Request("checkerboard-small", tuple(fixed), grid), seeds)


def at_work(path: Path, plan: SweepPlan, backend: Backend) -> Execution:
    """Return an execution of a sweep in a directory, which may be new."""
    directory = SweepDirectory(path)
    SweepDirectory.at(path)
    return Execution(directory, plan, backend)


def execute_all(path: Path, plan: SweepPlan, jobs: int = 1) -> list[Row]:
    """Do what is missing of a sweep, and return all rows."""
    with at_work(path, plan, LocalBackend(jobs)) as execution:
        list(execution.work(tick=0.05))
        return execution.rows


def timeless(rows: list[Row]) -> list[dict[str, Any]]:
    """The rows without what depends on the clock."""
    return [{k: v for k, v in vars(row).items() if "seconds" not in k} for row in rows]
