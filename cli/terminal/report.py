"""The summary of a training run, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cli.errors import in_one_line
from cli.terminal import display, output
from difflogic.system.files import for_shell
from difflogic.system.quantities import counted

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
    headline, *commands = _next_step(summary, directory, " --allow-code" if custom_task else "")
    paragraphs = [
        *([] if quiet else [_timing(summary["seconds"], summary["epochs"])]),
        [output.fold(line, 11) for line in (*_scores(summary, directory), *_attempts(summary))],
        [
            f"{'run':<11}{in_one_line(directory)}",
            f"{'next':<11}{headline}",
            *(f"{'':<11}  {command}" for command in commands),
        ],
    ]
    return "\n\n".join("\n".join(paragraph) for paragraph in paragraphs)


def _timing(seconds: Mapping[str, Any], epochs: int) -> list[str]:
    total = seconds["training"]
    lines = [f"{'phase':<17}{'seconds':>9}{'share':>9}{'ms/epoch':>11}"]
    phases = seconds["phases"].items()
    rows = [(display.PHASE_NAMES.get(name, name), spent) for name, spent in phases]
    for name, spent in [*rows, ("training", total)]:
        share = 100 * spent / total if total else 0.0
        per_epoch = 1000 * spent / max(epochs, 1)
        lines.append(f"{name:<17}{spent:>9.3f}{share:>7.1f} %{per_epoch:>11.3f}")
    for part, name in AROUND.items():
        if part in seconds:  # a run of an earlier version lacks some
            lines.append(f"{name:<17}{seconds[part]:>9.3f}")
    return [*lines, f"{'processor':<17}{seconds['processor']:>9.3f}"]


def _scores(summary: Mapping[str, Any], directory: str) -> list[str]:
    scores, exact_epoch, gain = summary["scores"], summary["exact_epoch"], summary.get("polished")
    checked = scores["checked"]
    lines = [
        f"as trained soft loss {display.loss(scores['soft_loss'])}, "
        f"hard loss {display.loss(scores['hard_loss'])}, "
        f"accuracy {display.percent(scores['accuracy'])}, "
        f"best hard loss {display.loss(scores['best_hard_loss'])} "
        f"at epoch {scores['best_epoch'] or '-'}"
    ]
    cells = checked["cells"]
    for label, when in ("checked", ""), ("", "_later"):
        step, wrong = checked["later_step" if when else "step"], checked["wrong_cells" + when]
        if step is not None:
            lines.append(
                f"{label:<11}{display.percent(1 - wrong / cells)} of cells right at step {step}: "
                f"{wrong} of {cells} wrong, from {checked['tested']}"
            )
    lines += [f"{'':<11}{line}" for line in _exactness(scores.get("exactness", {}))]
    if "right_pairs" in scores:
        from difflogic.examples.pairs import right_in_words

        lines.append(f"{'examples':<11}{right_in_words(scores['right_pairs'])}")
    if checked["exact"]:
        since = f", verified after epoch {exact_epoch}" if exact_epoch else ""
        found = _finding(summary) if scores["accuracy"] < 1 else ""
        lines.append(f"{'':<11}exact: every cell is right{since}{found}")
    if gain is not None:
        lines.append(f"{'polished':<11}{polished(gain['gates'], gain['from_step'])}")
    if "assurance" in scores:
        proof = assurance(scores["assurance"], checked["exact"], directory, None)
        only = "; other grids are not proved" if "right_pairs" in scores else ""
        lines.append(f"{'proof':<11}{proof}{only}")
    return lines


def _finding(summary: Mapping[str, Any]) -> str:
    """Say how an exact circuit was made of the trained one."""
    corrected = summary.get("corrected")
    if corrected is None:
        return "; a search found this circuit close to the trained one"
    bits, gates = counted(corrected["bits"], "wrong bit"), counted(corrected["gates"], "gate")
    return f"; {gates} from the table of {bits} correct the trained circuit"


def _attempts(summary: Mapping[str, Any]) -> list[str]:
    """Count the attempts, if learning starts over."""
    if "attempts" not in summary:
        return []
    begun, result = (summary["attempts"][key] for key in ("begun", "result"))
    return [f"{'attempts':<11}{begun}; the circuit comes from attempt {result}"]


def polished(gates: Sequence[int], from_step: Sequence[int] | None) -> str:
    """Return gates and first certified step, before and after polishing."""
    words = [f"{gates[0]} → {gates[1]} gates"]
    if from_step is not None:
        steps = " → ".join(map(str, dict.fromkeys(from_step)))
        words.append(f"certified from step {steps} on")
    return ", ".join(words)


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


def _exactness(found: Mapping[str, Any]) -> list[str]:
    """Return one line for each count of a life-like rule's final test."""
    lines = [
        f"{count['name']} of {count['height']}×{count['width']} cells, step {count['step']}: "
        f"{count['wrong_cells']} of {count['cells']} wrong"
        for count in found.get("counts", [])
    ]
    first = found.get("first_wrong_step")
    if first is not None:
        lines[-1] += f", the first at step {first}"
    return lines


def _next_step(summary: Mapping[str, Any], directory: str, allow: str) -> list[str]:
    """Return a sentence on what to do next, and the commands for it."""
    path = for_shell(directory)
    if summary["interrupted"]:
        return ["Interrupted: resume this run", f"dct train --resume {path}{allow}"]
    if summary["scores"]["checked"]["exact"]:
        return [
            "Exact: run all tests, or look at the circuit",
            f"dct eval {path}{allow}",
            f"dct inspect {path}",
        ]
    epochs, seed = summary["epochs_requested"], summary["seed"]
    resume = f"dct train --resume {path}{allow} --epochs {2 * epochs}"
    # From another start it would be another experiment.
    source = f" --from {for_shell(f'{directory}/start.npz')}" if summary.get("start") else ""
    missed = _missed(summary["scores"])
    full = _full_experiment(summary, directory)
    if full is not None:
        return [
            f"{missed}: resume this run, or train the full experiment",
            resume,
            f"dct train {full} --seed {seed}{source}",
        ]
    config = for_shell(f"{directory}/config.toml")
    return [
        f"{missed}: resume this run, or try another seed",
        resume,
        f"dct train {config} --seed {seed + 1}{source}",
    ]


def _missed(scores: Mapping[str, Any]) -> str:
    """Say how a circuit that is not exact misses its target."""
    found, step = scores.get("assurance", {}), scores["checked"]["step"]
    late = found.get("from_step")
    if found.get("verdict") == "proved" and late is not None and late > step:
        return f"Too late: right from step {late}, not from step {step}"
    return "Not exact yet"


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
