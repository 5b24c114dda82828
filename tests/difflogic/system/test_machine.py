"""Versions, processors, memory and limits."""

from pathlib import Path

import pytest

from difflogic.system import machine
from difflogic.system import memory as own_memory
from tests.cli.processes import run_python


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """Control groups that a test writes, on a machine with 64 processors."""
    monkeypatch.setattr(own_memory, "_CGROUP", tmp_path)
    monkeypatch.setattr("joblib.cpu_count", lambda only_physical_cores=False: 64)
    return tmp_path


@pytest.mark.parametrize(
    ("content", "quota", "count"),
    [
        ("max 100000", None, 64),
        ("50000 100000", 0.5, 1),
        ("150000 100000", 1.5, 1),
        ("200000 100000", 2.0, 2),
        ("10000000 100000", 100.0, 64),
        ("nonsense", None, 64),
        ("100000 0", None, 64),
    ],
)
def test_a_containers_quota_bounds_the_workers(groups, content, quota, count):
    (groups / "cpu.max").write_text(content + "\n")
    assert machine.cpu_quota() == quota
    assert machine.cpu_count() == count


def telling(monkeypatch, place, text):
    """Let the system tell something in a file of /proc."""
    read = Path.read_text

    def read_text(path, *args, **options):
        return text if str(path) == place else read(path, *args, **options)

    monkeypatch.setattr(Path, "read_text", read_text)


def test_the_tightest_of_nested_groups_counts(groups, monkeypatch):
    own = groups / "system.slice" / "job"
    own.mkdir(parents=True)
    (own / "cpu.max").write_text("max 100000")
    (own.parent / "cpu.max").write_text("300000 100000")
    telling(monkeypatch, "/proc/self/cgroup", "0::/system.slice/job\n")
    assert machine.cpu_count() == 3


def test_available_memory_is_what_the_container_has_left(groups, monkeypatch):
    telling(monkeypatch, "/proc/meminfo", "MemTotal: 9 kB\nMemAvailable: 1000000 kB\n")
    limit = groups / "memory.max"
    limit.write_text("500000000\n")
    (groups / "memory.current").write_text("200000000\n")
    (groups / "memory.stat").write_text("anon 5\ninactive_file 50000000\n")
    assert own_memory.available_memory() == 350_000_000
    limit.write_text("max\n")
    assert own_memory.available_memory() == 1024 * 10**6
    limit.write_text("100\n")
    assert own_memory.available_memory() == 0


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="Linux tells what is used")
def test_address_space_and_its_limit():
    program = (
        "import mmap, resource; from difflogic.system.memory import address_space\n"
        "before = address_space()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32)); used, limit = address_space()\n"
        "kept = mmap.mmap(-1, 2**28)\n"
        "print(before, limit, address_space()[0] - used >= 2**28, used < 2**31)"
    )
    done = run_python("-c", program)
    assert done.stdout == "None 4294967296 True True\n", done.stderr
