"""A command starts as many processes as asked for, and leaves none.

None of them listens beyond this machine.
"""

import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

from difflogic.verification.case import UNEVEN
from tests.cli.processes import (
    HELD,
    as_options,
    compiles,
    end_session,
    listening,
    mpiexec,
    of_session,
    with_hook,
)
from tests.marks import exhaustive
from tests.paths import GALLERY

MOST = 16
SECONDS = 300
HELPERS = 2
"""Resource trackers of joblib and of Python, besides the workers of a sweep."""

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="counts by /proc"),
]

LOOPBACK = {"127.0.0.1", "::1", "::ffff:127.0.0.1"}
SMALL = as_options(UNEVEN)
TRAIN = f"train checkerboard --epochs=2 --dir=run --quiet {SMALL}"
SWEEP = f"sweep checkerboard --epochs=2 --seeds=0-1 --dir=sweep --quiet {SMALL}"
SIMULATE = (
    f"simulate {GALLERY}/checkerboard.json --size=64x64 --steps=2 --engine=compiled --workers=3"
)


def listens_beyond(process):
    """Return the addresses beyond loopback on which a process listens."""
    return {address for address, _ in listening(process)} - LOOPBACK


def test_a_port_that_is_open_to_all_is_seen():
    with socket.create_server(("127.0.0.1", 0)):
        assert not listens_beyond(os.getpid())
        with socket.create_server(("0.0.0.0", 0)):
            assert len(listens_beyond(os.getpid())) == 1
    assert not listens_beyond(os.getpid())


@pytest.mark.once
@pytest.mark.parametrize(
    ("words", "least", "most"),
    [
        (f"{TRAIN} --workers=2", 1, 1),
        # MPI's own, and the ranks.
        (f"mpiexec {TRAIN}", 3, 3),
        (f"{SWEEP} --workers=2", 3, 3 + HELPERS),
        (SIMULATE, 1, 1),
        exhaustive(f"bench --repeat=1 {SMALL} --workers=1,2", 1, 1),
        exhaustive(f"mpiexec verify equivalence {SMALL}", 3, 3),
    ],
)
def test_as_many_as_asked_for_and_none_is_left(words, least, most, start, tmp_path):
    more = mpiexec(2) if words.startswith("mpiexec") else {}
    go = tmp_path / "go"
    hook = with_hook(tmp_path, HELD.format(epoch=1, go=str(go)))
    nowhere = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
    more["variables"] = hook | more.get("variables", {})
    command = start(words.removeprefix("mpiexec "), **more, **nowhere)
    found = 0
    compilers = 0
    before = set()
    ports = set()
    until = time.monotonic() + SECONDS
    try:
        while command.poll() is None and found <= MOST and time.monotonic() < until:
            now = set(of_session(command.pid))
            # A process is the copy of another until it runs its own program.
            old = {process: compiles(process) for process in now & before}
            found = max(found, len(old) - sum(old.values()))
            compilers = max(compilers, sum(old.values()))
            if found >= least:
                go.touch()
            before = now
            ports |= set().union(*map(listens_beyond, now))
            time.sleep(0.1)
        ended = command.poll()
        while of_session(command.pid) and ended is not None and time.monotonic() < until:
            time.sleep(0.05)
        left = of_session(command.pid)
    finally:
        end_session(command.pid)
        command.wait()
    assert (ended, left) == (0, [])
    assert least <= found <= most
    assert compilers <= 1
    assert not ports
