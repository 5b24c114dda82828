"""Settings for all tests."""

import signal

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
