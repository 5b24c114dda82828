"""A test that hangs ends: its stacks are printed, and the processes that it started end with it."""

import pytest

from tests.cli.processes import run_python

SHORT = """
from tests import conftest
from tests.conftest import *

conftest.SECONDS = 0.5
"""
HANGING = """
import subprocess, sys

def test_that_hangs():
    subprocess.run([sys.executable, "-c", "import time; time.sleep(600)"])
"""


@pytest.mark.once
def test_a_test_that_hangs_ends_with_what_it_started(tmp_path):
    (tmp_path / "conftest.py").write_text(SHORT)
    (tmp_path / "test_it.py").write_text(HANGING)
    words = ["-m", "pytest", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", str(tmp_path)]
    done = run_python(*words, timeout=60)  # until nobody holds its outputs, as the child does
    assert done.returncode == 1, done.stdout
    assert "test_it.py::test_that_hangs has not ended after 0 s" in done.stderr
    assert "in test_that_hangs" in done.stderr
