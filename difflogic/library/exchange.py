"""What the library's functions share: progress, output files, and tables for notebooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import count
from pathlib import Path
from typing import Any

from difflogic.system.errors import ConfigError
from difflogic.system.files import check_output, write_whole


@dataclass(frozen=True)
class Progress:
    """Progress of one part of the work."""

    what: str
    """What is counted, as in "outputs proved"."""
    done: int
    total: int | None = None
    """None if unknown."""
    remark: str = ""
    """What comes next, or came last."""


ProgressCallback = Callable[[Progress], None]
"""Is called again and again; whatever it raises cancels the work."""
ShouldStop = Callable[[], bool]
"""Asks whether to stop; the work then keeps its partial results."""
MessageCallback = Callable[[str], None]
"""Receives messages for people, a line at a time."""


def counter(
    progress: ProgressCallback, what: str, total: int | None = None
) -> Callable[[int], None]:
    """Report a part at 0; return a function to call with the number done."""
    progress(Progress(what, 0, total))
    return lambda done: progress(Progress(what, done, total))


def ticks(progress: ProgressCallback, what: str) -> Callable[[], None]:
    """Return a function to call after each of an unknown number of steps."""
    numbers = count(1)
    return lambda: progress(Progress(what, next(numbers)))


def require_output(file: str | Path, suffixes: str | tuple[str, ...], force: bool = False) -> Path:
    """Return a file's path. Raises ConfigError or RunDirectoryError unless it may be written."""
    path, allowed = Path(file), (suffixes,) if isinstance(suffixes, str) else suffixes
    if path.suffix not in allowed:
        raise ConfigError(f"{file}: the file name must end in {', '.join(allowed)}")
    check_output(path, force)
    return path


def write_output(file: str | Path, content: str | bytes, force: bool = False) -> None:
    """Write a file. Raises RunDirectoryError if it cannot, or if it exists without `force`."""
    data = content.encode() if isinstance(content, str) else content
    check_output(Path(file), force)
    write_whole(Path(file), lambda out: out.write(data))


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows with the same keys as an HTML table, with the keys as its head; None is empty."""
    head = "".join(f"<th>{escape(key)}</th>" for key in rows[0]) if rows else ""
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row.values()) + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return escape(f"{value:.4g}" if isinstance(value, float) else str(value))
