"""The gallery agrees with itself and the documents: page, circuits and pictures."""

import re
from pathlib import Path

import pytest

from difflogic.formats.circuit_file import read_circuit
from difflogic.formats.write_svg import write_svg
from difflogic.inspection.equations import equations
from tests.difflogic.view.reports.make_gallery import DOCS, SEEDS
from tests.difflogic.view.reports.pages import GALLERY

ROOT = Path(__file__).parents[4]
TOUGH = "checkerboard-tough-async"


@pytest.mark.parametrize("page", ["README.md", "docs/circuits.md"])
def test_the_checkerboards_equations_are_those_of_its_circuit(page):
    found = equations(read_circuit(GALLERY / "checkerboard.json").circuit)
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    for line in found.lines:
        assert f"    {found.text(line)}" in lines


def test_the_checkerboards_drawing_shows_its_circuit():
    drawn = write_svg(read_circuit(GALLERY / "checkerboard.json"))
    assert (DOCS / "circuit.svg").read_text(encoding="utf-8") == drawn


def test_the_page_shows_its_circuit_and_seed():
    page = (GALLERY / f"{TOUGH}.html").read_text(encoding="utf-8")
    facts = dict(re.findall(r"<dt>([a-z ]+)</dt><dd>(.*?)</dd>", page))
    automaton = read_circuit(GALLERY / f"{TOUGH}.json")
    assert facts["seed"] == str(SEEDS[TOUGH])
    assert facts["gates of a cell"].endswith(f" {automaton.circuit.gates} simplified")
    assert facts["bits per cell"] == str(automaton.circuit.channels)
