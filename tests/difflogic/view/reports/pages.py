"""Reports of the gallery's circuits, as if just trained."""

import base64
import hashlib
import html
import re
from functools import cache

from difflogic.config import load_config
from difflogic.formats.circuit_file import read_circuit
from difflogic.model.model import Model
from difflogic.view.reports import ReportSource, build
from tests.paths import GALLERY

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


def rules_of(text):
    """The policy of a page, by kind."""
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    return dict(rule.strip().split(" ", 1) for rule in html.unescape(policy).split(";"))


def hash_of(text):
    """What a policy names to allow a script or a style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def page(name):
    """The report of an experiment, with its real configuration and untrained logits."""
    found = automaton(name)
    return build(ReportSource(found, Model.create(load_config(name))), found, None)
