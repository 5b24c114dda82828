"""Fixtures of the library's tests."""

import pytest

from tests.difflogic.view.reports.browser import chromium


@pytest.fixture(scope="session")
def window():
    """The one browser of all tests that need one."""
    with chromium() as browser:
        yield browser
