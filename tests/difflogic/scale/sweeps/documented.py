"""The commands of docs/sweeps.md, started as they stand there, but for addresses and ports."""

import os
import re
import shlex
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[4]
PAGE = (ROOT / "docs" / "sweeps.md").read_text(encoding="utf-8")


def blocks():
    """The page's blocks of commands, in its order."""
    return re.findall(r"```\n(.*?)```", PAGE, flags=re.S)


def block_with(text):
    (found,) = [block for block in blocks() if text in block]
    return found.splitlines()


def environment_of(lines):
    """What the block's `export` lines set."""
    words = [word for line in lines if line.startswith("export ") for word in line.split()[1:]]
    return dict(word.split("=", 1) for word in words)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


class Documented:
    """A scheduler and workers of a block, and what its `dct sweep` is told."""

    def __init__(self, lines, folder):
        self.folder, self.processes = folder, []
        port = free_port()
        places = {"8786": port, "ADDRESS": "127.0.0.1", "SCHEDULER": "127.0.0.1"}
        self.lines = [
            re.sub(r"8786|ADDRESS|SCHEDULER(?!_)", lambda found: places[found[0]], line)
            if line.startswith(("dask", "dct"))
            else line
            for line in lines
        ]
        own = environment_of(self.lines)
        self.environment = os.environ | {"PYTHONPATH": str(ROOT)} | own

    def start(self, command):
        (line,) = [line for line in self.lines if line.startswith(command)]
        log = (self.folder / f"log-{time.monotonic_ns()}").open("w")
        words = shlex.split(line)
        process = subprocess.Popen(
            [sys.executable, "-m", *words],
            cwd=self.folder,
            env=self.environment,
            stdout=log,
            stderr=log,
        )
        self.processes.append(process)
        return process

    @property
    def address(self):
        (line,) = [line for line in self.lines if line.startswith("dct sweep")]
        words = shlex.split(line)
        return words[words.index("--scheduler") + 1]

    def close(self):
        for process in self.processes:
            for each in [*psutil.Process(process.pid).children(recursive=True), process]:
                with suppress(psutil.NoSuchProcess):
                    each.kill()
            process.wait()


def listening(pid):
    """Addresses and ports on which a process, or one that it started, takes connections."""
    parent = psutil.Process(pid)
    found = set()
    for process in [parent, *parent.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):  # it may end while it is read
            for connection in process.net_connections("inet"):
                if connection.status == psutil.CONN_LISTEN:
                    found.add(tuple(connection.laddr))
    return found
