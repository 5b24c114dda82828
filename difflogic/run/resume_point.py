"""Where a run continues: its latest usable checkpoint, and the metrics until then."""

from __future__ import annotations

from pathlib import Path

from difflogic.config import Config, config_from_dict
from difflogic.run.checkpoint import Checkpoint, CheckpointError, State, made_with, read_checkpoint
from difflogic.run.metrics import History, read_metrics
from difflogic.run.run_directory import RunDirectory
from difflogic.run.settings import differing
from difflogic.system.errors import ConfigError, RunDirectoryError
from difflogic.system.files import for_shell, kind_of
from difflogic.system.work import say


def find_resume_point(
    run: RunDirectory, config: Config, template: State
) -> tuple[Checkpoint, History] | None:
    """Return the latest usable checkpoint and the metrics up to it.

    `template` has the names, shapes and types of the trainer's state. Skips a checkpoint that is
    damaged or foreign, and says so. The checkpoint alone tells where the run stands: of damaged
    metrics, the rows before the damage are kept. Returns None if the run has neither checkpoints
    nor results. Raises RunDirectoryError if no checkpoint is usable, if a newer program wrote one,
    or for the metrics of another run; UnreadableError for what cannot be read.
    """
    problems: list[str] = []
    for path in run.checkpoints:
        try:
            checkpoint = _read(path, config, template)
        except CheckpointError as error:
            problems.append(str(error))
            continue
        for problem in problems:
            say(f"warning: {problem}: went back to {path.name}")
        _note_other_origin(checkpoint, config.parallel.device)
        return checkpoint, _covered(run, checkpoint)
    if not (problems or kind_of(run.model) or kind_of(run.summary)):  # written after an epoch
        return None
    listed = "\n  ".join(problems or ["there is no checkpoint in it"])
    kept = config.run.start_sha256 is not None
    source = f" --from {for_shell(run.start)}" if kept else ""
    raise RunDirectoryError(
        f"{run.path}: cannot be resumed:\n  {listed}\nStart the run again with: "
        f"dct train {for_shell(run.config)}{source}"
    )


def _read(path: Path, config: Config, template: State) -> Checkpoint:
    checkpoint = read_checkpoint(path, template)
    try:
        changes = differing(config_from_dict(checkpoint.config, str(path)), config)
    except ConfigError as error:
        raise CheckpointError(f"{path}: its configuration is damaged: {error}") from None
    if changes:
        raise CheckpointError(f"{path}: is of another run: {', '.join(changes)}")
    return checkpoint


def _covered(run: RunDirectory, checkpoint: Checkpoint) -> History:
    """Return the metrics up to a checkpoint, as far as they are good."""
    history, problem = read_metrics(run, checkpoint.epoch)
    if problem is not None:
        say(f"warning: {problem}: the run goes on without the rows that are lost")
    elif checkpoint.history not in ("", history.digest):
        raise RunDirectoryError(
            f"{run.metrics}: is of another run: put back this run's own, or remove it"
        )
    return history


def _note_other_origin(checkpoint: Checkpoint, device: str) -> None:
    """Report if other libraries or another device may round the last bits differently."""
    others = [
        f"{name} {checkpoint.made_with.get(name, 'unknown')} (now {value})"
        for name, value in made_with(device).items()
        if checkpoint.made_with.get(name) != value
    ]
    if others:
        say(
            f"note: until here this run was computed with {', '.join(others)}: it continues, "
            "but may not end in the same bits"
        )
