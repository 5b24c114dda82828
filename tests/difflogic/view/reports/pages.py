"""Reports of the gallery's circuits, as if just trained."""

from functools import cache
from pathlib import Path

from difflogic.config import load_config
from difflogic.formats.circuit_file import read_circuit
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.view.reports import ReportSource, build
from tests.difflogic.view.histories import model

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
def many_gates():
    """A lizard's model with too many active gates for a drawing with wires."""
    return model(name="lizard", spread=20)


@cache
def large_page():
    """The report of a lizard with very many gates."""
    made = many_gates()
    return build(ReportSource(from_model(made), made), automaton("lizard"), None)


@cache
def page(name):
    """The report of an experiment, with its real configuration and untrained logits."""
    found = automaton(name)
    return build(ReportSource(found, Model.create(load_config(name))), found, None)
