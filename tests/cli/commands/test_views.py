"""`dct render`, `dct report` and `dct watch`: files, messages and refusals."""

import re
import signal
import urllib.request
from pathlib import Path

import pytest
from PIL import Image

from tests.paths import GALLERY

CHECKERBOARD = str(GALLERY / "checkerboard.json")


def test_an_animation(dct):
    options = "--steps=12 --every=3 --damage=6:2,2,5x5 --fps=5"
    result = dct(f"render {CHECKERBOARD} -o a.gif {options}").good
    with Image.open("a.gif") as image:
        assert image.n_frames == 5
        size = f"{image.height}×{image.width}"
    assert f"saved a.gif: 5 frames of {size} pixels, " in result.stderr


@pytest.mark.thorough
def test_a_run_becomes_a_page(dct, run):
    result = dct(f"report {run} -o run.html").good
    text = Path("run.html").read_text("utf-8")
    assert f"saved run.html: {len(text.encode()) / 1000:.0f} kB" in result.stderr
    for said in (
        "soft loss",
        "dct train checkerboard --seed 5 --set",
        "exactness: training grid",
        "<strong>Not exact yet. ",
    ):
        assert said in text, said


def test_a_model_has_no_curves_and_a_circuit_no_training(dct, run):
    Path("p.html").write_text("mine")
    for source, again in ((run / "model.npz", True), (GALLERY / "game-of-life.json", False)):
        options = "-o p.html --without-tests --force"
        assert dct(f"report {source} {options}").good
        text = Path("p.html").read_text("utf-8")
        assert "soft loss" not in text
        assert ("Train it again" in text) == again


@pytest.mark.parametrize("damage", ["epoch\n1,2\n", "\xff\xfe\n\xff\n", ""])
def test_damaged_metrics_are_told(dct, run, damage):
    (run / "summary.json").unlink()  # a run that goes on has none yet
    (run / "metrics.csv").write_bytes(damage.encode("latin-1"))
    result = dct(f"report {run} -o run.html --without-tests").good
    assert ("metrics.csv: is damaged" in result.stderr) == (damage != "")


@pytest.mark.thorough
def test_it_serves_a_run_until_ctrl_c(run, start, tiny):
    whole = "--set=finishing.every=0 --set=training.restart_every=0 --epochs=20000"
    training = f"train checkerboard {tiny} {whole} --dir=new --watch --quiet"
    for words in (f"watch {run}", training):
        process = start(words)
        said = process.stderr if words == training else process.stdout
        link = next(found[0] for line in said if (found := re.search(r"http://\S+", line)))
        with urllib.request.urlopen(link, timeout=60) as answer:
            assert b"Served to this machine only" in answer.read()
        assert process.end(signal.SIGINT) == 130


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (f"render {CHECKERBOARD} -o a.mp4", "must end in .gif"),
        (f"render {CHECKERBOARD} -o there.gif", "--force"),
        (f"render {CHECKERBOARD} -o a.gif --at x", '--at: "x"'),
        (f"render {CHECKERBOARD} -o a.gif --damage x", "must be STEPS:Y,X,HxW"),
        (f"render {CHECKERBOARD} -o a.gif --boundary open", "'open' is not one of"),
        (f"render {CHECKERBOARD} -o a.gif --at=1 --every=2", "leave out"),
        (f"render {CHECKERBOARD}", "output"),
        (f"render {CHECKERBOARD} -o strip.png --fps=3", "strip.png is a strip"),
        (f"report {CHECKERBOARD} -o report.pdf", "must end in .html"),
        (f"report {CHECKERBOARD}", "give --force"),
        ("watch nowhere", "nowhere"),
        ("watch empty", "empty"),
        ("watch last", "runs"),
    ],
)
def test_refusals(dct, arguments, message):
    Path("empty").mkdir()
    for name in ("there.gif", "report.html"):
        Path(name).write_text("mine")
    assert message in dct(arguments).refusal
    assert Path("there.gif").read_text() == Path("report.html").read_text() == "mine"
