"""The summary of a training run, as text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cli.failures import in_one_line
from cli.terminal import output
from difflogic.evaluation.scores import ProofEntries, Scores
from difflogic.run.story import PHASE_NAMES, answer, in_training, story, time_by_part
from difflogic.run.summary import Seconds, Summary
from difflogic.system.files import for_shell

PART_NAMES = {
    "start": "start-up",
    "compilation": "compilation",
    "tests": "final tests",
    "others": "other ways",
    "all": "all",
    "processor": "processor",
}
"""Names of the seconds of a run outside of its training, and of the whole run."""
BAR_CHARACTERS = 48
"""Characters of the bar of shares."""
SHADES = {"training": "█", "search": "▓", "start-up": "▒", "tests": "░", "other ways": "·"}


def render(
    summary: Summary,
    directory: str,
    custom_task: bool = False,
    time: bool = True,
    table: bool = False,
    usable: bool = True,
) -> str:
    """Return the summary as text: `time` by part, the run's story, its answer, next commands.

    `table` adds the seconds of all phases. Only what is `usable` has next commands. With
    `custom_task` the task is the user's own code: the commands need --allow-code.
    """
    from difflogic.run.story import advise

    scores = summary.scores
    proof = assurance(scores.assurance, scores.checked.exact, directory, None)
    told = story(summary, beyond_examples(proof, scores))
    return output.page(
        "report",
        rows=_phases(summary) if table else (),
        around={name: getattr(summary.seconds, part) for part, name in PART_NAMES.items()},
        lines=({"time": time_in_lines(summary.seconds)} if time else {}) | told,
        answer=answer(summary),
        shown=in_one_line(directory),
        advice=usable and advise(summary, directory, custom_task),
    )


def _phases(summary: Summary) -> list[tuple[str, float, float, float]]:
    """Return seconds, percent of training, and milliseconds of an epoch, for each phase and all."""
    whole = summary.seconds.training
    spent = summary.seconds.phases | {"training": whole}
    epochs = max(summary.epochs, 1)
    return [
        (PHASE_NAMES.get(name, name), each, 100 * each / (whole or 1.0), 1000 * each / epochs)
        for name, each in spent.items()
    ]


def time_in_lines(seconds: Seconds) -> str:
    """Return a run's time in three lines: a bar of shares, its legend, and the longest phases."""
    parts = time_by_part(seconds)
    legend = "  ".join(f"{SHADES[name]} {name} {spent:.1f} s" for name, spent in parts.items())
    work = f"training: {in_training(seconds.phases)}; {seconds.processor:.1f} CPU seconds"
    return f"{shares(parts)}  {seconds.all:.1f} s\n{legend}\n{work}"


def shares(parts: Mapping[str, float]) -> str:
    """Return a bar of `BAR_CHARACTERS` characters, with a part's shade for its share."""
    total = sum(parts.values()) or 1.0
    spent = 0.0
    text = ""
    for name, each in parts.items():
        spent += each
        text += SHADES[name] * (round(BAR_CHARACTERS * spent / total) - len(text))
    return text


def assurance(found: ProofEntries, exact: bool, source: str | Path, task: str | None) -> str:
    """Say what is proved about a circuit, or that it is right on samples."""
    text = going_on(found.text, source, task)
    return f"right on samples; {text}" if exact and found.verdict == "open" else text


def beyond_examples(proof: str, scores: Scores) -> str:
    """Add to a verdict what is known of other grids than those of examples."""
    if scores.right_pairs is None:
        return proof
    longer = f"; {scores.padded.text}" if scores.padded else ""
    return f"{proof}{longer}; other grids are not proved"


def going_on(text: str, source: str | Path, task: str | None = None) -> str:
    """Return a verdict with the whole command that goes on with an open proof."""
    named = "" if task is None else f" --task {for_shell(task)}"
    return text.replace(
        "convergence --time-limit", f"convergence {for_shell(source)}{named} --time-limit 600"
    )
