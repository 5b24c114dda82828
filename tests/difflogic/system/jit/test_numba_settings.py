"""Settings of numba that lie in the working directory are not obeyed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
PROGRAM = """
import {module}
from numba.core import config
config.reload_config()
print(config.CPU_NAME, int(config.OPT), config._HAVE_YAML)
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("difflogic.system.jit", "cpu_name: generic\nopt: 0\n"),
        ("difflogic.engine.kernels.llvm.vectors", "a: ["),
    ],
)
def test_a_file_of_settings_changes_nothing(tmp_path: Path, module: str, text: str) -> None:
    (tmp_path / ".numba_config.yaml").write_text(text)
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM.format(module=module)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "None 3 False\n")
