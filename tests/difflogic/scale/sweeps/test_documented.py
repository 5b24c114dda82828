"""docs/sweeps.md opens nothing to the network, and its TLS lets in whom it should."""

import ipaddress
import os
import shutil
import subprocess
import sys
import time

import pytest

pytest.importorskip("distributed")

from difflogic.scale.sweeps.cluster import is_exposed
from tests.difflogic.scale.sweeps.documented import ROOT, Documented, block_with, listening
from tests.difflogic.scale.sweeps.small import TINY

pytestmark = pytest.mark.thorough

SWEEP = [
    "sweep",
    "checkerboard-small",
    "--seeds=0",
    "--backend=dask",
    "--dir=there",
    *(f"--set={override}" for override in TINY),
]


@pytest.fixture
def start(tmp_path):
    started = []

    def begin(lines):
        cluster = Documented(lines, tmp_path)
        started.append(cluster)
        return cluster

    yield begin
    for cluster in started:
        cluster.close()


def dct(cluster, *arguments, environment=None):
    return subprocess.run(
        [sys.executable, "-m", "cli", *arguments],
        cwd=cluster.folder,
        env=environment or cluster.environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def wait_for_ports(process, count):
    """Wait until so many ports are open: those of a scheduler, or of a nanny and its worker."""
    deadline = time.monotonic() + 120
    while len(listening(process.pid)) < count:
        assert process.poll() is None, "it has ended"
        assert time.monotonic() < deadline, listening(process.pid)
        time.sleep(0.1)
    return listening(process.pid)


@pytest.mark.slow
def test_the_local_commands_listen_on_loopback_only(start):
    cluster = start(block_with("--scheduler tcp://127.0.0.1:8786"))
    ports = wait_for_ports(cluster.start("dask scheduler"), 2)
    ports |= wait_for_ports(cluster.start("dask worker"), 3)
    assert all(ipaddress.ip_address(host).is_loopback for host, port in ports), ports
    done = dct(cluster, *SWEEP, f"--scheduler={cluster.address}")
    assert done.returncode == 0, done.stderr
    assert "TLS" not in done.stderr
    for process in cluster.processes:
        found = listening(process.pid)
        assert all(ipaddress.ip_address(host).is_loopback for host, port in found), found


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
def test_tls_lets_in_who_has_a_certificate_and_nobody_else(start, tmp_path):
    for line in block_with("openssl req -x509"):
        subprocess.run(line, shell=True, check=True, cwd=tmp_path, capture_output=True)
    cluster = start(block_with("--protocol tls"))
    cluster.start("dask scheduler")
    cluster.start("dask worker")
    assert cluster.address.startswith("tls://")
    done = dct(cluster, *SWEEP, f"--scheduler={cluster.address}")
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr

    stranger = os.environ | {"PYTHONPATH": str(ROOT)}
    address = [f"--scheduler={cluster.address}", "--seeds=1", "--scheduler-timeout=3"]
    refused = dct(cluster, *SWEEP, *address, environment=stranger)
    assert refused.returncode == 2
    assert "no scheduler answers" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize(
    ("address", "exposed"),
    [
        ("tcp://127.0.0.1:8786", False),
        ("127.9.9.9:1", False),
        ("tcp://[::1]:1", False),
        ("localhost:8786", False),
        ("tls://10.0.0.1:8786", False),
        ("wss://host:1", False),
        ("tcp://10.0.0.1:8786", True),
        ("10.0.0.1:8786", True),
        ("ws://host:1", True),
        ("tcp://[2001:db8::1]:1", True),
        ("host:8786", True),
        ("tcp://0.0.0.0:1", True),
    ],
)
def test_what_is_reached_without_tls_is_told(address, exposed):
    assert is_exposed(address) == exposed


HOSTILE = """
import pathlib
pathlib.Path({path!r}).open("a").write(__name__ + "\\n")
"""


@pytest.mark.slow
@pytest.mark.parametrize("backend", [pytest.param("loky", marks=pytest.mark.exhaustive), "dask"])
def test_workers_import_nothing_from_the_working_directory(tmp_path, backend):
    """Neither do the processes that help them: trackers, nannies, the command itself."""
    folder, told = tmp_path / "hostile", tmp_path / "told"
    folder.mkdir()
    for name in ("json", "random", "typing", "psutil", "numpy", "distributed", "sitecustomize"):
        (folder / f"{name}.py").write_text(HOSTILE.format(path=str(told)))
    for name in ("joblib", "multiprocessing", "difflogic"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(HOSTILE.format(path=str(told)))
    # As the installed command: its own directory is first on the path, not the working one.
    script = tmp_path / "bin" / "dct"
    script.parent.mkdir()
    script.write_text("from cli.entry import main\nif __name__ == '__main__':\n    main()\n")
    arguments = [
        "sweep",
        "checkerboard-small",
        "--seeds=0-2",
        "--workers=2",
        f"--backend={backend}",
        f"--dir={tmp_path / 'sweep'}",
        *(f"--set={override}" for override in TINY),
    ]
    done = subprocess.run(
        [sys.executable, str(script), *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert not told.exists(), told.read_text()
