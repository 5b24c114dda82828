"""What decides which machine code a kernel becomes: the sources of all kernels, as one hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2]

ROOMS = ("system/jit", "engine/kernels", "simplification/kernels")
"""Packages whose sources end up in kernels; they import nothing of dct but each other."""


@cache
def stamp() -> str:
    """Return the stamp of this program's kernels."""
    return stamp_of(PACKAGE / room for room in ROOMS)


def stamp_of(folders: Iterable[Path]) -> str:
    """Return a hash over all Python files in `folders`: names and contents.

    A kernel's code holds that of all kernels that it calls, wherever they stand, so that one stamp
    is for all of them: numba's own looks at the file of the kernel alone.
    """
    found = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            content = path.read_bytes()
            found.update(f"{path.relative_to(folder)} {len(content)}\n".encode() + content)
    return found.hexdigest()
