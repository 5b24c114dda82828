"""Finding the directories of runs, and the models in them."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from difflogic.system.errors import RunDirectoryError
from difflogic.system.files import CONFIG, MODEL, open_plain, refused

ROOT = "runs"
LAST = "last"
"""Names the newest run under a root."""

_WRITTEN = re.compile(r"# written ([0-9T:.-]{19,26})Z")


def newest_run(root: str | Path = ROOT) -> Path:
    """Return the newest run under `root`. Raises RunDirectoryError without one."""
    found = runs_under(root)
    if not found:
        raise RunDirectoryError(f"{root}: has no run: name a run's directory instead of {LAST}")
    return found[-1]


def saved_model(path: Path, root: str | Path = ROOT) -> Path:
    """Return the model file of the run directory `path`, or `path` itself if it is a file.

    "last" is the newest run under `root`. Raises RunDirectoryError if a run has not saved yet.
    """
    if str(path) == LAST and not path.exists():
        path = newest_run(root)
    if not path.is_dir():
        return path
    if not (path / MODEL).exists():
        raise RunDirectoryError(
            f"{path}: holds no {MODEL}: name the directory of a run that has saved, or a file"
        )
    if (path / MODEL).is_symlink():
        raise RunDirectoryError(
            f"{path / MODEL}: is a link, and links in runs are not followed: name the file"
        )
    return path / MODEL


def runs_under(root: str | Path) -> list[Path]:
    """Return the runs under `root`, the last begun or extended at the end."""
    found = []
    try:
        for run in Path(root).iterdir():
            # A pipe or an unreadable directory does not hide the other runs.
            if os.path.isfile(path := run / CONFIG):
                found.append((begun(run), _changed(path), run))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise refused(Path(root), "searched", error) from error
    return [path for *_, path in sorted(found)]


def begun(run: Path) -> datetime:
    """Return when a run was last begun or extended, in UTC.

    Reads it from config.toml; without a valid time there, uses the time of that file, but none in
    the future. Raises OSError.
    """
    with open_plain(run / CONFIG, follow=False) as file:
        written = _WRITTEN.match(file.read(100).decode(errors="replace"))
    with suppress(ValueError, OverflowError):
        if written is not None:
            return datetime.fromisoformat(written[1]).replace(tzinfo=UTC)
    return _changed(run / CONFIG)


def _changed(path: Path) -> datetime:
    now = datetime.now(UTC)
    try:
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (ValueError, OverflowError):  # a year out of range
        return now
    return min(changed, now)
