"""A fast custom task: cells take the state of a neighbour."""

SOURCE = '''
from pathlib import Path

import numpy as np
from pydantic import Field

from difflogic import Task

Path(__file__).with_name("ran").write_text("the code ran")


class Shift(Task):
    """Boards that move to the right."""

    class Section(Task.Section):
        by: int = Field(default=1, ge=0, le=3, description="cells to move by")

    def sample(self, rng):
        board = rng.integers(0, 2, (self.channels, self.height, self.width), dtype=np.uint8)
        return board, np.roll(board, self.section.by, axis=2)[:1].astype(float)
'''

CONFIG = """
name = "shift"

[task]
kind = "shift.py:Shift"
height = 4
width = 5

[automaton]
channels = 1
boundary = "periodic"
steps = 1

[perception]
kernels = 2
gates = [8, 4, 2, 1]

[update]
gates = [2, 1]

[training]
epochs = 4
batch = 2
learning_rate = 0.05

[parallel]
workers = 1
"""


def write(directory, source=SOURCE, config=CONFIG):
    """Write the class and its configuration; return the configuration's path."""
    (directory / "shift.py").write_text(source)
    path = directory / "shift.toml"
    path.write_text(config)
    return path


def has_run(directory):
    """Whether the code ran in this directory since the last call."""
    trace = directory / "ran"
    found = trace.exists()
    trace.unlink(missing_ok=True)
    return found
