"""Yosys and nextpnr from the wheels of YoWASP, as programs that see one private directory."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import resources
from pathlib import Path

from difflogic.system.deadline import Deadline
from difflogic.system.errors import ConfigError, DctError

POLL = 0.2
"""Seconds between two looks at a tool that runs."""

TAIL = 400
"""Characters of a log that an error shows."""


class ToolError(DctError):
    """A tool that failed, or took too long. `log` is what it said."""

    def __init__(self, message: str, log: str) -> None:
        super().__init__(message)
        self.log = log


def require_tools(*names: str) -> None:
    """Raise ConfigError, with what installs it, if a tool such as nextpnr-ice40 is missing."""
    missing = [
        f"yowasp-{name}" for name in names if importlib.util.find_spec(_module(name)) is None
    ]
    if missing:
        raise ConfigError(
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed: "
            f"pip install {' '.join(missing)}"
        )


def tool_file(name: str, path: str) -> str:
    """Return a text that comes with a tool, such as its models of a device's cells."""
    return (resources.files(_module(name)) / "share" / path).read_text(encoding="utf-8")


def run_tool(
    name: str,
    arguments: Sequence[str],
    folder: Path,
    deadline: Deadline,
    pause: Callable[[], object] = lambda: None,
) -> str:
    """Run a tool in `folder`, which it sees as /design and besides which it sees nothing.

    Returns what it printed. `pause` is called again and again, and may raise to stop it. Raises
    ToolError if it fails, or if the deadline passes.
    """
    module = _module(name)
    program = f"import {module} as tool; tool._run_{name.replace('-', '_')}_argv()"
    # -P and the folder keep Python from importing what lies in the working directory.
    return run_program(
        [sys.executable, "-P", "-c", program, *arguments], folder, deadline, pause, name
    )


def run_program(
    command: Sequence[str],
    folder: Path,
    deadline: Deadline,
    pause: Callable[[], object] = lambda: None,
    name: str | None = None,
) -> str:
    """Run any program in `folder`, as `run_tool` does; `name` is what messages call it."""
    name = name or command[0]
    # WebAssembly opens only what is mounted.
    environment = os.environ | {"YOWASP_MOUNT": "/design=.", "TMPDIR": str(folder)}
    log = folder / f"{name}.log"
    with (
        log.open("ab") as out,
        subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            # Ctrl-C is for dct, which ends the tool.
            start_new_session=True,
        ) as process,
    ):
        before = log.stat().st_size
        try:
            while process.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(POLL)
                pause()
                if deadline.passed:
                    raise ToolError(
                        f"{name} did not finish in the time: allow more by --timeout, or choose a "
                        "smaller --size",
                        _read(log)[before:],
                    )
        finally:
            if process.poll() is None:
                _kill(process)
    said = _read(log)[before:]
    if process.returncode:
        raise ToolError(f"{name} failed: {said.strip()[-TAIL:]}", said)
    return said


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and what it has started, which shares its session."""
    if os.name == "posix":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _module(name: str) -> str:
    return f"yowasp_{name.replace('-', '_')}"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
