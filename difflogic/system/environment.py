"""Variables of the environment that libraries read when they are imported."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from difflogic.system.errors import ConfigError


@contextmanager
def environment_of(library: str, *prefixes: str) -> Iterator[None]:
    """Blame the environment's variables that begin so for a value that a library refuses in it.

    Raises ConfigError.
    """
    try:
        yield
    except ValueError as error:
        names = sorted(name for name in os.environ if name.startswith(prefixes))
        if not names:
            raise
        raise ConfigError(
            f"{library} refuses the environment variable {' or '.join(names)}: {error}: change it"
        ) from None
