"""Marks and cases that several test modules share."""

import shutil
from typing import Any

import pytest

from difflogic.system.jit import JIT
from difflogic.system.jit.processor import fuses

compiled = pytest.mark.skipif(not JIT, reason="nothing is compiled")
fused = pytest.mark.skipif(not fuses(), reason="needs fused multiply-adds")
precisions = pytest.mark.parametrize("dtype", ["float32", "float64"])
each_boundary = pytest.mark.parametrize("boundary", ["zero", "periodic"])


def missing(*programs: str) -> str:
    """Return which of these are not installed."""
    return ", ".join(name for name in programs if shutil.which(name) is None)


def needs(*programs: str) -> Any:
    """Skip a test unless all of these are installed."""
    return pytest.mark.skipif(bool(missing(*programs)), reason=f"needs {missing(*programs)}")


def exhaustive(*values: Any) -> Any:
    """Return a case that only `make exhaustive` tries."""
    return pytest.param(*values, marks=pytest.mark.exhaustive)
