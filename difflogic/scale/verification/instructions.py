"""The same comparisons by other instruction sets that this processor has, each in a process.

What the kernels are compiled for is decided once per process, and their arithmetic follows from it:
vectors, lanes, and the order in which gradients are added. Code that is kept is named by it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding as llvm

from difflogic.scale.verification.findings import Finding, Tolerance
from difflogic.system.errors import TrainingError
from difflogic.system.jit.processor import AVX, AVX512, SSE, Registers, registers

SECONDS = 1800
"""That one instruction set may take: compiling for it takes about a minute of a slow core."""


class Instructions(NamedTuple):
    """An instruction set, as the compiler is told of it by NUMBA_CPU_NAME and _FEATURES."""

    name: str
    registers: Registers
    processor: str
    features: tuple[str, ...]

    @property
    def environment(self) -> dict[str, str]:
        """The variables that make a process compile for it."""
        features = ",".join(f"+{feature}" for feature in self.features)
        return {"NUMBA_CPU_NAME": self.processor, "NUMBA_CPU_FEATURES": features}


KNOWN = (
    Instructions(
        "AVX2",
        AVX,
        "haswell",
        ("sse4.2", "popcnt", "avx", "avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt"),
    ),
    Instructions("SSE2", SSE, "x86-64", ("sse2",)),
)
"""Narrower ones than the widest, AVX-512, the widest first."""


def narrower() -> tuple[Instructions, ...]:
    """Return what this processor has besides what kernels are compiled for in this process."""
    host: Mapping[str, bool] = llvm.get_host_cpu_features()
    own = registers()
    if own not in (AVX512, AVX):
        return ()
    return tuple(
        each
        for each in KNOWN
        if each.registers.width < own.width and all(host.get(name) for name in each.features)
    )


def compare_by(
    instructions: Instructions, source: str, overrides: Sequence[str], seconds: float = SECONDS
) -> Iterator[Finding]:
    """Yield the findings of `equivalence` on a configuration, by an instruction set.

    `source` and `overrides` are what `load_config` takes. Raises TrainingError if the process
    ends before it is done, or takes longer than `seconds`.
    """
    asked = json.dumps({"source": source, "overrides": list(overrides)})
    done = False
    with _child(instructions, asked, seconds) as process:
        assert process.stdout is not None
        for line in process.stdout:
            told = json.loads(line)
            if "done" in told:
                done = told["done"] == list(instructions.registers)
                break
            tolerance = Tolerance(told.pop("tolerance"), told.pop("reason"))
            told["difference"] = float(told["difference"])
            found = Finding(**told, tolerance=tolerance)
            yield replace(found, what=f"{instructions.name}: {found.what}")
    if not done:
        raise TrainingError(
            f"the comparisons by {instructions.name} ended before they were done, or took longer "
            f"than {seconds:g} s"
        )


@contextmanager
def _child(
    instructions: Instructions, asked: str, seconds: float
) -> Iterator[subprocess.Popen[str]]:
    """Start a process that answers, and end it: after so many seconds in any case."""
    # Isolated, so that it imports what is imported here, and nothing from the working directory.
    places = [str(Path(__file__).parents[3]), *filter(os.path.isabs, sys.path)]
    program = f"import sys; sys.path[:] = {places!r}\nfrom {__name__} import answer\nanswer()"
    with subprocess.Popen(
        [sys.executable, "-I", "-c", program, asked],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        env={**os.environ, **instructions.environment},
    ) as process:
        limit = threading.Timer(seconds, process.kill)
        limit.start()
        try:
            yield process
        finally:
            limit.cancel()
            process.kill()


def answer() -> None:
    """Print the findings that the command line asks for, a JSON object per line."""
    from difflogic.config import load_config
    from difflogic.scale.verification.checks import equivalence

    asked = json.loads(sys.argv[1])
    config = load_config(asked["source"], asked["overrides"], allow_code=True)
    for finding in equivalence(config):
        told = finding.as_dict()
        told["difference"] = str(told["difference"])
        del told["passed"]
        print(json.dumps(told), flush=True)
    print(json.dumps({"done": list(registers())}), flush=True)
