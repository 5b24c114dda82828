"""The experiment that the stamp exists for: edit a kernel that another file's kernel calls."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from difflogic.system.jit import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="nothing is compiled")

CALLER = """
from callee import answer
{decorator}
def ask():
    return answer() + 1
"""
CALLEE = """
{decorator}
def answer():
    return {value}
"""
STAMPED = """
from pathlib import Path
from difflogic.system.jit.decorator import make_kernel
from difflogic.system.jit.sources import stamp_of
def kernel(function):
    return make_kernel(function, lambda: stamp_of([Path(__file__).parent]))
"""
DECORATED = "from decorator import kernel\n@kernel"


def ask(folder: Path) -> int:
    """What a process of its own computes."""
    script = "import sys; sys.path.insert(0, sys.argv[1])\nfrom caller import ask\nprint(ask())"
    root = Path(__file__).parents[4]
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": str(root),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return int(done.stdout)


@pytest.mark.thorough
def test_an_edited_callee_in_another_file_counts(tmp_path: Path) -> None:
    (tmp_path / "decorator.py").write_text(STAMPED)
    (tmp_path / "caller.py").write_text(CALLER.format(decorator=DECORATED))
    for value in (41, 1041):
        (tmp_path / "callee.py").write_text(CALLEE.format(decorator=DECORATED, value=value))
        assert ask(tmp_path) == value + 1
