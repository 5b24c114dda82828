"""What is left of a training run when it is over, for people."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from cli.errors import printable
from cli.terminal import display

TRIAL_SHARE = 0.25
"""Share of an experiment's epochs below which a run was meant to try things out."""

PHASE_NAMES = {"hard": "hard evaluation", "finish": "finishing"}


def render(summary: Mapping[str, Any], directory: str, own_code: bool = False) -> str:
    """Return the summary as text: time per phase, scores, where the run is, what to try next.

    `own_code` says that the task is code of the user's, which takes leave to run again.
    """
    proposal = _next_command(summary, directory, " --allow-code" if own_code else "")
    paragraphs = [
        _timing(summary["seconds"], summary["epochs"]),
        [
            *_scores(summary["scores"], summary["exact_epoch"], summary.get("polished")),
            *_attempts(summary),
            *_growth(summary),
        ],
        [f"run        {printable(directory)}", f"next       {proposal}"],
    ]
    return "\n\n".join("\n".join(paragraph) for paragraph in paragraphs)


def _timing(seconds: Mapping[str, Any], epochs: int) -> list[str]:
    total = seconds["training"]
    lines = [f"{'phase':<17}{'seconds':>9}{'share':>9}{'ms/epoch':>11}"]
    rows = [(PHASE_NAMES.get(name, name), spent) for name, spent in seconds["phases"].items()]
    for name, spent in [*rows, ("all", total)]:
        share = 100 * spent / total if total else 0.0
        lines.append(
            f"{name:<17}{spent:>9.3f}{share:>7.1f} %{1000 * spent / max(epochs, 1):>11.3f}"
        )
    lines.append(f"{'compilation':<17}{seconds['compilation']:>9.3f}   (apart, not in the above)")
    return lines


def _scores(
    scores: Mapping[str, Any], exact_epoch: int | None, gain: Mapping[str, Any] | None
) -> list[str]:
    held_out = scores["held_out"]
    lines = [
        f"training   the circuit in training: soft loss {display.loss(scores['soft_loss'])}, "
        f"hard loss {display.loss(scores['hard_loss'])}, "
        f"accuracy {display.percent(scores['accuracy'])}, "
        f"best hard loss {display.loss(scores['best_hard_loss'])} "
        f"at epoch {scores['best_epoch'] or '-'}"
    ]
    cells = held_out["cells"]
    for label, step, wrong in (
        ("held out", held_out["step"], held_out["wrong_cells"]),
        ("", held_out["later_step"], held_out["wrong_cells_later"]),
    ):
        starts = held_out["starts"]
        lines.append(
            f"{label:<11}{display.percent(1 - wrong / cells)} of the cells right at step {step}: "
            f"{wrong} wrong of {cells} in {starts} held-out start{'' if starts == 1 else 's'}"
        )
    lines += [f"{'':<11}{line}" for line in _exactness(scores.get("exactness", {}))]
    if held_out["exact"]:
        since = f", verified after epoch {exact_epoch}" if exact_epoch else ""
        lines.append(f"{'':<11}exact: no cell is wrong{since}")
    if gain is not None:
        lines.append(f"{'polished':<11}{polished(gain['gates'], gain['from_step'])}")
    if "assurance" in scores:
        lines.append(f"{'for ever':<11}{assurance(scores['assurance'], held_out['exact'])}")
    return lines


def _attempts(summary: Mapping[str, Any]) -> list[str]:
    """Say how often learning began, where it starts over."""
    if "attempts" not in summary:
        return []
    begun, given_up, result = (summary["attempts"][key] for key in ("begun", "given_up", "result"))
    words = f"{begun}, {given_up} given up" if given_up else f"{begun}"
    if given_up is None:
        words += ", how many were given up is not recorded"
    return [f"{'attempts':<11}{words}; the circuit is of attempt {result}"]


def _growth(summary: Mapping[str, Any]) -> list[str]:
    """Say since when a picture that is to stay has been grown, where it comes in two stages."""
    if "pool_from" not in summary:
        return []
    since, step = summary["pool_from"], summary["scores"]["held_out"]["step"]
    if since is None:
        return [f"{'grown':<11}not yet: no circuit was right at step {step}"]
    return [f"{'grown':<11}right at step {step} after epoch {since}, where the pool began"]


def polished(gates: Sequence[int], from_step: Sequence[int] | None) -> str:
    """Say what polishing gained: gates, and the first certified step or round, before and after."""
    words = [f"{gates[0]} → {gates[1]} gates"]
    words += [] if from_step is None else [f"certified from {from_step[0]} → {from_step[1]} on"]
    return ", ".join(words)


def assurance(found: Mapping[str, Any], exact: bool) -> str:
    """Say what is proved of a circuit, or else whether it is right on samples."""
    if exact and found["verdict"] == "open":
        return f"right on samples; {found['text']}"
    return str(found["text"])


def _exactness(found: Mapping[str, Any]) -> list[str]:
    """Return a line per count of the check that a life-like rule ends with."""
    lines = [
        f"{count['what']} of {count['height']}×{count['width']} cells, step {count['step']}: "
        f"{count['wrong_cells']} wrong of {count['cells']}"
        for count in found.get("counts", [])
    ]
    first = found.get("first_wrong_step")
    if first is not None:
        lines[-1] += f", the first at step {first}"
    return lines


def _next_command(summary: Mapping[str, Any], directory: str, leave: str) -> str:
    """Return what suits the run, and holds for any experiment."""
    path = shlex.quote(directory)
    if summary["interrupted"]:
        return f"dct train --resume {path}{leave}   (goes on where it stopped)"
    if summary["scores"]["held_out"]["exact"]:
        return f"dct eval {path}{leave}   (every test of the circuit; dct inspect shows it)"
    # What it started from is in its directory: without that the same would be another experiment.
    source = f" --from {shlex.quote(f'{directory}/start.npz')}" if summary.get("start") else ""
    full, seed = _full_experiment(summary), summary["seed"]
    if full is not None:
        whole = "the full experiment, for as long as it takes to learn"
        return f"dct train {full} --seed {seed}{source}   ({whole})"
    config = shlex.quote(f"{directory}/config.toml")
    return f"dct train {config} --seed {seed + 1}{source}   (one seed is not a result)"


def _full_experiment(summary: Mapping[str, Any]) -> str | None:
    """Return the shipped experiment that a run was a small or short form of; None if of none."""
    from difflogic.config import load_config, shipped_configs

    name = summary["experiment"].removesuffix("-small")
    if name not in shipped_configs():
        return None
    if summary.get("start") and name != summary["experiment"]:
        return None  # its circuit is larger than that of the model that the run started from
    short = summary["epochs_requested"] < TRIAL_SHARE * load_config(name).training.epochs
    return name if short or name != summary["experiment"] else None
