"""The commands of docs/sweeps.md open nothing to the network, and its TLS admits the right people.

They are started as written there, apart from addresses and ports.
"""

import ipaddress
import os
import random
import re
import shlex
import socket
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import psutil
import pytest

from difflogic.sweeps.cluster import DaskBackend, is_exposed
from tests.cli.processes import listening, wait_until
from tests.difflogic.sweeps.small import TINY
from tests.marks import needs
from tests.paths import DOCS, ROOT

pytestmark = pytest.mark.thorough

BLOCKS = re.findall(r"```\n(.*?)```", (DOCS / "sweeps.md").read_text("utf-8"), flags=re.S)
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
ENVIRONMENT = os.environ | {"PATH": PATH, "PYTHONPATH": str(ROOT)}
SETTINGS = [f"--set={override}" for override in TINY]
SWEEP = ["sweep", "checkerboard-small", "--seeds=0", "--dir=there", *SETTINGS]


def block_with(text):
    """Return the lines of the page's only block of commands with this text."""
    (found,) = [block for block in BLOCKS if text in block]
    return found.splitlines()


def ports_of(process):
    """Return the addresses and ports that a process and its children listen on."""
    processes = [process, *process.children(recursive=True)]
    return set().union(*(listening(each.pid) for each in processes))


def is_loopback(ports):
    return all(ipaddress.ip_address(host).is_loopback for host, port in ports)


def free_port():
    """Return a port that is free, and that the system gives to nobody who asks for any."""
    while True:
        with socket.socket() as free, suppress(OSError):
            free.bind(("127.0.0.1", random.randrange(10_000, 30_000)))
            return str(free.getsockname()[1])


class Documented:
    """A scheduler and workers from the block of commands with a text, and its `dct sweep`."""

    def __init__(self, text, folder):
        self.folder = folder
        self.processes = []
        places = {"8786": free_port(), "ADDRESS": "127.0.0.1", "SCHEDULER": "127.0.0.1"}
        self.lines = [
            re.sub(r"8786|ADDRESS|SCHEDULER(?!_)", lambda found: places[found[0]], line)
            for line in block_with(text)
        ]
        self.exports = [line for line in self.lines if line.startswith("export ")]
        (sweep,) = [line for line in self.lines if line.startswith("dct sweep")]
        self.address = sweep.rpartition("--scheduler ")[2]

    def start(self, command):
        (line,) = [line for line in self.lines if line.startswith(command)]
        script = "\n".join([*self.exports, f"exec {line}"])
        process = psutil.Popen(script, shell=True, cwd=self.folder, env=ENVIRONMENT)
        self.processes.append(process)
        return process

    def ports(self, command, count):
        """Start a command, wait for its number of open ports, and return them."""
        process = self.start(command)
        wait_until(lambda: len(ports_of(process)) >= count or process.poll() is not None)
        return ports_of(process)

    def sweep(self, exports, *more):
        words = shlex.join(["dct", *SWEEP, f"--scheduler={self.address}", *more])
        return subprocess.run(
            "\n".join([*exports, words]),
            shell=True,
            cwd=self.folder,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=300,
        )

    def close(self):
        for process in self.processes:
            for each in [*process.children(recursive=True), process]:
                with suppress(psutil.NoSuchProcess):
                    each.kill()
            process.wait()


@pytest.mark.slow
def test_the_local_commands_listen_on_loopback_only(tmp_path):
    with closing(Documented("--scheduler tcp://127.0.0.1:8786", tmp_path)) as cluster:
        # The scheduler opens two ports; a nanny and its worker three.
        ports = cluster.ports("dask scheduler", 2) | cluster.ports("dask worker", 3)
        assert is_loopback(ports), ports
        done = cluster.sweep(cluster.exports)
        assert done.returncode == 0, done.stderr
        assert "TLS" not in done.stderr
        for process in cluster.processes:
            assert is_loopback(ports_of(process)), ports_of(process)


@pytest.mark.exhaustive
@pytest.mark.slow
@needs("openssl")
def test_tls_lets_in_who_has_a_certificate_and_nobody_else(tmp_path):
    for line in block_with("openssl req -x509"):
        subprocess.run(line, shell=True, check=True, cwd=tmp_path, capture_output=True)
    with closing(Documented("--protocol tls", tmp_path)) as cluster:
        cluster.start("dask scheduler")
        cluster.start("dask worker")
        assert cluster.address.startswith("tls://")
        done = cluster.sweep(cluster.exports)
        assert done.returncode == 0, done.stderr
        assert "warning" not in done.stderr
        refused = cluster.sweep([], "--seeds=1", "--scheduler-timeout=3")
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
