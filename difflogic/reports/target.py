"""What the page compares cells with, and what it says of the task in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from difflogic.config import Config
from difflogic.logic.automaton import Automaton
from difflogic.pictures import parse_picture
from difflogic.tasks.checkerboard import CheckerboardSection
from difflogic.tasks.life import LifeSection
from difflogic.tasks.pattern import PatternSection

CONWAY = "B3/S23"

LIFE_SIDE = 64
"""Cells of a side that a game of life begins with: its training boards are too small to see."""

STEPS_PER_SECOND = 8.0


@dataclass(frozen=True)
class Introduction:
    """What is said first, and how the page begins."""

    lead: str
    invitation: str
    target: dict[str, Any] | None
    first: dict[str, Any]
    wrong: str = "Cells that differ from the picture"
    """What is counted as wrong."""


def introduce(automaton: Automaton, config: Config | None, gates: int) -> Introduction:
    """Return what the page says of an automaton whose rule has so many gates."""
    circuit = f"the same {gates} logic gates" if gates != 1 else "the same logic gate"
    lead = (
        f"Every cell looks at itself and its eight neighbours, runs {circuit}, and so finds its "
        "next state."
    )
    first = {
        "height": automaton.height, "width": automaton.width, "speed": STEPS_PER_SECOND,
        "pauses": False, "marks": True, "brush": "erase", "size": 5,
    }  # fmt: skip
    if config is None:
        return Introduction(lead, "Press play, and paint on the cells.", None, first)
    lead += " Nobody wrote these gates: gradient descent found them."
    match config.task:
        case CheckerboardSection() as task:
            return Introduction(
                lead,
                "From random cells they agree on a checkerboard. Drag over it to wound it, and "
                "watch it heal.",
                {"kind": "checkerboard", "square": task.square},
                first,
                "Cells that differ from the checkerboard",
            )
        case LifeSection() as task:
            rule = task.rule
            game = "Conway’s Game of Life" if rule == CONWAY else f"the rule {rule}"
            born, survive = ([int(digit) for digit in part[1:]] for part in rule.split("/"))
            return Introduction(
                lead,
                f"Together they play {game}. Stop them, draw cells of your own, and go on.",
                {"kind": "life", "born": born, "survive": survive},
                first | {"height": LIFE_SIDE, "width": LIFE_SIDE, "brush": "ones", "size": 1},
                "Cells whose last step was not the rule’s",
            )
        case PatternSection() as task:
            seed = "one cell" if task.start == "center" else "nothing at all"
            return Introduction(
                lead,
                f"From {seed} they grow a picture, in {automaton.steps} steps. Disturb it on the "
                "way, and see what becomes of it.",
                _picture(task, automaton),
                first | {"pauses": True, "marks": False, "speed": max(2.0, automaton.steps / 4)},
            )
        case _:  # a task of the user's own
            return Introduction(lead, "Press play, and paint on the cells.", None, first)


def _picture(task: PatternSection, automaton: Automaton) -> dict[str, Any]:
    """Return the picture; it has a place on other grids if it grows from a cell, unbounded."""
    bits = parse_picture(task.target, len(task.loss_channels))
    return {
        "kind": "picture", "height": task.height, "width": task.width,
        "anywhere": task.start == "center" and automaton.boundary == "periodic",
        "rows": ["".join(map(str, channel.ravel().tolist())) for channel in bits],
    }  # fmt: skip
