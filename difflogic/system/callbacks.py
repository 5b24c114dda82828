"""Callbacks that do nothing: defaults of optional parameters."""

from __future__ import annotations


def ignore(*news: object) -> None:
    """Ignore progress."""


def never_stop() -> bool:
    """Do not stop."""
    return False
