"""Whether numba still has to compile the kernels."""

from __future__ import annotations

from difflogic.engine import kernels as k


def is_cached(dtype: str) -> bool:
    """Return whether the largest kernel for `dtype` lies compiled in numba's cache on disk.

    numba has no public question for it; where its inside has changed, the answer is no.
    """
    if not k.JIT:
        return True
    try:
        index = k.train._cache._cache_file._load_index()
    except (AttributeError, OSError):
        return False
    return any(dtype in str(key[0]) for key in index)
