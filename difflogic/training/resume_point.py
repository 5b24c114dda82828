"""Where a stopped run resumes: at its latest checkpoint that is whole and its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from difflogic.config import Config, config_from_dict
from difflogic.system.errors import ConfigError, RunDirectoryError
from difflogic.system.files import for_shell
from difflogic.training.checkpoint import (
    Checkpoint,
    CheckpointError,
    State,
    checkpoints,
    made_with,
    read_checkpoint,
)
from difflogic.training.compatibility import differing
from difflogic.training.metrics import History
from difflogic.training.run_directory import CONFIG, START, RunDirectory


@dataclass(frozen=True)
class ResumePoint:
    """A checkpoint, and the metrics of all epochs until then."""

    checkpoint: Checkpoint
    history: History


def find_resume_point(
    run: RunDirectory, config: Config, template: State, say: Callable[[str], None]
) -> ResumePoint | None:
    """Return the latest usable one, or None if the run has neither checkpoints nor results.

    `template` has the names, shapes and types of the trainer's state. A checkpoint that is
    damaged, foreign, or not covered by metrics.csv is skipped, and `say` is told. Raises
    RunDirectoryError if none is usable, and for one of a newer program.
    """
    problems: list[str] = []
    for path in checkpoints(run.path):
        try:
            found = _read(path, run, config, template)
        except CheckpointError as error:
            problems.append(str(error))
            continue
        for problem in problems:
            say(f"warning: {problem}: went back to {path.name}")
        _tell_of_another_origin(found.checkpoint, say)
        return found
    if not problems and not run.has_results:
        return None
    listed = "\n  ".join(problems or ["there is no checkpoint in it"])
    kept = config.run.start_sha256 is not None
    source = f" --from {for_shell(run.path / START)}" if kept else ""
    raise RunDirectoryError(
        f"{run.path}: cannot be resumed:\n  {listed}\nStart the run again with: "
        f"dct train {for_shell(run.path / CONFIG)}{source}"
    )


def _read(path: Path, run: RunDirectory, config: Config, template: State) -> ResumePoint:
    checkpoint = read_checkpoint(path, template)
    try:
        stored = config_from_dict(checkpoint.config, str(path))
        changes = differing(stored, config)
        if changes:
            raise CheckpointError(f"{path}: is of another run: {', '.join(changes)}")
        history = run.read_metrics(checkpoint.epoch)
    except ConfigError as error:
        raise CheckpointError(f"{path}: its configuration is damaged: {error}") from None
    except CheckpointError:
        raise
    except RunDirectoryError as error:
        raise CheckpointError(f"{path}: cannot be used, since {error}") from None
    return ResumePoint(checkpoint, history)


def _tell_of_another_origin(checkpoint: Checkpoint, say: Callable[[str], None]) -> None:
    """Report if other libraries or another processor may round the last bits differently."""
    now = made_with()
    others = [
        f"{name} {checkpoint.made_with.get(name)} (now {value})"
        for name, value in now.items()
        if checkpoint.made_with.get(name) != value
    ]
    if others:
        say(
            f"note: until here this run was computed with {', '.join(others)}: it continues, "
            "but may not end in the same bits"
        )
