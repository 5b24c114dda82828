"""`dct bench`: output and refusals. test_benchmark.py tests the measuring."""

import signal
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from cli.terminal import screen
from difflogic.config import load_config
from difflogic.speed import benchmark, measurements
from difflogic.speed.benchmark import Benchmark
from difflogic.speed.measurements import Measurement


@pytest.fixture
def report():
    """A report with round numbers: three steps of 5, 10 and 20 ms."""
    config = load_config("checkerboard", recipe="benchmark")
    steps = [0.01, 0.005, 0.02]
    plan = SimpleNamespace(
        workers=2, batch=config.training.batch, bytes_per_worker=960_000, bytes_shared=1_580_000
    )
    phases = {"forward": [s / 4 for s in steps], "hard": [s / 8 for s in steps], "other": [0.0] * 3}
    row = replace(Measurement("parallel", config, plan, steps), phases=phases)
    return Benchmark(path=row, gate_lanes=50_000_000, peak=190e9, peak_memory=202_000_000)


@pytest.fixture
def bench_tiny(dct, tiny, monkeypatch):
    """Run `dct bench --small` on a tiny problem, with made-up peaks."""
    for module in (benchmark, measurements):
        monkeypatch.setattr(module, "fma_rate", lambda threads: threads * 1e9)

    def run(*arguments):
        return dct(f"bench --small {tiny} --repeat=2", *arguments)

    return run


# A whole run of the command


@pytest.mark.once
def test_a_way_alone(bench_tiny, staged, monkeypatch):
    monkeypatch.setattr(screen, "QUIET_SECONDS", 0.0)
    staged.needs_compiling = True
    result = bench_tiny("--workers=2").good
    assert "2 workers · 2 repeats" in result.stdout
    assert "speed-up" not in result.stdout
    assert "equal results" not in result.stdout
    assert "hard evaluation" in result.stdout
    assert "\x1b" not in result.stdout + result.stderr
    assert "compiling the kernels for float32, once" in result.stderr
    assert "compil" not in result.stdout
    assert "rounds measured: 1/2" in result.stderr.splitlines()
    assert not list(Path.cwd().iterdir())


@pytest.mark.once
def test_ctrl_c_stops_between_steps(bench_tiny, monkeypatch):
    steps = []

    class Interrupted(measurements.Trainer):
        def step(self):
            steps.append(1)
            if len(steps) == 6:
                signal.raise_signal(signal.SIGINT)
            return super().step()

    monkeypatch.setattr(measurements, "Trainer", Interrupted)
    result = bench_tiny("--repeat=1000")
    assert result.exit_code == 130
    assert result.stderr.endswith("interrupted\n")
    assert result.stdout == ""
    assert len(steps) < 10


def test_a_report_is_shown(dct, monkeypatch, report):
    report.path.passed[:] = [6.0, 3.0, 5.9, 6.0]
    monkeypatch.setattr("difflogic.experiment.searching.compile_kernels", lambda *given: None)
    monkeypatch.setattr(benchmark, "bench", lambda *_, **__: report)
    result = dct("bench")
    assert result.stderr == (
        "note: using the published batch size, 2; training uses 1 (--set training.batch=1)\n"
    )
    _, table, *_, below = result.stdout.split("\n\n")
    assert [" ".join(line.split()) for line in table.splitlines()] == [
        "ms per step min median max share",
        "forward 1.250 2.500 5.000 25 %",
        "hard evaluation 0.625 1.250 2.500 12 %",
        "all 5.000 10.000 20.000 100 %",
    ]
    found = {line[:17].strip(): line[17:].strip() for line in below.splitlines()}
    peak = found.pop("arithmetic peak")
    assert peak.startswith("190 billion fused multiply-adds per second on 2 workers, in vectors ")
    assert found.pop("processors").endswith("by default")
    assert found == {
        "gate evaluations": "5.00 billion per second",
        "arithmetic limit": "3.947 ms per step: 39 % of the peak reached",
        "buffers": "960 kB per worker, 1.58 MB shared",
        "process": "202 MB at most",
        "noise": "unknown from 3 repeats: use --repeat 10",
        "core": "shared with another thread beside 25 % of the steps (3.0 instead of 6.0 "
        "instructions a cycle): measure again",
    }
