"""The commands of docs/sweeps.md open nothing to the network, and its TLS admits the right people.

They are started as written there, apart from addresses and ports.
"""

import ipaddress
import os
import random
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

from difflogic.sweeps.cluster import DaskBackend, is_exposed
from tests.cli.processes import wait_until
from tests.difflogic.sweeps.small import TINY

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(find_spec("distributed") is None, reason="distributed is not installed"),
]

ROOT = Path(__file__).resolve().parents[3]
BLOCKS = re.findall(
    r"```\n(.*?)```", (ROOT / "docs" / "sweeps.md").read_text(encoding="utf-8"), flags=re.S
)
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}
SETTINGS = [f"--set={override}" for override in TINY]
SWEEP = ["sweep", "checkerboard-small", "--seeds=0", "--dir=there", *SETTINGS]


def block_with(text):
    """Return the lines of the page's only block of commands with this text."""
    (found,) = [block for block in BLOCKS if text in block]
    return found.splitlines()


def listening(pid):
    """Return the addresses and ports that a process and its children listen on."""
    parent = psutil.Process(pid)
    found = set()
    for process in [parent, *parent.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):  # it may end meanwhile
            for connection in process.net_connections("inet"):
                if connection.status == psutil.CONN_LISTEN:
                    found.add(tuple(connection.laddr))
    return found


def is_loopback(ports):
    return all(ipaddress.ip_address(host).is_loopback for host, port in ports)


def free_port():
    """Return a port that is free, and that the system gives to nobody who asks for any."""
    while True:
        with socket.socket() as free, suppress(OSError):
            free.bind(("127.0.0.1", random.randrange(10_000, 30_000)))
            return str(free.getsockname()[1])


class Documented:
    """A scheduler and workers from a block of commands, and the arguments of its `dct sweep`."""

    def __init__(self, lines, folder):
        self.folder = folder
        self.processes = []
        places = {"8786": free_port(), "ADDRESS": "127.0.0.1", "SCHEDULER": "127.0.0.1"}
        self.lines = [
            re.sub(r"8786|ADDRESS|SCHEDULER(?!_)", lambda found: places[found[0]], line)
            if line.startswith(("dask", "dct"))
            else line
            for line in lines
        ]
        exports = [line.split()[1:] for line in self.lines if line.startswith("export ")]
        own = dict(word.split("=", 1) for words in exports for word in words)
        self.environment = ENVIRONMENT | own

    def words(self, command):
        (line,) = [line for line in self.lines if line.startswith(command)]
        return shlex.split(line)

    def start(self, command):
        log = (self.folder / f"log-{time.monotonic_ns()}").open("w")
        arguments = [sys.executable, "-m", *self.words(command)]
        process = subprocess.Popen(
            arguments, cwd=self.folder, env=self.environment, stdout=log, stderr=log
        )
        self.processes.append(process)
        return process

    def ports(self, command, count):
        """Start a command, wait for its number of open ports, and return them."""
        process = self.start(command)
        wait_until(lambda: len(listening(process.pid)) >= count or process.poll() is not None)
        return listening(process.pid)

    @property
    def address(self):
        words = self.words("dct sweep")
        return words[words.index("--scheduler") + 1]

    def sweep(self, *more, environment=None):
        arguments = [sys.executable, "-m", "cli", *SWEEP, f"--scheduler={self.address}", *more]
        return run(arguments, self.folder, environment or self.environment)

    def close(self):
        for process in self.processes:
            for each in [*psutil.Process(process.pid).children(recursive=True), process]:
                with suppress(psutil.NoSuchProcess):
                    each.kill()
            process.wait()


def run(arguments, folder, environment):
    return subprocess.run(
        arguments, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )


@pytest.fixture
def documented(tmp_path):
    started = []

    def begin(text):
        started.append(Documented(block_with(text), tmp_path))
        return started[-1]

    yield begin
    for cluster in started:
        cluster.close()


@pytest.mark.slow
def test_the_local_commands_listen_on_loopback_only(documented):
    cluster = documented("--scheduler tcp://127.0.0.1:8786")
    # The scheduler opens two ports; a nanny and its worker three.
    ports = cluster.ports("dask scheduler", 2) | cluster.ports("dask worker", 3)
    assert is_loopback(ports), ports
    done = cluster.sweep()
    assert done.returncode == 0, done.stderr
    assert "TLS" not in done.stderr
    for process in cluster.processes:
        assert is_loopback(listening(process.pid)), listening(process.pid)


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
def test_tls_lets_in_who_has_a_certificate_and_nobody_else(documented, tmp_path):
    for line in block_with("openssl req -x509"):
        subprocess.run(line, shell=True, check=True, cwd=tmp_path, capture_output=True)
    cluster = documented("--protocol tls")
    cluster.start("dask scheduler")
    cluster.start("dask worker")
    assert cluster.address.startswith("tls://")
    done = cluster.sweep()
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr

    refused = cluster.sweep("--seeds=1", "--scheduler-timeout=3", environment=ENVIRONMENT)
    assert refused.returncode == 2
    assert "no scheduler answers" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.once
@pytest.mark.parametrize(
    ("address", "exposed"),
    {
        "tcp://127.0.0.1:8786": False,
        "tcp://[::1]:1": False,
        "localhost:8786": False,
        "tls://10.0.0.1:8786": False,
        "tcp://10.0.0.1:8786": True,
        "tcp://[2001:db8::1]:1": True,
        "host:8786": True,
    }.items(),
)
def test_what_is_reached_without_tls_is_told(address, exposed):
    assert is_exposed(address) == exposed
    assert DaskBackend(address, 3).slots == 3
