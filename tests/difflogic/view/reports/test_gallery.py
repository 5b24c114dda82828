"""The gallery agrees with itself, the program and the documents: pages, circuits and pictures."""

import json
import re

import pytest

from difflogic.formats.circuit_file import read_circuit
from difflogic.formats.write_svg import write_svg
from difflogic.view.reports import build_gallery
from difflogic.view.reports.assets import asset, bundle
from difflogic.view.reports.webpage import GALLERY_SCRIPTS, SCRIPTS
from tests import results
from tests.difflogic.view.reports.browser import needs_browser
from tests.difflogic.view.reports.make_gallery import SEEDS, learn, pictures
from tests.difflogic.view.reports.pages import EXPERIMENTS, hash_of, page, rules_of
from tests.marks import exhaustive, fused
from tests.paths import DOCS, GALLERY

TOUGH = "checkerboard-tough-async"


def test_the_checkerboards_drawing_shows_its_circuit():
    drawn = write_svg(read_circuit(GALLERY / "checkerboard.json"))
    assert (DOCS / "circuit.svg").read_text("utf-8") == drawn


def test_the_page_shows_its_circuit_and_seed():
    page = (GALLERY / f"{TOUGH}.html").read_text("utf-8")
    facts = dict(re.findall(r"<dt>([a-z ]+)</dt><dd>(.*?)</dd>", page))
    automaton = read_circuit(GALLERY / f"{TOUGH}.json")
    assert facts["seed"] == str(SEEDS[TOUGH])
    assert facts["gates of a cell"].endswith(f" {automaton.circuit.gates} simplified")
    assert facts["bits per cell"] == str(automaton.circuit.channels)
    data = json.loads(re.search(r'id="data">(.*?)</script>', page)[1])
    circuit = data["automaton"]["circuit"]
    for part in ("op", "a", "b", "outputs", "labels"):
        assert circuit[part] == list(getattr(automaton.circuit, part))


TODAY = EXPERIMENTS[results.day() % len(EXPERIMENTS)]


@pytest.mark.slow
@fused
@pytest.mark.parametrize(
    "name", [name if name == TODAY else exhaustive(name) for name in EXPERIMENTS]
)
def test_the_gallery_is_what_its_seeds_learn(name, tmp_path):
    learn(name, tmp_path / "run", tmp_path / "circuit.json")
    kept = (GALLERY / f"{name}.json").read_text("utf-8")
    assert (tmp_path / "circuit.json").read_text("utf-8") == kept, "run: make gallery"


PAGES = sorted(DOCS.rglob("*.html"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_runs_the_programs_script_and_nothing_else(path):
    """A browser refuses a script whose hash the page's policy does not name: run `make gallery`."""
    page = path.read_text("utf-8")
    script = re.search(r'<script type="module">(.*?)</script>', page, re.S)[1]
    style = re.search(r"<style>(.*?)</style>", page, re.S)[1]
    for kind, text in (("script-src", script), ("style-src", style)):
        assert hash_of(text) in rules_of(page)[kind]
    assert script == bundle(GALLERY_SCRIPTS if path.stem == "pictures" else SCRIPTS)
    assert style == asset("report.css")


@pytest.mark.thorough
def test_the_gallery_of_pictures_is_what_the_program_makes_of_its_circuits():
    assert (GALLERY / "pictures.html").read_text("utf-8") == pictures()


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_draws_cells_and_reports_no_error(window, path):
    window.open(path, prefers_reduced_motion="no-preference")
    window.wait(
        "const c = document.querySelector('canvas'), drawn = c.getContext('2d');"
        "const { data } = drawn.getImageData(0, 0, c.width, c.height);"
        "return new Set(new Uint32Array(data.buffer)).size > 1",
        30,
    )
    assert not [line for line in window.messages() if "willReadFrequently" not in line]  # ours


@needs_browser
@pytest.mark.slow
def test_every_circuit_opens_on_something_that_moves(window, tmp_path):
    files = sorted(GALLERY.glob("*.json"))
    window.show(tmp_path, build_gallery(list(map(read_circuit, files))))
    seen = (
        "dct.pieces.map(({ simulation }) =>"
        " simulation.allChannels.map((c) => simulation.bits(c).join('')).join())"
    )
    before = window.js(f"return {seen}")
    window.js("for (let n = 0; n < 30; n++) for (const each of dct.pieces) each.advance()")
    after = window.js(f"return {seen}")
    for file, one, other in zip(files, before, after, strict=True):
        assert one != other, file
    assert all("1" in each for each in after)
    letter = f"dct.pieces[{files.index(GALLERY / 'letter-g.json')}]"
    ones = f"{letter}.simulation.bits(0).reduce((a, b) => a + b, 0)"
    grown = window.js(f"return {ones}")
    assert 0 <= window.js(f"{letter}.wound(8, 8); return {ones}") < grown


@needs_browser
@pytest.mark.slow
def test_the_page_of_addition_adds_two_numbers(window, tmp_path):
    window.show(tmp_path, page("addition"), prefers_reduced_motion="no-preference")
    assert window.text("#read").endswith("reads 42.")
    assert not window.js("return dct.player.playing")
    for number, value in enumerate((300, 7)):
        window.set(f"#number-{number}", value)
    window.find("#enter").click()
    window.wait("return document.querySelector('#read').textContent.endsWith('reads 307.')", 30)
