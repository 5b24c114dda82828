"""Reports of the gallery's circuits, as if just trained."""

from functools import cache
from pathlib import Path

from difflogic.config import load_config
from difflogic.formats.circuit_file import read_circuit
from difflogic.model.model import Model
from difflogic.view.reports import ReportSource, build

GALLERY = Path(__file__).parents[4] / "docs" / "gallery"
EXPERIMENTS = (
    "checkerboard",
    "checkerboard-async",
    "checkerboard-tough-async",
    "game-of-life",
    "letter-g",
    "lizard",
)


@cache
def automaton(name):
    """The simplified automaton of an experiment."""
    return read_circuit(GALLERY / f"{name}.json")


@cache
def page(name):
    """The report of an experiment, with its real configuration and untrained logits."""
    found = automaton(name)
    return build(ReportSource(found, Model.create(load_config(name))), found, None)
