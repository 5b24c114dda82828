"""Reports to try things on: of the gallery's circuits, as if they had just been trained."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from difflogic.config import load_config
from difflogic.formats.read_circuit import read_circuit
from difflogic.model import Model
from difflogic.reports import Source, build

GALLERY = Path(__file__).parents[3] / "docs" / "gallery"
EXPERIMENTS = ("checkerboard", "checkerboard-async", "game-of-life", "letter-g", "lizard")


@cache
def automaton(name):
    """The simplified automaton of an experiment."""
    return read_circuit(GALLERY / f"{name}.json")


def page(name):
    """The report of an experiment; its configuration is real, its logits are untrained."""
    found = automaton(name)
    return build(Source(found, Model.create(load_config(name))), found, None)
