"""Programs that run beside this one, and end with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from difflogic.system.work import may_cancel, undoing

POLL = 0.05
"""Seconds between looks at a running program."""


def isolated(program: str) -> list[str]:
    """Return the command that runs a Python program with the packages of this process.

    It imports nothing from the working directory, and heeds no variables of Python's.
    """
    places = [str(Path(__file__).parents[2]), *filter(os.path.isabs, sys.path)]
    return [sys.executable, "-I", "-c", f"import sys; sys.path[:] = {places!r}\n{program}"]


def supervise(command: Sequence[str], **options: Any) -> int:
    """Run a program with the options of Popen; return its exit status.

    It can be stopped, also in the end: the program is then killed.
    """
    with (
        # Ctrl-C goes to this process alone, which then ends the program.
        subprocess.Popen(command, start_new_session=True, **options) as process,
        undoing(partial(_kill, process)),
    ):
        try:
            running = True
            while running:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(POLL)
                    running = False
                may_cancel()
        finally:
            _kill(process)
    return process.returncode


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and its children, which share its session."""
    if process.poll() is not None:
        return
    if os.name == "posix":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
