"""Differentiable logic cellular automata: train them fast, harden them, trust them.

The public names are imported when they are first used, since the compiled kernels behind them take
a moment to load.
"""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from difflogic.version import __version__ as __version__

if TYPE_CHECKING:
    from difflogic.public import *  # noqa: F403

PROJECT = "dct"
"""Identifies this package: another one on PyPI has the same name."""


@cache
def homes() -> dict[str, str]:
    """Return the modules of the public names."""
    import ast

    tree = ast.parse(Path(__file__).with_name("public.py").read_text("utf-8"))
    lines = [line for line in tree.body if isinstance(line, ast.ImportFrom)]
    return {each.name: str(line.module) for line in lines for each in line.names}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(homes())
    if name not in homes():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(homes()[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *homes()])
