import pytest

from difflogic.engine import compilation


@pytest.mark.parametrize("kept", [True, False])
def test_the_largest_kernels_are_asked_for(monkeypatch, kept):
    asked = []

    def is_compiled(kernel, precision=None):
        asked.append((kernel.__name__, precision))
        return kept

    monkeypatch.setattr(compilation, "JIT", True)
    monkeypatch.setattr(compilation, "is_compiled", is_compiled)
    assert compilation.is_cached("float64") == kept
    assert compilation.is_cached("float32", "steps", 2) == kept
    assert compilation.is_cached("float32", "gates", 2) == kept
    assert compilation.is_cached("float32", "steps", 1) == kept
    assert compilation.is_hard_cached() == kept
    assert asked == [
        ("train", "float64"),
        ("train", "float32"),
        ("train_by_gates", "float32"),
        ("train", "float32"),
        ("hard_rollout", None),
    ]


def test_without_the_compiler_nothing_is_to_compile(monkeypatch):
    monkeypatch.setattr(compilation, "JIT", False)
    assert compilation.is_cached("float32")
    assert compilation.is_hard_cached()
