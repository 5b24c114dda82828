"""How many processes a command starts: as many as it was asked for, and none is left."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
MOST = 16
SECONDS = 120
HELPERS = 2
"""Trackers of joblib and of Python, beside the workers of a sweep."""

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="counts by /proc")

TRAIN = ["train", "checkerboard", "--epochs=2", "--dir=run", "--quiet"]
SWEEP = ["sweep", "checkerboard", "--epochs=2", "--seeds=0-1", "--dir=sweep", "--quiet"]


def processes(session: int) -> list[int]:
    """Return the living processes of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == session and fields[0] != "Z":
                    found.append(int(entry.name))
    return found


@pytest.mark.parametrize(
    ("words", "least", "most"),
    [
        ([*TRAIN, "--workers=2", "--ranks=1"], 1, 1),
        (["bench", "--repeat=1", "--ranks=1"], 1, 1),
        (["plan", "checkerboard", "--ranks=3"], 1, 1),
        ([*SWEEP, "--workers=1"], 1, 1 + HELPERS),
        ([*SWEEP, "--workers=2"], 3, 3 + HELPERS),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_as_many_as_asked_for_and_none_is_left(
    words: list[str], least: int, most: int, tmp_path: Path, tiny: list[str]
) -> None:
    command = subprocess.Popen(
        [sys.executable, "-P", "-m", "cli", *words, *(f"--set={each}" for each in tiny)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    found, before, until = 0, set(), time.monotonic() + SECONDS
    try:
        while command.poll() is None and found <= MOST and time.monotonic() < until:
            now = set(processes(command.pid))
            # A process is the copy of another until it runs its own program.
            found, before = max(found, len(now & before)), now
            time.sleep(0.05)
        ended = command.poll()
        while processes(command.pid) and ended is not None and time.monotonic() < until:
            time.sleep(0.05)
        left = processes(command.pid)
    finally:
        for _ in range(100):
            for process in (here := processes(command.pid)):
                with suppress(ProcessLookupError):
                    os.kill(process, 9)
            if not here:
                break
        command.wait()
    assert (ended, left) == (0, [])
    assert least <= found <= most
