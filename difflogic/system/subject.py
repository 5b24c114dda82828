"""What an error is about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from difflogic.system.errors import ConfigError


@contextmanager
def about(name: object) -> Iterator[None]:
    """Put the name of a file, or of another subject, before errors about its content."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from None
