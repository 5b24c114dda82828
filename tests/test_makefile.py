"""The Makefile finds an interpreter of any later version, and none that does not run."""

import os
import shutil
import sys

import pytest

from tests.cli.processes import run_python

WORDS = "import subprocess; subprocess.run(['make', '-s', 'python'], check=True)"


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_any_later_python_is_found(tmp_path):
    for name in ("make", "sh", "ls", "grep", "sort"):
        (tmp_path / name).symlink_to(shutil.which(name))
    (tmp_path / "python3.99").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python3.27").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    for path in tmp_path.glob("python*"):
        path.chmod(0o755)
    done = run_python("-c", WORDS, variables={"PATH": os.fspath(tmp_path), "VENV": "none"})
    assert done.stdout == f"{tmp_path}/python3.27\n", done.stderr
