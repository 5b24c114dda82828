"""Settings for all tests."""

import signal

from hypothesis import HealthCheck, settings

# A slow or busy machine must not fail tests.
settings.register_profile("dct", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dct")


def pytest_configure() -> None:
    """Handle SIGINT, which background jobs ignore: processes that tests start inherit this."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
