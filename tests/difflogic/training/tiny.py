"""Training runs that take no time."""

from difflogic.config import load_config

TINY = (
    "task.height=6", "task.width=7", "automaton.channels=2", "automaton.steps=3",
    "perception.kernels=2", "update.gates=[8,4,2]", "parallel.workers=1", "evaluation.starts=5",
)  # fmt: skip


def tiny(*overrides):
    """A checkerboard of 6×7 cells, 2 channels and 42 parameters."""
    return load_config("checkerboard-small", [*TINY, *overrides])
