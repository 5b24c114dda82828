"""What happened in a run, in words: the same at the terminal, in a log, a list and a report.

And what to do with it next: `advise`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from difflogic.evaluation.scores import Scores
from difflogic.run.run_directory import RunDirectory
from difflogic.run.summary import Seconds, Summary
from difflogic.system.files import for_shell
from difflogic.system.quantities import counted

PHASE_NAMES = {"hard": "hard evaluation", "finish": "search", "checkpoint": "saving"}
ON_PAIRS = "right on its pairs"
"""The verdict on a rule learned from examples: on other grids, nothing is proved."""
MOST_PHASES = 3


def verdict(scores: Scores) -> str:
    """Return the word for what is known of a finished run's circuit, by its scores."""
    proved = scores.assurance.verdict == "proved"
    if scores.checked.exact and scores.right_pairs:
        right, total = scores.right_pairs["training"]
        return ON_PAIRS if right == total else "not exact"
    if scores.checked.exact:
        return "proved" if proved else "exact"
    return "late" if proved else "not exact"


def answer(summary: Summary) -> str:
    """Return a run's result in a line: what is known of its circuit, gates, and seconds."""
    known = "interrupted" if summary.interrupted else verdict(summary.scores)
    gates = counted(summary.scores.checked.active_gates, "active gate")
    return f"{known}: {gates}, in {summary.seconds.all:.1f} s"


def story(summary: Summary, proof: str | None = None) -> dict[str, str]:
    """Return the parts of a run in order, each with its result and its circuit.

    `proof` replaces the verdict's own words.
    """
    scores = summary.scores
    learned = scores.best_accuracy
    polished = summary.polished
    attempts = summary.attempts
    found: dict[str, str] = {}
    if learned is not None:
        goal = f"{'all' if learned == 1 else percent(learned) + ' of'} its samples' bits"
        found["learned"] = f"gradient descent got {goal} right at epoch {scores.best_epoch}"
        if attempts and attempts.begun > 1:
            found["learned"] += f", in attempt {attempts.result} of {attempts.begun}"
    if scores.checked.exact:
        found["searched"] = _searched(summary)
    if polished:
        before, after = polished.gates
        found["polished"] = f"random changes left {after} of {before} active gates"
        steps = dict.fromkeys(polished.from_step or ())
        if len(steps) > 1:
            found["polished"] += ", right from step {} → {} on".format(*steps)
    found["tested"] = _tested(scores)
    if scores.right_pairs:
        from difflogic.examples.pairs import right_in_words  # imports NumPy

        found["examples"] = right_in_words(scores.right_pairs)
    found["proof"] = proof or scores.assurance.text
    return found


def _searched(summary: Summary) -> str:
    """Say where an exact circuit comes from."""
    corrected = summary.corrected
    at = f" at epoch {summary.exact_epoch}" if summary.exact_epoch else ""
    learned = summary.scores.accuracy == 1 or not summary.searched
    if learned and not (corrected and corrected.bits):
        return f"the learned circuit was found exact{at}"
    if corrected:
        gates = counted(corrected.gates, "gate")
        bits = counted(corrected.bits, "wrong bit")
        return f"{gates} from the table of {bits} made the circuit exact{at}"
    return f"a search from the learned circuit found an exact one{at}"


def _tested(scores: Scores) -> str:
    """Say how many cells of the run's circuit are wrong."""
    checked = scores.checked
    text = f"{checked.wrong_cells} of {checked.cells} cells wrong at step {checked.step}"
    if checked.later_step is not None:
        text += f", {checked.wrong_cells_later} at step {checked.later_step}"
    text += f", from {checked.tested}"
    if scores.exactness is None:
        return text
    for each in scores.exactness.counts:
        text += f"; {each.name} of {each.height}×{each.width} cells, step {each.step}: "
        text += f"{each.wrong_cells} of {each.cells} wrong"
    first = scores.exactness.first_wrong_step
    return text if first is None else f"{text}, the first at step {first}"


def time_by_part(seconds: Seconds) -> dict[str, float]:
    """Return a run's seconds by part.

    Kernels are compiled at the start, or while a search waits for them. Other ways are those to
    learn from examples that did not win.
    """
    parts = {
        **by_phase(seconds.phases),
        "start-up": seconds.start + seconds.compilation,
        "tests": seconds.tests,
    }
    return parts if seconds.others is None else {**parts, "other ways": seconds.others}


def by_phase(phases: Mapping[str, float]) -> dict[str, float]:
    """Return the seconds of training, and of its searches."""
    search = phases.get("finish", 0.0)
    return {"training": sum(phases.values()) - search, "search": search}


def in_training(phases: Mapping[str, float], most: int = MOST_PHASES) -> str:
    """Return the shares of training's longest phases, the longest first."""
    spent = {PHASE_NAMES.get(key, key): each for key, each in phases.items() if key != "finish"}
    total = sum(spent.values()) or 1.0
    names = sorted(spent, key=spent.__getitem__, reverse=True)
    shares = {name: 100 * spent[name] / total for name in names[:most]}
    return ", ".join(f"{name} {share:.0f} %" for name, share in shares.items() if share >= 1)


def percent(share: float | None) -> str:
    """Format a share between 0 and 1; 100 % only if it is exactly all."""
    if share is None:
        return "-"
    return "100 %" if share == 1 else f"{min(100 * share, 99.99):.2f} %"


@dataclass(frozen=True)
class Advice:
    """A reason, and the commands that follow from it."""

    reason: str
    commands: tuple[str, ...]


def advise(summary: Summary, directory: str, allow_code: bool = False) -> Advice:
    """Return what to do next with the run that a summary describes.

    With `allow_code` the task is the user's own code: the commands need --allow-code.
    """
    run = RunDirectory(Path(directory))
    path = for_shell(directory)
    allow = " --allow-code" if allow_code else ""
    resume = f"dct train --resume {path}{allow}"
    checked = summary.scores.checked
    if summary.interrupted:
        return Advice("Interrupted: resume this run", (resume,))
    if checked.exact:
        if summary.scores.right_pairs:
            uses = f"dct apply {path} FILE", f"dct simplify {path} -o FILE"
            return Advice("Right: apply the rule to other grids, or simplify it", uses)
        look = f"dct eval {path}{allow}", f"dct inspect {path}"
        return Advice("Exact: run all tests, or look at the circuit", look)
    found = summary.scores.assurance
    reason = "Not exact yet"
    if found.verdict == "proved" and (found.from_step or 0) > checked.step:
        reason = f"Too late: right from step {found.from_step}, not from step {checked.step}"
    train = f"dct train {for_shell(run.config)} --seed {(summary.seed + 1) % 2**63}"
    if summary.start:  # from another start it would be another experiment
        train += f" --from {for_shell(run.start)}"
    longer = f"{resume} --epochs {2 * summary.epochs_requested}"
    return Advice(f"{reason}: resume this run, or try another seed", (longer, train))
