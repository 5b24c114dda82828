"""Kernels, and the parts that only kernels call."""

import numpy as np
import pytest

from difflogic.system.jit import JIT, borrowing_kernel, part


@part
def twice(numbers, place):
    """Double a number of an array; return what it is then."""
    numbers[place] *= 2
    return numbers[place]


@borrowing_kernel
def double_all(numbers):
    """Double all numbers of an array; return their sum."""
    total = 0
    for place in range(len(numbers)):
        total += twice(numbers, place)
    return total


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))


def test_a_part_is_called_by_kernels_and_kept_with_them():
    numbers = np.arange(4)
    assert double_all(numbers) == 12
    assert numbers.tolist() == [0, 2, 4, 6]


@pytest.mark.skipif(not JIT, reason="Python calls Python without the compiler")
def test_python_cannot_call_a_part():
    numbers = np.arange(4)
    for _ in range(2):  # before it is compiled, and after
        with pytest.raises(TypeError):
            twice(numbers, 1)
        assert double_all(numbers) > 0
    assert numbers.tolist() == [0, 4, 8, 12]
