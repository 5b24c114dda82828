"""External tools for exported files. Tests are skipped if a tool is missing."""

import shutil
import subprocess

import pytest

resource = pytest.importorskip("resource")

CPU_SECONDS = 300
ABC = shutil.which("berkeley-abc") or shutil.which("abc") or "berkeley-abc"


def call(*arguments, cwd, text=True, **options):
    """Run a program that must succeed; return its output on both streams.

    It has a limit on processor time: a machine that is slow, or does much else, fails no test.
    """
    done = subprocess.run(
        [str(argument) for argument in arguments],
        cwd=cwd,
        text=text,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        **options,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def run_bench(sources, folder):
    """Return the words that bench.v prints. Icarus Verilog must not warn about the sources."""
    options = "-g2001 -Wall -Wno-timescale -o bench.vvp -s bench bench.v"
    log = call("iverilog", *options.split(), *sources, cwd=folder)
    assert [line for line in log.splitlines() if not line.startswith("bench.v:")] == []
    return call("vvp", "-n", "bench.vvp", cwd=folder).split()
