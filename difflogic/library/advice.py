"""What to do next with a run: `advise`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difflogic.config import load_config, shipped_configs
from difflogic.run.run_directory import RunDirectory
from difflogic.run.settings import changed
from difflogic.system.errors import ConfigError
from difflogic.system.files import for_shell

TRIAL_SHARE = 0.25
"""Share of an experiment's epochs below which a run counts as a trial."""
OF_ONE_RUN = ("training.epochs", "training.seed", "parallel.", "run.")
"""Beginnings of settings that differ between runs of one experiment."""


@dataclass(frozen=True)
class Advice:
    """A reason, and the commands that follow from it."""

    reason: str
    commands: tuple[str, ...]


def advise(summary: Mapping[str, Any], directory: str, allow_code: bool = False) -> Advice:
    """Return what to do next with the run that a summary describes.

    With `allow_code` the task is the user's own code: the commands need --allow-code.
    """
    run = RunDirectory(Path(directory))
    path, allow = for_shell(directory), " --allow-code" if allow_code else ""
    resume, checked = f"dct train --resume {path}{allow}", summary["scores"]["checked"]
    if summary["interrupted"]:
        return Advice("Interrupted: resume this run", (resume,))
    if checked["exact"]:
        look = f"dct eval {path}{allow}", f"dct inspect {path}"
        return Advice("Exact: run all tests, or look at the circuit", look)
    found, reason = summary["scores"].get("assurance", {}), "Not exact yet"
    if found.get("verdict") == "proved" and (found.get("from_step") or 0) > checked["step"]:
        reason = f"Too late: right from step {found['from_step']}, not from step {checked['step']}"
    full = full_experiment(summary, directory)
    another = "train the full experiment" if full else "try another seed"
    train = f"dct train {full or for_shell(run.config)}"
    train += f" --seed {summary['seed'] + (0 if full else 1)}"
    if summary.get("start"):  # from another start it would be another experiment
        train += f" --from {for_shell(run.start)}"
    longer = f"{resume} --epochs {2 * summary['epochs_requested']}"
    return Advice(f"{reason}: resume this run, or {another}", (longer, train))


def full_experiment(summary: Mapping[str, Any], directory: str) -> str | None:
    """Return the shipped experiment if the run was a small or short version of one."""
    name = summary["experiment"].removesuffix("-small")
    if name not in shipped_configs():
        return None
    if summary.get("start") and name != summary["experiment"]:
        return None  # the run's start is too small for the full circuit
    short = summary["epochs_requested"] < TRIAL_SHARE * load_config(name).training.epochs
    if not short and name == summary["experiment"]:
        return None
    try:
        settings = str(RunDirectory(Path(directory)).config)
        found = changed(*map(load_config, (summary["experiment"], settings)))
    except ConfigError:
        return None  # the user's own task of the same name
    return name if all(key.startswith(OF_ONE_RUN) for key in found) else None
