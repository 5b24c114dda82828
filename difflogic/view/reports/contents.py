"""What a report says, as plain values for its template."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.gates import SYMBOLS, Op
from difflogic.config import Config, load_config, shipped_configs
from difflogic.evaluation.gates import PASSING
from difflogic.inspection.equations import equations
from difflogic.proof.convergence import Verdict
from difflogic.system.errors import ConfigError
from difflogic.system.files import START
from difflogic.system.quantities import counted
from difflogic.tasks import exhibit_of
from difflogic.training.metrics import History
from difflogic.training.resuming import changed
from difflogic.view.reports import curves
from difflogic.view.reports.source import Source

EQUATIONS_SHOWN = 24
MOST_EQUATION_CHARACTERS = 60_000


def facts(**values: str | None) -> list[dict[str, str]]:
    """Return named values without those that are None. Underscores in names become blanks."""
    return [
        {"name": name.replace("_", " "), "value": value}
        for name, value in values.items()
        if value is not None
    ]


def head_facts(source: Source, small: Automaton) -> list[dict[str, str]]:
    """Return the numbers below the title."""
    automaton, model = source.automaton, source.model
    seconds = source.summary["seconds"] if source.summary else {}
    trained = None if model is None else f"{model.config.architecture.parameters:,} gates"
    return facts(
        trained_with=trained,
        in_the_end=plural(small.circuit.gates, "gate"),
        bits_per_cell=str(small.circuit.channels),
        trained_on=f"{automaton.height} × {automaton.width} cells, "
        f"{plural(automaton.steps, 'step')}",
        training_took=_seconds(seconds.get("training")),
        processor_time=_seconds(seconds.get("processor")),
    )


def equations_text(small: Automaton) -> tuple[str, dict[str, Any] | None]:
    """Return the first equations as text, and the count and text of the others, if any."""
    texts = equations(small.circuit).texts
    rest = texts[EQUATIONS_SHOWN:]
    more = "\n".join(rest)
    if len(more) > MOST_EQUATION_CHARACTERS:
        more = more[:MOST_EQUATION_CHARACTERS].rpartition("\n")[0]
        more += "\n… dct inspect --limit 0 prints all"
    shown = "\n".join(texts[:EQUATIONS_SHOWN])
    return shown, {"count": len(rest), "text": more} if rest else None


def training(source: Source) -> dict[str, Any] | None:
    """Return how the automaton was trained; None for a plain circuit."""
    if source.model is None:
        return None
    config, summary = source.model.config, source.summary
    line, words = train_command(config)
    exact = summary["exact_epoch"] if summary else None
    published = config.published.learned_by
    versions = processor = None
    if summary:
        cpu = summary["cpu"]
        versions = ", ".join(f"{name} {version}" for name, version in summary["versions"].items())
        processor = f"{cpu['name']}, {cpu['count']} cores"
    return {
        "command": line,
        "command_words": words,
        "config": config.to_toml(),
        "curves": curves.figures(source.history, exact, published),
        "facts": facts(
            epochs=_whole(summary["epochs"] if summary else None),
            attempts=_attempts(source.history),
            verified_exact_after_epoch=_whole(exact),
            published_hard_loss_0_from_epoch=None if published is None else f"{published:,}",
            seed=str(config.training.seed),
            versions=versions,
            processor=processor,
        ),
    }


def assurance(results: Mapping[str, Any] | None) -> dict[str, str] | None:
    """Return what is proved or refuted, as a verdict and a text; None if nothing is."""
    found = results["assurance"] if results is not None else None
    if found is None or found["verdict"] == Verdict.open.value:
        return None
    more = ""
    if found["any_schedule"] and found["verdict"] == Verdict.proved.value:
        more = (
            " That holds under any order in which cells fire, counted in rounds in which every "
            "cell fires, and again after the last of any damage."
        )
    text = found["text"]
    return {"kind": found["verdict"], "text": f"{text[0].upper()}{text[1:]}.{more}"}


def tests(results: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the results of `dct eval`; None if there are none."""
    if results is None:
        return None
    rows, notes = [], []
    for name, test in results["tests"].items():
        for count in test.get("counts", []):
            rows.append(_test_row(name, count))
        if name == "robustness":
            rows.append(_robustness_row(test))
        if name != "gates":
            notes += test["notes"]
    exact = (
        "It is exact: no cell is wrong in any test that requires it. " if results["exact"] else ""
    )
    noise = results["tests"].get("noise")
    return {
        "curves": [] if noise is None else [curves.noise_figure(noise)],
        "words": f"{exact}Training never drew any of these starts; dct eval makes the same tests. "
        "Published numbers are from the DiffLogic CA article, one seed each.",
        "rows": rows,
        "notes": notes,
    }


def _test_row(name: str, count: Mapping[str, Any]) -> dict[str, str]:
    mode = "" if count["fire_rate"] == 1 else f", fire rate {count['fire_rate']:g}"
    optional = " (not required)" if count.get("decisive") is False else ""
    return {
        "what": f"{name}: {count['name']}{mode}{optional}",
        "size": f"{count['height']} × {count['width']}",
        "step": str(count["step"]),
        "wrong": f"{count['wrong_cells']:,}",
        "cells": f"{count['cells']:,}",
        "published": "",
    }


def _robustness_row(test: Mapping[str, Any]) -> dict[str, str]:
    trained = test["trained"]
    published = test["published"].get(trained)
    return {
        "what": f"robustness: mean of steps {test['first_step']} to {test['steps']}, damage "
        "after each",
        "size": f"{test['height']} × {test['width']}",
        "step": str(test["steps"]),
        "wrong": f"{test['mean_wrong_cells']:.0f}",
        "cells": f"{test['cells']:,}",
        "published": f"{published} ({trained})" if published else "",
    }


