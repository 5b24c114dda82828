"""Reports of the gallery's circuits, as if just trained."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from difflogic.config import load_config
from difflogic.formats.circuit_file import read_circuit
from difflogic.model.hardening import from_model
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
def many_gates():
    """A lizard's model with too many active gates for a drawing with wires."""
    made = Model.create(load_config("lizard"))
    rng = np.random.default_rng(0)
    logits = made.logits + rng.normal(0, 20, made.logits.shape).astype(np.float32)
    return replace(made, logits=logits)


@cache
def large_page():
    """The report of a lizard with very many gates."""
    model = many_gates()
    return build(ReportSource(from_model(model), model), automaton("lizard"), None)


@cache
def page(name):
    """The report of an experiment, with its real configuration and untrained logits."""
    found = automaton(name)
    return build(ReportSource(found, Model.create(load_config(name))), found, None)
