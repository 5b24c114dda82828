"""Yosys and nextpnr from YoWASP's wheels, run in a private directory that is all they see."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from difflogic.system.deadline import Deadline
from difflogic.system.errors import ConfigError, DctError
from difflogic.system.programs import supervise
from difflogic.system.work import checking

TAIL = 400
"""Characters of the log that an error shows."""


class ToolError(DctError):
    """A tool failed or took too long."""

    def __init__(self, message: str, log: str) -> None:
        super().__init__(message)
        self.log = log


def require_tools(*names: str) -> None:
    """Raise ConfigError, which says how to install them, if tools such as yosys are missing."""
    missing = [
        f"yowasp-{name}" for name in names if importlib.util.find_spec(_module(name)) is None
    ]
    if missing:
        raise ConfigError(
            f"not installed: {', '.join(missing)}; install by pip install {' '.join(missing)}"
        )


def tool_file(name: str, path: str) -> str:
    """Return a text file that comes with a tool, such as models of a device's cells."""
    return (resources.files(_module(name)) / "share" / path).read_text(encoding="utf-8")


def run_tool(name: str, arguments: Sequence[str], folder: Path, deadline: Deadline) -> str:
    """Run a tool in `folder`, which it sees as /design, and nothing else; return its output.

    Raises ToolError if the tool fails or the deadline passes.
    """
    module = _module(name)
    program = f"import {module} as tool; tool._run_{name.replace('-', '_')}_argv()"
    # -P and the folder keep Python from importing files of the working directory.
    return run_program([sys.executable, "-P", "-c", program, *arguments], folder, deadline, name)


def run_program(
    command: Sequence[str], folder: Path, deadline: Deadline, name: str | None = None
) -> str:
    """Run any program in `folder`, as `run_tool` does. `name` is its name in messages."""
    name = name or command[0]
    # The tools are WebAssembly and can open only what is mounted.
    environment = os.environ | {"YOWASP_MOUNT": "/design=.", "TMPDIR": str(folder)}
    log = folder / f"{name}.log"

    def check() -> None:
        if deadline.passed:
            raise ToolError(
                f"{name} did not finish in time: allow more by --timeout, or choose a smaller "
                "--size",
                _read(log)[before:],
            )

    with log.open("ab") as out, checking(check):
        before = log.stat().st_size
        status = supervise(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    output = _read(log)[before:]
    if status:
        raise ToolError(f"{name} failed: {output.strip()[-TAIL:]}", output)
    return output


def _module(name: str) -> str:
    return f"yowasp_{name.replace('-', '_')}"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
