"""The machine that work is planned for: this one, or one that the user describes."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from difflogic.system import machine, memory
from difflogic.system.errors import ConfigError, did_you_mean
from difflogic.system.jit.processor import AVX, AVX512, NEON, SSE, registers
from difflogic.system.quantities import parse_bytes

USUAL_L2 = 1 << 20
"""Bytes of the second-level cache, if the system does not tell."""

MOST_CORES = 1024
VECTORS = {"avx512": AVX512.width, "avx": AVX.width, "neon": NEON.width, "sse": SSE.width}


@dataclass(frozen=True)
class Machine:
    """The properties of a machine that a plan depends on. Sizes are in bytes."""

    cores: int
    """Workers that can run at once."""
    l2: int = USUAL_L2
    """Second-level cache of a core."""
    memory: int | None = None
    """Memory that is available without swapping; None if unknown."""
    vector: int = 64
    """Widest vector register."""
    described: bool = False
    """Whether the user described this machine."""

    @classmethod
    def here(cls) -> Machine:
        """Return this machine within the limits of this process."""
        return cls(
            cores=machine.cpu_count(),
            l2=machine.cache_bytes(2) or USUAL_L2,
            memory=memory.available_memory(),
            vector=registers().width,
        )

    @classmethod
    def parse(cls, text: str) -> Machine:
        """Return this machine with the changes in `text`, such as cores=64,l2=1MB,memory=256GB.

        Another key is vector (avx512, avx, neon or sse). Raises ConfigError.
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


def _vector(value: str) -> int:
    if value not in VECTORS:
        raise ConfigError(f'no "{value}": {did_you_mean(value, VECTORS)}')
    return VECTORS[value]


_READERS = {
    "cores": _whole_number(MOST_CORES),
    "l2": parse_bytes,
    "memory": parse_bytes,
    "vector": _vector,
}
