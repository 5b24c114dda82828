"""Numba ignores its settings file in the working directory, and needs enough memory."""

from contextlib import nullcontext

import pytest

from difflogic.system import memory
from difflogic.system.errors import StorageError
from difflogic.system.jit.numba_settings import require_memory
from tests.cli.processes import run_python

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
def test_a_file_of_settings_changes_nothing(tmp_path, module, text):
    (tmp_path / ".numba_config.yaml").write_text(text)
    done = run_python("-P", "-c", PROGRAM.format(module=module), cwd=tmp_path)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "None 3 False\n")


def test_the_limit_on_address_space_counts_what_is_used(monkeypatch):
    """Loaded libraries, with a thread per core, have taken some already."""
    for used, enough in ((10**8, True), (10**9, False)):
        monkeypatch.setattr(memory, "address_space", lambda used=used: (used, 15 * 10**8))
        with nullcontext() if enough else pytest.raises(StorageError, match="1500 MB, is too low"):
            require_memory()
