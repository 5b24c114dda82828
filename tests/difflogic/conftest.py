"""Fixtures of the library's tests."""

from __future__ import annotations

import pytest

from tests.difflogic.view.reports.browser import chromium


@pytest.fixture(scope="session")
def window():
    """The one browser of all tests that need one."""
    with chromium() as browser:
        yield browser
