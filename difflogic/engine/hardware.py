"""The machine that work is planned for: this one, or one that the user describes."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from difflogic.system import machine, memory
from difflogic.system.errors import ConfigError, did_you_mean
from difflogic.system.quantities import parse_bytes

MOST_CORES = 1024


@dataclass(frozen=True)
class Hardware:
    """The properties of a machine that a plan depends on. Sizes are in bytes."""

    cores: int
    """Workers that can run at once."""
    memory: int | None = None
    """Memory that is available without swapping; None if unknown."""
    described: bool = False
    """Whether the user described this machine."""

    @classmethod
    def here(cls) -> Hardware:
        """Return this machine within the limits of this process."""
        return cls(cores=machine.cpu_count(), memory=memory.available_memory())

    @classmethod
    def parse(cls, text: str) -> Hardware:
        """Return this machine with the changes in `text`, such as cores=64,memory=256GB.

        Raises ConfigError.
        """
        changes: dict[str, Any] = {}
        for part in text.split(","):
            key, equals, value = (word.strip() for word in part.partition("="))
            if not equals:
                raise ConfigError(f'machine "{text}": "{part}" is not KEY=VALUE, such as cores=64')
            if key not in _READERS:
                raise ConfigError(f'machine "{text}": no "{key}": {did_you_mean(key, _READERS)}')
            if key in changes:
                raise ConfigError(f'machine "{text}": {key} is given twice')
            try:
                changes[key] = _READERS[key](value)
            except ConfigError as error:
                raise ConfigError(f'machine "{text}": {key}: {error}') from None
        return replace(cls.here(), **changes, described=True)


def _whole_number(most: int) -> Any:
    def read(value: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", value) or not 1 <= int(value) <= most:
            raise ConfigError(f'"{value}" is not a whole number from 1 to {most}')
        return int(value)

    return read


_READERS = {"cores": _whole_number(MOST_CORES), "memory": parse_bytes}
