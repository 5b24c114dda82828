"""What an error is about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from difflogic.system.errors import CircuitError, ConfigError


@contextmanager
def about(name: object) -> Iterator[None]:
    """Put the name of a file, or of another subject, before errors about its content."""
    try:
        yield
    except (ConfigError, CircuitError) as error:
        raise type(error)(f"{name}: {error}") from None
