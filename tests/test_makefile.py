"""The Makefile finds an interpreter that runs, and its demo ends with a proof."""

import os
import re
import shutil
import sys

import pytest

from tests.cli.processes import run_dct, run_python
from tests.marks import needs
from tests.paths import ROOT

WORDS = "import subprocess; subprocess.run(['make', '-s', 'python'], check=True)"


@needs("make")
def test_any_later_python_is_found(tmp_path):
    for name in ("make", "sh", "ls", "grep", "sort"):
        (tmp_path / name).symlink_to(shutil.which(name))
    (tmp_path / "python3.99").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python3.27").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    for path in tmp_path.glob("python*"):
        path.chmod(0o755)
    # Without MAKEFLAGS, in which `make test PYTHON=…` hands its choice on.
    variables = {"PATH": os.fspath(tmp_path), "VENV": "none", "MAKEFLAGS": ""}
    done = run_python("-c", WORDS, variables=variables)
    assert done.stdout == f"{tmp_path}/python3.27\n", done.stderr


@pytest.mark.once
def test_the_demo_ends_with_a_proof(tmp_path):
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (words,) = re.findall(r"^demo: .*\n\t\$\(BIN\)/dct (.*)$", makefile, re.M)
    done = run_dct(*words.split(), cwd=tmp_path, good=True)
    assert "\nproved: " in done.stdout
