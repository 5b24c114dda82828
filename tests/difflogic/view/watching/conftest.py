"""Feeds look at their runs each time that they are asked."""

import pytest

from difflogic.view.watching import feed


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(feed, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(feed, "SHARE", 0)
