"""Training runs that take no time."""

from difflogic.config import load_config

TINY = (
    "task.height=6", "task.width=7", "automaton.channels=2", "automaton.steps=3",
    "perception.kernels=2", "update.gates=[8,4,2]", "parallel.workers=1", "evaluation.starts=5",
)  # fmt: skip


def tiny(*overrides):
    """A checkerboard of 6×7 cells, 2 channels and 42 parameters."""
    return load_config("checkerboard-small", [*TINY, *overrides], recipe="reference")


PLUS = "..#..\n..#..\n#####\n..#..\n..#.."
GROWING = (
    f'task.target="""\n{PLUS}"""', "task.height=5", "task.width=5", "automaton.channels=4",
    "automaton.steps=3", "perception.kernels=4", "update.gates=[32,16,8,4]",
    "training.learning_rate=0.1", "training.epochs=60", "parallel.workers=1",
    "finishing.every=10", "finishing.candidates=4000", "finishing.stop=true",
)  # fmt: skip


def growing(*overrides):
    """A plus of 5×5 cells from one cell, 116 parameters; a search finds it on some seeds.

    With seeds 0 and 5 it does at epoch 50; with 8000 candidates and seed 8 at epoch 10.
    """
    return load_config("lizard", [*GROWING, *overrides], recipe="reference")


def stop_after(epochs):
    """Return what asks a run to stop after so many epochs of its own."""
    asked = iter(range(epochs + 1))
    return lambda: next(asked) == epochs
