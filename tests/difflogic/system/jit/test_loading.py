"""A process that finds its kernels on the disk gets nothing else ready for compiling."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from difflogic.system.jit import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="nothing is compiled")

KERNELS = """
import sys
import numpy as np
from difflogic.system.jit.decorator import make_kernel

def squares(count):
    found = np.empty(count)
    for index in range(count):
        found[index] = index * index
    return found

def total(count):
    return squares(count).sum()

squares = make_kernel(squares, lambda: "first")
values = squares(4).tolist()
ready = "numba.np.linalg" in sys.modules
total = make_kernel(total, lambda: "{stamp}")
print(sum(squares.stats.cache_hits.values()), ready, values, total(4), sep="; ")
"""


def run(folder: Path, stamp: str) -> str:
    """Return what a process of its own prints."""
    script = folder / "kernels.py"
    script.write_text(KERNELS.format(stamp=stamp))
    root = Path(__file__).parents[4]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, str(script)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return done.stdout.strip()


@pytest.mark.thorough
def test_what_is_loaded_runs_and_may_be_called_by_what_is_compiled(tmp_path: Path) -> None:
    assert run(tmp_path, "one") == "0; True; [0.0, 1.0, 4.0, 9.0]; 14.0"
    assert run(tmp_path, "another") == "1; False; [0.0, 1.0, 4.0, 9.0]; 14.0"
