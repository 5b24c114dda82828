"""Settings for all tests."""

import signal

import pytest
from hypothesis import HealthCheck, settings

# Everybody tries the same examples, whether or not hypothesis finds signs of a CI service or has
# kept failures of earlier runs. A slow or busy machine must not fail tests.
settings.register_profile(
    "fixed",
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# `make exhaustive` draws, with seeds that it prints.
settings.register_profile("drawn", settings.get_profile("fixed"), derandomize=False)
settings.load_profile("fixed")


def pytest_configure() -> None:
    """Handle SIGINT, which background jobs ignore: processes that tests start inherit this."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the modules of slow tests: one at the end would keep one core waiting."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
