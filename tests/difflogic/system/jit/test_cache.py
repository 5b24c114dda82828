"""Kernels keep their code on disk, and do without where they cannot."""

import logging
import os

import numpy as np
import pytest

from difflogic.system.jit import JIT, cache, is_compiled
from difflogic.system.jit.decorator import make_kernel

compiled_only = pytest.mark.skipif(not JIT, reason="nothing is compiled")


def total(values):
    found = 0.0
    for value in values:
        found += value
    return found


ONES = {"float32": np.ones(3, np.float32), "float64": np.ones(3)}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The directory of a cache of this test's own."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache, "_said", [])
    return tmp_path / "dct-kernels"


def new_kernel(stamp="first"):
    return make_kernel(total, lambda: stamp)


def hits(kernel):
    return sum(kernel.stats.cache_hits.values())


@pytest.mark.thorough
@compiled_only
def test_code_is_kept_and_found_again(place):
    first = new_kernel()
    assert not is_compiled(first)
    assert first(ONES["float64"]) == 3
    assert is_compiled(first)
    again = new_kernel()
    assert is_compiled(again)
    assert again(ONES["float64"]) == 3
    assert hits(again) == 1
    assert [path.stat().st_mode & 0o777 for path in place.iterdir()] == [0o600]


@compiled_only
def test_stamps_and_precisions_are_told_apart(place):
    kernel = new_kernel()
    kernel(ONES["float64"])
    assert is_compiled(kernel, "float64")
    assert not is_compiled(kernel, "float32")
    other = new_kernel("second")
    assert not is_compiled(other)
    assert other(ONES["float32"]) == 3
    assert is_compiled(other, "float32")
    assert not hits(other)


@compiled_only
def test_damaged_code_is_compiled_again_and_said_once(place, caplog):
    new_kernel()(ONES["float64"])
    (path,) = place.iterdir()
    path.write_bytes(path.read_bytes()[:-100] + b"\0" * 100)
    with caplog.at_level(logging.WARNING):
        again = new_kernel()
        assert again(ONES["float64"]) == 3
        assert again(ONES["float32"]) == 3
    assert not hits(again)
    (record,) = caplog.records
    assert "is damaged" in record.getMessage()
    assert "NUMBA_CACHE_DIR" in record.getMessage()
    # And put right.
    third = new_kernel()
    assert third(ONES["float64"]) == 3
    assert hits(third) == 1


@compiled_only
def test_code_of_a_numba_that_cannot_load_it_is_compiled(place, monkeypatch):
    kernel = new_kernel()
    kernel(ONES["float64"])
    monkeypatch.setattr("numba.core.compiler.CompileResult._rebuild", None)
    again = new_kernel()
    assert again(ONES["float64"]) == 3
    assert not hits(again)


@compiled_only
def test_a_place_that_takes_nothing_stops_nothing(place, tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    with caplog.at_level(logging.WARNING):
        kernel = new_kernel()
        assert kernel(ONES["float64"]) == 3
        assert kernel(ONES["float32"]) == 3
    (record,) = caplog.records
    assert "set NUMBA_CACHE_DIR" in record.getMessage()
    assert not is_compiled(kernel)


@compiled_only
@pytest.mark.skipif(os.name != "posix", reason="asks for permissions")
def test_code_that_others_may_have_written_is_compiled_again(place, caplog):
    new_kernel()(ONES["float64"])
    (path,) = place.iterdir()
    path.chmod(0o666)
    with caplog.at_level(logging.WARNING):
        again = new_kernel()
        assert again(ONES["float64"]) == 3
    assert not hits(again)
    assert "others may have written it" in caplog.text
    assert path.stat().st_mode & 0o777 == 0o600
