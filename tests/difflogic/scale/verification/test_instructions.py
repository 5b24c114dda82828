"""Other instruction sets of this processor are compared in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from difflogic.scale.verification import instructions
from difflogic.scale.verification.findings import EXACT
from difflogic.scale.verification.instructions import KNOWN, compare_by, narrower
from difflogic.system.errors import TrainingError
from difflogic.system.jit import JIT
from difflogic.system.jit.processor import AVX, AVX512, NEON, SSE, registers, registers_of

OTHERS = narrower() if JIT else ()
EVERY = dict.fromkeys([name for each in KNOWN for name in each.features], True)


@pytest.mark.parametrize(
    ("own", "lacking", "expected"),
    [
        (AVX512, (), ["AVX2", "SSE2"]),
        (AVX512, ("fma",), ["SSE2"]),
        (AVX, (), ["SSE2"]),
        (SSE, (), []),
        (NEON, (), []),
    ],
)
def test_narrower_ones_that_the_processor_has(own, lacking, expected, monkeypatch):
    host = EVERY | dict.fromkeys(lacking, False)
    monkeypatch.setattr(instructions, "registers", lambda: own)
    monkeypatch.setattr(instructions.llvm, "get_host_cpu_features", lambda: host)
    assert [each.name for each in narrower()] == expected


@pytest.mark.parametrize("each", KNOWN)
def test_the_compiler_is_told_of_as_wide_registers(each):
    features = each.environment["NUMBA_CPU_FEATURES"]
    assert registers_of("x86_64-unknown-linux-gnu", features) == each.registers


@pytest.mark.thorough
@pytest.mark.skipif(not OTHERS, reason="this processor has one instruction set only")
def test_kernels_are_compiled_for_it_and_kept_apart():
    program = (
        "from difflogic.system.jit.cache import _compiler\n"
        "from difflogic.system.jit.processor import registers\n"
        "print(tuple(registers()), _compiler())"
    )
    told = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split(")", 1)
        for environment in ({}, *(each.environment for each in OTHERS))
    ]
    widths = [registers(), *(each.registers for each in OTHERS)]
    assert [each[0] for each in told] == [str(tuple(width))[:-1] for width in widths]
    assert len({each[1] for each in told}) == len(told)


def answers(program, monkeypatch):
    """Let the process run another program than the comparisons."""
    monkeypatch.setattr(instructions, "__name__", "json")
    monkeypatch.setattr(instructions.sys, "executable", sys.executable)
    popen = subprocess.Popen

    def other(command, **options):
        return popen([*command[:3], program, *command[4:]], **options)

    monkeypatch.setattr(instructions.subprocess, "Popen", other)


LINE = (
    'print(\'{"what": "w", "against": "a", "where": "%s", "difference": "inf", "tolerance": 0.0, '
    '"reason": "r"}\', flush=True)\n'
)


def test_findings_are_told_as_they_come(monkeypatch):
    done = f"print('{{\"done\": {list(SSE)}}}')"
    answers(f"import sys\n{LINE % 'one'}{LINE % 'two'}{done}", monkeypatch)
    found = list(compare_by(KNOWN[1], "checkerboard-small", []))
    assert [each.what for each in found] == ["SSE2: w"] * 2
    assert [each.where for each in found] == ["one", "two"]
    assert not any(each.passed for each in found)
    assert [each.tolerance for each in found] == [EXACT] * 2
    assert [each.reason for each in found] == ["r"] * 2


@pytest.mark.parametrize(
    "program", [LINE % "one", f"{LINE % 'one'}raise SystemExit(3)", "print('{\"done\": [64, 32]}')"]
)
def test_a_process_that_ends_early_or_compiled_for_another_fails(program, monkeypatch):
    answers(program, monkeypatch)
    with pytest.raises(TrainingError, match="by SSE2 ended early"):
        list(compare_by(KNOWN[1], "checkerboard-small", []))


def test_a_process_that_takes_too_long_is_ended(monkeypatch):
    answers("import time\nwhile True: time.sleep(60)", monkeypatch)
    with pytest.raises(TrainingError, match=r"longer than 0\.1 s"):
        list(compare_by(KNOWN[1], "checkerboard-small", [], seconds=0.1))


def test_whoever_stops_asking_ends_the_process(monkeypatch):
    answers(f"{LINE % 'one'}import time\nwhile True: time.sleep(60)", monkeypatch)
    asked = compare_by(KNOWN[1], "checkerboard-small", [])
    assert next(asked).where == "one"
    asked.close()  # waits for it
