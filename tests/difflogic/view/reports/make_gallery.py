"""The gallery: trainings by the shipped recipes, and their circuits and pages in docs/.

make gallery, or python -m tests.difflogic.view.reports.make_gallery [NAME …]

All bits follow from the seeds below; a page also tells how long its training took. The gallery of
pictures keeps its circuits, which took an hour to train. The picture of a page needs Chromium;
without it, the old one stays.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.view.reports import build_gallery
from tests.difflogic.view.reports.browser import PROGRAMS, chromium
from tests.difflogic.view.reports.pages import EXPERIMENTS
from tests.marks import missing
from tests.paths import DOCS, GALLERY

SEEDS = {
    "checkerboard": 2,
    "checkerboard-async": 0,
    "checkerboard-tough-async": 0,
    "game-of-life": 0,
    "letter-g": 2,
    "lizard": 1,
}

WOUNDS = ("--damage", "130:4,4,10x10", "--damage", "160:14,15,10x10")
ROLLOUT = ("--size", "28x28", "--steps", "196", "--every", "2", *WOUNDS, "--scale", "12")

PAINTED = ("--steps", "300", "--every", "6", "--damage", "160:12,20,30x40", "--scale", "4")

SHOT = (1100, 1900)
"""Pixels of the picture of the tough checkerboard's page."""


def dct(*words):
    """Run a command."""
    print("dct", *words, flush=True)
    subprocess.run([sys.executable, "-m", "cli", *map(str, words)], check=True)


def learn(name, run, circuit):
    """Train an experiment in the directory `run`, and write its circuit."""
    dct("train", name, "--seed", SEEDS[name], "--dir", run, "--quiet")
    dct("simplify", run, "-o", circuit, "--force")


def make(name, run):
    """Make an experiment's circuit and page."""
    learn(name, run, GALLERY / f"{name}.json")
    dct("report", run, "-o", GALLERY / f"{name}.html", "--force")


def regions():
    """Write page and animation of the painted circuit."""
    made = (GALLERY / "regions.json", "--paint", GALLERY / "regions.png", "--force")
    dct("report", *made, "-o", GALLERY / "regions.html")
    dct("render", *made, "-o", DOCS / "regions.gif", *PAINTED)


def pictures():
    """Return the gallery of pictures as today's program makes it of the circuits in it."""
    page = (GALLERY / "pictures.html").read_text("utf-8")
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)[1]
    names = re.findall(r"<figcaption><strong>(.*?)</strong>", page)
    return build_gallery(
        [_automaton(name, each) for name, each in zip(names, json.loads(data), strict=True)]
    )


def _automaton(name, data):
    circuit = data.pop("circuit")
    labels = tuple(circuit["labels"])
    gates = (np.array(circuit[part]) for part in ("op", "a", "b", "outputs"))
    visible = tuple(labels[place] for place in data.pop("visible"))
    palette = tuple(map(tuple, data.pop("palette")))
    rate = data.pop("fireRate")
    del data["wasm"]
    made = Circuit(*gates, labels)
    return Automaton(name, made, visible=visible, palette=palette, fire_rate=rate, **data)


def draw():
    """Write the pictures of checkerboards in the docs."""
    dct("export", GALLERY / "checkerboard.json", "-o", DOCS / "circuit.svg", "--force")
    tough = GALLERY / "checkerboard-tough-async.json"
    dct("render", tough, "-o", DOCS / "rollout.gif", *ROLLOUT, "--force")
    if lacking := missing(*PROGRAMS):
        print(f"report.png stays as it is: no {lacking}")
        return
    with chromium() as window:
        shoot(window, DOCS / "report.png")


def shoot(window, file):
    """Save a picture of the tough page while a wound closes, with a cell selected."""
    # Step by step, for a point of the curve at each step.
    advance = "for (let n = 0; n < arguments[0]; n++) dct.player.advance(1)"
    with window.screen(*SHOT, scale=1, mobile=False):
        window.open(GALLERY / "checkerboard-tough-async.html")
        window.js(advance, 90)
        window.drag((3, 2), (4, 5), (6, 9), (6, 13))
        window.js(advance, 3)
        window.js("window.scrollTo(0, 0); document.documentElement.style.overflow = 'hidden'")
        window.driver.save_screenshot(str(file))


def main(*names):
    """Make the gallery, or a part of it."""
    for name in names or EXPERIMENTS:
        with TemporaryDirectory() as folder:
            make(name, Path(folder) / f"{name}-seed{SEEDS[name]}")
    (GALLERY / "pictures.html").write_text(pictures(), "utf-8")
    regions()
    draw()


if __name__ == "__main__":
    main(*sys.argv[1:])
