"""What the library's functions share: asking whether to stop, and output files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from difflogic.system.errors import ConfigError
from difflogic.system.files import check_output, write_whole

ShouldStop = Callable[[], bool]
"""Asks whether to stop; the work then keeps its partial results."""


def require_output(file: str | Path, suffixes: str | tuple[str, ...], force: bool = False) -> Path:
    """Return a file's path. Raises ConfigError or RunDirectoryError unless it may be written."""
    path = Path(file)
    allowed = (suffixes,) if isinstance(suffixes, str) else suffixes
    if path.suffix not in allowed:
        raise ConfigError(f"{file}: the file name must end in {', '.join(allowed)}")
    check_output(path, force)
    return path


def write_output(file: str | Path, content: str | bytes, force: bool = False) -> None:
    """Write a file. Raises RunDirectoryError if it cannot, or if it exists without `force`."""
    data = content.encode() if isinstance(content, str) else content
    check_output(Path(file), force)
    write_whole(Path(file), lambda out: out.write(data))
