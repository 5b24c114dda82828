"""Whether numba still has to compile the kernels."""

from __future__ import annotations

from typing import Any

from difflogic.engine import kernels as k


def is_cached(dtype: str) -> bool:
    """Return whether the largest kernel for `dtype` lies compiled in numba's cache on disk.

    numba has no public question for it; where its inside has changed, the answer is no.
    """
    return any(dtype in str(key[0]) for key in _index(k.train)) if k.JIT else True


def is_hard_cached() -> bool:
    """Return the same for the largest kernel of hard circuits, which knows no other types."""
    return bool(_index(k.hard_rollout)) if k.JIT else True


def is_compiled(kernel: Any) -> bool:
    """Return the same for any other kernel: whether the cache holds it for some types."""
    return bool(_index(kernel)) if k.JIT else True


def _index(kernel: Any) -> dict[Any, Any]:
    try:
        return dict(kernel._cache._cache_file._load_index())
    except (AttributeError, OSError):
        return {}
