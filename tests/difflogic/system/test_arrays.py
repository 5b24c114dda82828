from hypothesis import given
from hypothesis import strategies as st

from difflogic.system.arrays import CACHE_LINE, PAGE, aligned


@given(st.integers(0, 200), st.sampled_from(["float32", "float64", "int64"]))
def test_aligned_arrays_start_at_a_cache_line(size, dtype):
    array = aligned((2, size), dtype)
    assert array.shape == (2, size)
    assert array.dtype == dtype
    assert size == 0 or array.ctypes.data % CACHE_LINE == 0
    assert not array.any()


def test_an_array_may_start_at_a_place_of_a_page():
    assert aligned((3,), "float32", PAGE, 1024).ctypes.data % PAGE == 1024
