"""The summary of a training run, as text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cli.errors import in_one_line
from cli.terminal import display, output
from difflogic.system.files import for_shell

TRIAL_SHARE = 0.25
"""Share of an experiment's epochs below which a run counts as a trial."""
AROUND = {"start": "start-up", "compilation": "compilation", "tests": "final tests", "all": "all"}
"""Names of the seconds of a run outside of its training, and of the whole run."""
OF_ONE_RUN = ("training.epochs", "training.seed", "parallel.", "run.")
"""Beginnings of settings that differ between runs of one experiment."""


def render(
    summary: Mapping[str, Any], directory: str, custom_task: bool = False, quiet: bool = False
) -> str:
    """Return the summary as text: seconds per phase unless `quiet`, scores, and next commands.

    With `custom_task` the task is the user's own code: the commands need --allow-code.
    """
    scores, right, proof = summary["scores"], None, None
    if "right_pairs" in scores:
        from difflogic.examples.pairs import right_in_words

        right = right_in_words(scores["right_pairs"])
    if "assurance" in scores:
        proof = assurance(scores["assurance"], scores["checked"]["exact"], directory, None)
    return output.page(
        "report",
        summary=summary,
        quiet=quiet,
        phases=display.PHASE_NAMES,
        around=AROUND,
        loss=display.loss,
        percent=display.percent,
        right=right,
        proof=proof,
        directory=directory,
        shown=in_one_line(directory),
        quoted=for_shell,
        path=for_shell(directory),
        allow=" --allow-code" if custom_task else "",
        full_experiment=_full_experiment,
    )


def assurance(found: Mapping[str, Any], exact: bool, source: str | Path, task: str | None) -> str:
    """Say what is proved about a circuit, or that it is right on samples."""
    text = going_on(found["text"], source, task)
    return f"right on samples; {text}" if exact and found["verdict"] == "open" else text


def going_on(text: str, source: str | Path, task: str | None = None) -> str:
    """Return a verdict with the whole command that goes on with an open proof."""
    named = "" if task is None else f" --task {for_shell(task)}"
    return text.replace(
        "convergence --time-limit", f"convergence {for_shell(source)}{named} --time-limit 600"
    )


def _full_experiment(summary: Mapping[str, Any], directory: str) -> str | None:
    """Return the shipped experiment if the run was a small or short version of one."""
    from difflogic.config import load_config, shipped_configs
    from difflogic.system.errors import ConfigError
    from difflogic.training.resuming import changed

    name = summary["experiment"].removesuffix("-small")
    if name not in shipped_configs():
        return None
    if summary.get("start") and name != summary["experiment"]:
        return None  # the run's start is too small for the full circuit
    short = summary["epochs_requested"] < TRIAL_SHARE * load_config(name).training.epochs
    if not short and name == summary["experiment"]:
        return None
    try:
        sources = summary["experiment"], f"{directory}/config.toml"
        found = changed(*map(load_config, sources))
    except ConfigError:
        return None  # the user's own task of the same name
    return name if all(key.startswith(OF_ONE_RUN) for key in found) else None
