"""The directory of one run: made new, never overwritten, its files whole or not there."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from difflogic.config import Config
from difflogic.errors import RunDirectoryError
from difflogic.files import refused, write_whole
from difflogic.model import Model
from difflogic.training.metrics import MetricsRow, to_csv


def run_name(config: Config) -> str:
    """Return the part of a run directory's name that tells the experiment and its seed."""
    return f"{config.name}-seed{config.training.seed}"


@dataclass(frozen=True)
class RunDirectory:
    """What a run leaves behind: config.toml, metrics.csv, model.npz and summary.json."""

    path: Path

    @classmethod
    def create(
        cls,
        root: str | Path = "runs",
        name: str = "run",
        requested: Path | None = None,
        now: datetime | None = None,
    ) -> RunDirectory:
        """Make `requested`, or else a new directory ``<root>/<date>-<time>-<name>[-2…]``.

        `now` is the local time by default. Raises RunDirectoryError if `requested` is a file
        or a directory that holds something, and if the directory cannot be made.
        """
        if requested is not None:
            return cls(_claim(Path(requested)))
        stamp = (now or datetime.now()).strftime("%Y%m%d-%H%M%S")
        return cls(_make_new(Path(root), f"{stamp}-{name}"))

    def write_config(self, config: Config) -> Path:
        """Write the resolved configuration to config.toml."""
        return self._write("config.toml", config.to_toml())

    def write_metrics(self, rows: Iterable[MetricsRow]) -> Path:
        """Write metrics.csv anew, with all `rows`."""
        return self._write("metrics.csv", to_csv(rows))

    def write_model(self, model: Model) -> Path:
        """Write the model to model.npz."""
        path = self.path / "model.npz"
        model.save(path)
        return path

    def write_summary(self, summary: Mapping[str, Any]) -> Path:
        """Write summary.json; NumPy's numbers and paths become plain, NaN and infinity null."""
        text = json.dumps(_plain(summary), indent=2, ensure_ascii=False, allow_nan=False)
        return self._write("summary.json", text + "\n")

    def _write(self, name: str, text: str) -> Path:
        path = self.path / name
        write_whole(path, lambda file: file.write(text.encode()))
        return path


def _claim(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
        holds_something = any(path.iterdir())
    except FileExistsError:
        raise RunDirectoryError(
            f"{path}: is a file, not a directory: name a directory that is new or empty"
        ) from None
    except OSError as error:
        raise refused(path, "used as run directory", error) from error
    if holds_something:
        raise RunDirectoryError(
            f"{path}: is not empty, and a run is never overwritten: name a directory that is "
            "new or empty"
        )
    return path


def _make_new(root: Path, name: str) -> Path:
    try:
        root.mkdir(parents=True, exist_ok=True)
        path, number = root / name, 1
        while not _make(path):  # an earlier run of this second has it, or one beside this one
            number += 1
            path = root / f"{name}-{number}"
    except FileExistsError:
        raise RunDirectoryError(
            f"{root}: is a file, where the directory of all runs should be: move it away, or name "
            "a run directory"
        ) from None
    except OSError as error:
        raise refused(root / name, "created", error) from error
    return path


def _make(path: Path) -> bool:
    """Make a directory; False if the name is taken."""
    try:
        path.mkdir()
    except FileExistsError:
        return False
    return True


def _plain(value: Any) -> Any:
    match value:
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case np.ndarray() | np.generic():
            return _plain(value.tolist())
        case float() if not math.isfinite(value):
            return None
        case Path():
            return str(value)
        case _:
            return value
