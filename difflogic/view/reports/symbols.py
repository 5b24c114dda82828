"""Rules from examples as data for the page: what their bits mean, and the pairs to step through."""

from __future__ import annotations

from dataclasses import asdict
from itertools import zip_longest
from typing import Any

from PIL import ImageColor

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.colors import Color, parse_color
from difflogic.evaluation.settled import MOST_TIMES, SLOWEST, outcomes
from difflogic.examples.encoding import Encoding
from difflogic.model.model import Model
from difflogic.tasks import make_task

COLORS = (
    *("#000000", "#1e78d2", "#e2433b", "#2fa84f", "#f2c500", "#9a9a9a", "#d63fb0", "#f28a2e"),
    *("#79d2f2", "#8a1c35", "#6c4bb6", "#2c6e62", "#a5764b", "#b5d96b", "#f4b1bd", "#1c2f66"),
)
"""Of symbols without a colour's name."""


def encoding_of(automaton: Automaton) -> dict[str, Any] | None:
    """Return how symbols become bits and bits symbols; None if a rule knows no symbols."""
    if automaton.encoding is None:
        return None
    encoding = Encoding(**automaton.encoding)
    return asdict(encoding) | {
        "perSymbol": encoding.per_symbol,
        "names": encoding.named(automaton.circuit.labels),
        "colors": [_color(number, name) for number, name in enumerate(encoding.symbols)],
        "longest": MOST_TIMES,
        "slowest": SLOWEST,
    }


def _color(number: int, name: str) -> Color:
    known = ImageColor.colormap.get(name.lower(), COLORS[number])
    return parse_color(known) if isinstance(known, str) else known


def examples_of(
    automaton: Automaton, model: Model | None, tested: bool = True
) -> list[dict[str, Any]]:
    """Return a model's examples, and if `tested` whether its automaton is right on them."""
    if model is None or automaton.encoding is None:
        return []
    task = make_task(model.config)
    right = outcomes(automaton, task) if tested else {}
    return [
        {"part": part, "number": number, "pair": str(pair), "right": answer}
        for part, pairs in task.examples.items()
        for number, (pair, answer) in enumerate(zip_longest(pairs, right.get(part, ())), 1)
    ]
