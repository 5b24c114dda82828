"""Kernels keep their code on disk, and do without where they cannot."""

import logging
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from difflogic.jit import JIT, cache, is_compiled
from difflogic.jit.decorator import make_kernel
from difflogic.store import Store

compiled_only = pytest.mark.skipif(not JIT, reason="nothing is compiled")


def total(values):
    found = 0.0
    for value in values:
        found += value
    return found


ONES = {"float32": np.ones(3, np.float32), "float64": np.ones(3)}


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A store of this test's own."""
    found = Store(tmp_path / "kernels")
    monkeypatch.setattr(cache, "store", lambda: found)
    return found


def new_kernel(stamp="first"):
    return make_kernel(total, lambda: stamp)


def hits(kernel):
    return sum(kernel.stats.cache_hits.values())


@compiled_only
def test_code_is_kept_and_found_again(store):
    first = new_kernel()
    assert not is_compiled(first)
    assert first(ONES["float64"]) == 3
    assert is_compiled(first)
    again = new_kernel()
    assert is_compiled(again)
    assert again(ONES["float64"]) == 3
    assert hits(again) == 1
    assert [path.stat().st_mode & 0o777 for path in store.directory.iterdir()] == [0o600]


@compiled_only
def test_another_stamp_is_another_kernel(store):
    new_kernel()(ONES["float64"])
    other = new_kernel("second")
    assert not is_compiled(other)
    assert other(ONES["float64"]) == 3
    assert not hits(other)


@compiled_only
def test_precisions_are_told_apart(store):
    kernel = new_kernel()
    kernel(ONES["float64"])
    assert is_compiled(kernel, "float64")
    assert not is_compiled(kernel, "float32")
    kernel(ONES["float32"])
    assert is_compiled(kernel, "float32")


@compiled_only
@pytest.mark.parametrize("damage", [b"", b"nothing", None])
def test_damaged_code_is_compiled_again_and_said_once(store, damage, caplog):
    new_kernel()(ONES["float64"])
    (path,) = store.directory.iterdir()
    content = path.read_bytes()
    path.write_bytes(content[:-100] + b"\0" * 100 if damage is None else damage)
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
def test_code_of_a_numba_that_cannot_load_it_is_compiled(store, monkeypatch):
    kernel = new_kernel()
    kernel(ONES["float64"])
    monkeypatch.setattr("numba.core.compiler.CompileResult._rebuild", None)
    again = new_kernel()
    assert again(ONES["float64"]) == 3
    assert not hits(again)


@compiled_only
def test_results_of_a_numba_of_another_make_are_not_kept(store):
    kernel = new_kernel()
    kernel._cache.save_overload("signature", SimpleNamespace())
    assert not store.directory.exists()


def test_a_dispatcher_of_another_make_has_no_cache():
    dispatcher = SimpleNamespace()
    cache.keep_code(dispatcher, lambda: "stamp")
    assert not vars(dispatcher)
    assert not is_compiled(dispatcher)


@compiled_only
@pytest.mark.skipif(os.name != "posix", reason="no such files")
def test_a_full_disk_stops_nothing(monkeypatch, caplog):
    full = Store(Path("/dev/full/kernels"))
    monkeypatch.setattr(cache, "store", lambda: full)
    with caplog.at_level(logging.WARNING):
        kernel = new_kernel()
        assert kernel(ONES["float64"]) == 3
        assert kernel(ONES["float32"]) == 3
    assert len(caplog.records) == 1
