"""Differentiable logic cellular automata: train them fast, harden them, trust them."""

from __future__ import annotations

PROJECT = "dct"
"""Marks this package: another one of the same name is on PyPI."""

__version__ = "0.1.0"
