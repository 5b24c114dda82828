"""Files that the library writes: what they may be called, and how they are written."""

from __future__ import annotations

from pathlib import Path

from difflogic.system.errors import ConfigError
from difflogic.system.files import check_output, write_whole


def require_output(file: str | Path, suffixes: str | tuple[str, ...], force: bool = False) -> Path:
    """Return a file's path. Raises ConfigError or RunDirectoryError unless it may be written."""
    path, allowed = Path(file), (suffixes,) if isinstance(suffixes, str) else suffixes
    if path.suffix not in allowed:
        raise ConfigError(f"{file}: the file name must end in {', '.join(allowed)}")
    check_output(path, force)
    return path


def write_output(file: str | Path, content: str | bytes, force: bool = False) -> None:
    """Write a file. Raises RunDirectoryError if it exists, unless `force`, or is refused."""
    data = content.encode() if isinstance(content, str) else content
    check_output(Path(file), force)
    write_whole(Path(file), lambda out: out.write(data))
