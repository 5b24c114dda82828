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
@pytest.mark.parametrize("text", ["cpu_name: generic\nopt: 0\n", "a: [", "\0"])
@pytest.mark.parametrize(
    "module", ["difflogic.system.jit", "difflogic.engine.kernels.llvm.vectors"]
)
def test_a_file_of_settings_changes_nothing(tmp_path: Path, text: str, module: str) -> None:
    (tmp_path / ".numba_config.yaml").write_text(text)
    program = PROGRAM.format(module=module)
    command = [sys.executable, "-P", "-c", program]
    for place in (ROOT, tmp_path):  # without the file, and with it
        done = subprocess.run(
            command, cwd=place, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        assert done.stdout == "None 3 False\n"
