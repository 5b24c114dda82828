"""Marks and cases that several test modules share."""

from typing import Any

import pytest

from difflogic.system.jit import JIT
from difflogic.system.jit.processor import fuses

compiled = pytest.mark.skipif(not JIT, reason="nothing is compiled")
fused = pytest.mark.skipif(not fuses(), reason="needs fused multiply-adds")
each_boundary = pytest.mark.parametrize("boundary", ["zero", "periodic"])


def exhaustive(*values: Any) -> Any:
    """Return a case that only `make exhaustive` tries."""
    return pytest.param(*values, marks=pytest.mark.exhaustive)
