"""What holds for all tests."""

import signal

from hypothesis import settings

# A slow or busy machine is no failure.
settings.register_profile("dct", deadline=None)
settings.load_profile("dct")


def pytest_configure() -> None:
    """Take SIGINT, which a script's background job ignores: all that tests start inherits it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
