"""What a report says, as plain values for its template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from difflogic.circuit.gates import SYMBOLS, Op
from difflogic.evaluation.gates import PASSING
from difflogic.inspection.equations import equations
from difflogic.model.automaton import Automaton
from difflogic.proof.convergence import Verdict
from difflogic.training.metrics import History
from difflogic.view.reports import curves
from difflogic.view.reports.repeating import command
from difflogic.view.reports.source import Source

EQUATIONS_SHOWN = 24
MOST_EQUATION_CHARACTERS = 60_000


def facts(**values: str | None) -> list[dict[str, str]]:
    """Return named values, those that are None left out; an underscore in a name is a blank."""
    return [
        {"name": name.replace("_", " "), "value": value}
        for name, value in values.items()
        if value is not None
    ]


def head_facts(source: Source, small: Automaton) -> list[dict[str, str]]:
    """Return the few numbers that stand below the title."""
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
    """Return the first equations, and the others with their count, if there are any."""
    texts = equations(small.circuit).texts
    rest = texts[EQUATIONS_SHOWN:]
    more = "\n".join(rest)
    if len(more) > MOST_EQUATION_CHARACTERS:
        more = more[:MOST_EQUATION_CHARACTERS].rpartition("\n")[0]
        more += "\n… dct inspect --limit 0 prints all"
    shown = "\n".join(texts[:EQUATIONS_SHOWN])
    return shown, {"count": len(rest), "text": more} if rest else None


def training(source: Source) -> dict[str, Any] | None:
    """Return how it was trained; None for a circuit that says nothing of it."""
    if source.model is None:
        return None
    config, summary = source.model.config, source.summary
    line, words = command(config)
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
    """Return what is proved, or refuted, as a sentence and its kind; None if nothing is."""
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
    """Return the tests that `dct eval` made; None if there were none."""
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
        "It is exact: no cell is wrong in any test that asks for it. " if results["exact"] else ""
    )
    return {
        "words": f"{exact}All starts are ones that training never drew; dct eval makes the same "
        "tests. Published numbers are those of the DiffLogic CA article, one seed each.",
        "rows": rows,
        "notes": notes,
    }


def _test_row(name: str, count: Mapping[str, Any]) -> dict[str, str]:
    mode = "" if count["fire_rate"] == 1 else f", fire rate {count['fire_rate']:g}"
    asked = {True: "", False: " (not asked for)", None: ""}[count.get("decisive")]
    return {
        "what": f"{name}: {count['what']}{mode}{asked}",
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
    """Return histograms of ops as in the article: perception and update.

    Each has its `ops` as (sign, count, whether it only hands an input on).
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
        f"more than hand on one of their inputs{beside}. The others are drawn faintly, and bars "
        "are logarithmic.",
        "histograms": histograms,
    }


def plural(count: int, noun: str) -> str:
    """Return a count of things in words: 1 gate, 4,608 gates."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _seconds(seconds: float | None) -> str | None:
    return None if seconds is None else f"{seconds:,.{0 if seconds >= 100 else 1}f} s"


def _attempts(history: History | None) -> str | None:
    """Return how often learning began, if it started over."""
    rows = history.rows if history else []
    last = rows[-1].attempt if rows else None
    return None if last is None or last == 1 else f"{last:,}"


def _whole(value: int | None) -> str | None:
    return None if value is None else f"{value:,}"


def op_table(drawn: Sequence[tuple[Any, bool, bool, bool]], reads: Sequence[Any]) -> list[Any]:
    """Return what the page has to know of each op: how it is written and how it is drawn."""
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
