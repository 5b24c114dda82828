"""The summary of a training run, as text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cli.failures import in_one_line
from cli.terminal import display, output
from difflogic.system.files import for_shell

AROUND = {"start": "start-up", "compilation": "compilation", "tests": "final tests", "all": "all"}
"""Names of the seconds of a run outside of its training, and of the whole run."""


def render(
    summary: Mapping[str, Any], directory: str, custom_task: bool = False, quiet: bool = False
) -> str:
    """Return the summary as text: seconds per phase unless `quiet`, scores, and next commands.

    With `custom_task` the task is the user's own code: the commands need --allow-code.
    """
    from difflogic.library.advice import advise

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
        shown=in_one_line(directory),
        advice=advise(summary, directory, custom_task),
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