def gates(results: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return histograms of the ops of perception and update, as in the article.

    Their `ops` are (sign, count, whether it only passes an input on).
    """
    if results is None:
        return None
    test = results["tests"]["gates"]
    parts = test["scopes"]["all"]
    published = test["published_active_gates"]
    beside = "" if published is None else f"; the article counts {published}"
    histograms = []
    for part in ("perception", "update"):
        ops = [
            (SYMBOLS[Op[name]], count, Op[name] in PASSING)
            for name, count in parts[part]["ops"].items()
        ]
        caption = f"{part.capitalize()}: {parts[part]['active']} of {parts[part]['gates']} active"
        histograms.append(
            {
                "id": f"{part}-ops",
                "label": f"Ops of the {part} gates",
                "ops": ops,
                "caption": caption,
            }
        )
    return {
        "words": f"Of {parts['both']['gates']:,} gates with logits {parts['both']['active']:,} do "
        f"more than pass one of their inputs on{beside}. The others are drawn faintly, and bars "
        "are logarithmic.",
        "histograms": histograms,
    }


def plural(count: int, noun: str) -> str:
    """Return a count in words: 1 gate, 4,608 gates."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _seconds(seconds: float | None) -> str | None:
    return None if seconds is None else f"{seconds:,.{0 if seconds >= 100 else 1}f} s"


def _attempts(history: History | None) -> str | None:
    """Return the number of attempts, if learning started over."""
    rows = history.rows if history else []
    last = rows[-1].attempt if rows else None
    return None if last is None or last == 1 else f"{last:,}"


def _whole(value: int | None) -> str | None:
    return None if value is None else f"{value:,}"


def op_table(drawn: Sequence[tuple[Any, bool, bool, bool]], reads: Sequence[Any]) -> list[Any]:
    """Return what the page needs to write and draw each op."""
    return [
        {
            "symbol": SYMBOLS[op],
            "sign": SYMBOLS[op] if family.sign == "0 1" else family.sign,
            "family": family.name.lower(),
            "inverted": inverted,
            "reads": list(reads[op]),
        }
        for op, (family, _, _, inverted) in enumerate(drawn)
    ]


STEPS_PER_SECOND = 8.0


@dataclass(frozen=True)
class Introduction:
    """The page's first words and initial settings."""

    lead: str
    invitation: str
    target: Mapping[str, Any] | None
    first: Mapping[str, Any]
    wrong: str = "Cells that differ from the picture"
    """What counts as wrong."""


def origin(source: Source) -> str:
    """Say what found a trained circuit's gates: the gradient, a search, polishing."""
    rows, summary = source.history.rows if source.history else [], source.summary or {}
    mended = [row.search.wrong_before for row in rows if row.search and row.search.exact]
    polished = summary.get("polished")
    found = "gradient descent found them"
    if mended and mended[-1]:
        found += f", and a search mended the last {counted(mended[-1], 'wrong bit')}"
    elif not mended and source.model and source.model.config.finishing.every:
        found = "gradient descent and a search found them"
    if polished:
        before, after = polished["gates"]
        found += f"; polishing then left {after} of {counted(before, 'gate')}"
    return found


def introduce(
    automaton: Automaton,
    config: Config | None,
    gates: int,
    found: str = "gradient descent and a search find them",
) -> Introduction:
    """Return the introduction of an automaton whose rule has `gates` gates; `found` says how."""
    circuit = f"the same {gates} logic gates" if gates != 1 else "the same logic gate"
    lead = (
        f"Every cell looks at itself and its eight neighbours, runs {circuit} and so computes its "
        "next state."
    )
    first = {
        "height": automaton.height,
        "width": automaton.width,
        "speed": STEPS_PER_SECOND,
        "pauses": False,
        "marks": True,
        "brush": "erase",
        "size": 5,
    }
    if config is None:
        return Introduction(lead, "Press play, and paint on the cells.", None, first)
    lead += f" Nobody wrote these gates: {found}."
    if config.automaton.places:
        lead = lead.replace("these gates", "them, except those that count a cell’s row and column")
    shown = exhibit_of(config)
    return Introduction(lead, shown.invitation, shown.target, {**first, **shown.view}, shown.wrong)


MOST_CHANGES = 12
"""Most changed settings on a command line. With more, a file is easier to read."""


def train_command(config: Config) -> tuple[str, str]:
    """Return the command that repeats a training, and a remark about the files that it needs."""
    if config.run.start_sha256 is not None:
        files = f"with the configuration below saved under that name, and {START} from the run"
        return f"dct train {config.name}.toml --from {START}", files
    changes = _changes(config)
    if changes is None or len(changes) > MOST_CHANGES:
        return f"dct train {config.name}.toml", "with the configuration below saved under that name"
    parts = ["dct", "train", config.name, "--seed", str(config.training.seed)]
    for change in changes:
        parts += ["--set", change]
    return shlex.join(parts), ""


def _changes(config: Config) -> list[str] | None:
    """Return the differences from the shipped configuration of this name; None if none fits."""
    if config.name not in shipped_configs():
        return None
    try:
        shipped = load_config(config.name, [f"training.seed={config.training.seed}"])
    except ConfigError:
        return None
    # A changed experiment has no published results.
    found = {
        key: new
        for key, (_, new) in changed(shipped, config).items()
        if not key.startswith(("parallel.", "published."))
    }
    if "task.target" in found or None in found.values():
        return None
    return [f"{key}={json.dumps(value)}" for key, value in found.items()]
