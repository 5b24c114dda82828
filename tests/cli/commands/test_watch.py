"""`dct watch`: its link, how it ends, what it refuses; the page itself is tried elsewhere."""

import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.thorough
def test_it_serves_a_run_until_ctrl_c(run):
    process = subprocess.Popen(
        [sys.executable, "-m", "cli", "watch", str(run)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    try:
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        with urllib.request.urlopen(link, timeout=60) as answer:
            assert b"A run as it trains" in answer.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    finally:
        process.kill()
        process.communicate()


def test_what_is_refused(dct):
    Path("empty").mkdir()
    for source in ("nowhere", "empty", "last"):
        result = dct("watch", source)
        assert result.exit_code == 2, source
        assert source in result.stderr or "runs" in result.stderr
