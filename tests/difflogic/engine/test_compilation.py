from types import SimpleNamespace

import pytest

from difflogic.engine import kernels as k
from difflogic.engine.compilation import is_cached, is_compiled, is_hard_cached


def dispatcher(load):
    cache = SimpleNamespace(_cache_file=SimpleNamespace(_load_index=load))
    return SimpleNamespace(_cache=cache)


@pytest.fixture
def compiled(monkeypatch):
    """Pretend that kernels are compiled, with an index that `load` returns."""

    def pretend(load):
        monkeypatch.setattr(k, "JIT", True)
        monkeypatch.setattr(k, "train", dispatcher(load))
        monkeypatch.setattr(k, "hard_rollout", dispatcher(load))

    return pretend


def test_an_index_names_what_is_compiled(compiled):
    compiled(lambda: {("array(float32, 1d, C)", "cpu"): "file.nbc"})
    assert is_cached("float32")
    assert not is_cached("float64")
    assert is_hard_cached()
    assert is_compiled(k.train)


def test_an_empty_cache(compiled):
    compiled(dict)
    assert not is_cached("float32")
    assert not is_hard_cached()
    assert not is_compiled(k.train)


def test_an_unreadable_cache_is_none(compiled):
    def load():
        raise OSError

    compiled(load)
    assert not is_cached("float32")


def test_a_numba_of_another_make_has_none(monkeypatch):
    monkeypatch.setattr(k, "JIT", True)
    monkeypatch.setattr(k, "train", object())
    assert not is_cached("float32")


def test_without_the_compiler_nothing_is_to_compile(monkeypatch):
    monkeypatch.setattr(k, "JIT", False)
    assert is_cached("float32")
    assert is_hard_cached()


@pytest.mark.skipif(not k.JIT, reason="nothing is compiled")
def test_the_installed_numba_is_understood():
    # Fails if numba changes the inside that is_cached reads.
    assert isinstance(k.train._cache._cache_file._load_index(), dict)
