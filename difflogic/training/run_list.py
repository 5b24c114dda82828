"""The runs and sweeps under a directory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from difflogic.system.errors import DctError, RunDirectoryError
from difflogic.system.files import refused
from difflogic.training.checkpoint import checkpoints, epoch_of
from difflogic.training.run_directory import CONFIG, ROOT, RunDirectory, begun

SWEEP = "sweep.toml"


@dataclass(frozen=True)
class Listed:
    """One run or sweep; None stands for what is not known."""

    path: Path
    begun: datetime
    """When it was begun or last extended, in UTC."""
    experiment: str | None = None
    seed: int | None = None
    state: str = "damaged"
    """finished, stopped (or still running), damaged, or sweep."""
    epochs: int | None = None
    exact: bool | None = None
    active_gates: int | None = None
    seconds: float | None = None
    """Of training."""


def list_runs(root: str | Path = ROOT) -> list[Listed]:
    """Return the runs and sweeps under `root`, the one begun or extended last at the end.

    Damaged ones are listed as such. Raises RunDirectoryError if `root` cannot be read.
    """
    root = Path(root)
    try:
        places = sorted(root.iterdir())
    except FileNotFoundError:
        raise RunDirectoryError(f"{root}: no such directory: dct train NAME makes runs/") from None
    except OSError as error:
        raise refused(root, "searched", error) from error
    found = [listed for path in places for listed in _look(path)]
    return sorted(found, key=lambda listed: (listed.begun, listed.path))


def _look(path: Path) -> Iterator[Listed]:
    try:
        if (path / SWEEP).is_file():
            changed = datetime.fromtimestamp((path / SWEEP).stat().st_mtime, UTC)
            yield Listed(path, changed, state="sweep")
        elif (path / CONFIG).is_file():
            yield _run(path)
    except (OSError, ValueError, OverflowError):  # removed meanwhile, or not readable
        return


def _run(path: Path) -> Listed:
    when, run = begun(path), RunDirectory(path)
    try:
        summary = run.read_summary()
        if summary is not None:
            held_out = summary["scores"]["held_out"]
            return Listed(
                path,
                when,
                summary["experiment"],
                summary["seed"],
                "finished" if summary["finished"] else "stopped",
                summary["epochs"],
                held_out["exact"],
                held_out["active_gates"],
                summary["seconds"]["training"],
            )
        config = run.read_config()
        assert config is not None
    except DctError:
        return Listed(path, when)
    last = checkpoints(path)[:1]
    epochs = epoch_of(last[0]) if last else 0
    return Listed(path, when, config.name, config.training.seed, "stopped", epochs)
