"""What the page compares cells with, and what it says of the task in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from difflogic.config import Config
from difflogic.model.automaton import Automaton
from difflogic.tasks import exhibit_of

STEPS_PER_SECOND = 8.0


@dataclass(frozen=True)
class Introduction:
    """What is said first, and how the page begins."""

    lead: str
    invitation: str
    target: Mapping[str, Any] | None
    first: Mapping[str, Any]
    wrong: str = "Cells that differ from the picture"
    """What is counted as wrong."""


def introduce(automaton: Automaton, config: Config | None, gates: int) -> Introduction:
    """Return what the page says of an automaton; `gates` counts the gates of its rule."""
    circuit = f"the same {gates} logic gates" if gates != 1 else "the same logic gate"
    lead = (
        f"Every cell looks at itself and its eight neighbours, runs {circuit}, and so finds its "
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
    lead += " Nobody wrote these gates: gradient descent found them."
    if config.automaton.places:
        lead = lead.replace("these gates", "them, but for those that count a cell’s row and column")
    shown = exhibit_of(config)
    return Introduction(lead, shown.invitation, shown.target, {**first, **shown.view}, shown.wrong)
