"""What the library's functions share: callbacks, overrides, and output files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from difflogic.system.declaration import Opt
from difflogic.system.errors import ConfigError
from difflogic.system.files import check_output, write_whole

if TYPE_CHECKING:
    from difflogic.config import Override

    Changes = Sequence[str | Override]
else:  # an option has texts only
    Changes = Sequence[str]

ShouldStop = Callable[[], bool]
"""Asks whether to stop; the work then keeps its partial results."""
Set = Annotated[
    Changes, Opt("Override a configuration value; repeatable", "SECTION.KEY=VALUE", names="--set")
]


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
