"""What to do next with a run: `advise`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difflogic.run.run_directory import RunDirectory
from difflogic.system.files import for_shell


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
    path = for_shell(directory)
    allow = " --allow-code" if allow_code else ""
    resume = f"dct train --resume {path}{allow}"
    checked = summary["scores"]["checked"]
    if summary["interrupted"]:
        return Advice("Interrupted: resume this run", (resume,))
    if checked["exact"]:
        if "right_pairs" in summary["scores"]:
            uses = f"dct apply {path} FILE", f"dct simplify {path} -o FILE"
            return Advice("Right: apply the rule to other grids, or simplify it", uses)
        look = f"dct eval {path}{allow}", f"dct inspect {path}"
        return Advice("Exact: run all tests, or look at the circuit", look)
    found = summary["scores"].get("assurance", {})
    reason = "Not exact yet"
    if found.get("verdict") == "proved" and (found.get("from_step") or 0) > checked["step"]:
        reason = f"Too late: right from step {found['from_step']}, not from step {checked['step']}"
    train = f"dct train {for_shell(run.config)} --seed {(summary['seed'] + 1) % 2**63}"
    if summary.get("start"):  # from another start it would be another experiment
        train += f" --from {for_shell(run.start)}"
    longer = f"{resume} --epochs {2 * summary['epochs_requested']}"
    return Advice(f"{reason}: resume this run, or try another seed", (longer, train))
