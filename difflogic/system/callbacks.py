"""Callbacks that do nothing: defaults of optional parameters."""

from __future__ import annotations


def ignore(*news: object) -> None:
    """Ignore progress."""


def keep_going() -> bool:
    """Do not stop."""
    return False
