"""`dct simulate`, as users call it."""

import signal
import time

import numpy as np
import pytest
from PIL import Image

from difflogic.formats.circuit_file import write_circuit
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.circuit.rules import life_automaton
from tests.difflogic.formats.made import random_circuit
from tests.paths import DOCS, ROOT


@pytest.fixture(autouse=True, scope="module")
def circuit_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_CACHE_DIR", str(tmp_path_factory.mktemp("circuits")))
        yield


@pytest.fixture
def life(tmp_path):
    """A circuit's file: the Game of Life."""
    path = tmp_path / "life.json"
    path.write_text(write_circuit(life_automaton()))
    return str(path)


@pytest.fixture
def three(tmp_path):
    """A circuit of six channels; three are visible."""
    circuit = random_circuit(6, 60, np.random.default_rng(3))
    path = tmp_path / "three.json"
    whole = automaton(circuit, visible=(1, 2, 4), fire_rate=0.7, boundary="zero")
    path.write_text(write_circuit(whole))
    return str(path)


@pytest.mark.parametrize(("rule", "told"), [("B36/S23", True), ("b3/s23:T40,100", False)])
def test_the_rule_of_a_file_is_told_if_it_differs(dct, life, tmp_path, rule, told):
    (tmp_path / "glider.rle").write_text(f"x = 3, y = 3, rule = {rule}\nbob$2bo$3o!")
    result = dct(f"simulate {life} --steps=1 --size=40x100 --start=glider.rle")
    assert ("rule = B36/S23 is not used: the circuit's is B3/S23" in result.stderr) is told


def test_the_film_of_a_reversible_rule_runs_back_to_its_start(dct):
    drawn = (ROOT / "configs" / "pictures" / "lizard.txt").read_text("utf-8")
    film = f"--start {DOCS}/echo.gif --frame last --steps 32"
    result = dct(f"simulate {DOCS}/echo.json {film} --backwards")
    assert f"{drawn.count('#')} of 1024 cells are 1 32 steps earlier" in result.stdout


def test_a_glider_flies(dct, life, tmp_path):
    (tmp_path / "glider.rle").write_text("x = 3, y = 3\nbob$2bo$3o!")
    arguments = ["simulate", life, "--size=40x100", "--steps=400", "--start=glider.rle"]
    result = dct(*arguments, "--save=end.npz --picture=end.png").good
    assert "channel 0       5 of 4000 cells are 1 after step 400\n" in result.stdout
    with Image.open(tmp_path / "end.png") as image:
        assert image.size == (500, 200)
    # A glider moves by one cell in four steps: 400 more bring it around, in both directions.
    again = dct(f"simulate {life} --size=40x100 --steps=0 --start=glider.rle --json").json
    assert dct(*arguments[:-1], "--start=end.npz --json").json["step"] == 800
    whole = dct(*arguments, "--json --size=40x100 --steps=800").json
    assert dct(*arguments[:-1], "--start=end.npz --json").json["sha256"] == whole["sha256"]
    assert whole["sha256"] == again["sha256"]


def test_every_engine_gives_the_same_result(dct, three):
    common = [f"simulate {three} --size=33x130 --steps=9 --seed=5 --json"]
    common.append("--damage=2,4:0,100,8x20 --noise=0.01")
    found = [
        dct(*common, more).json
        for more in (
            "--engine=interpreter",
            "--engine=compiled --workers=1",
            "--engine=compiled --workers=3",
            "--unsimplified --engine=interpreter",
            "--unsimplified --engine=compiled",
        )
    ]
    assert len({each["sha256"] for each in found}) == 1
    assert found[0]["channels"] <= 6 == found[3]["channels"]
    assert found[0]["populations"].keys() == {"1", "2", "4"}
    other = dct(f"simulate {three} --json").json
    assert other["sha256"] != found[0]["sha256"]
    chosen = {"height": 5, "width": 7, "steps": 4, "fire_rate": 0.7, "boundary": "zero"}
    assert other | chosen == other, "the automaton's own"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ("--size=12", "must be rows x columns"),
        ("--engine=interpreter --workers=3", "the interpreter has one"),
        ("--size=999999999x999999999", "are available"),
        ("--damage=1", "STEPS:Y,X,HxW"),
        ("--damage=0:0,0,1x1", "its steps must be from 1 to"),
        ("--steps=2 --damage=1,3:0,0,1x1", "its steps must be from 1 to 2"),
        ("--noise=1.5", "from 0 to 1"),
        ("--backwards", "--backwards: is for rules"),
        ("--damage=1:60,0,8x8", "not within the 64×64"),
        ("--start=nothing", "nothing: cannot be read"),
        ("--picture=end.jpg", ".png"),
        ("--save=no/where.npz", "create the directory first"),
        ("--save=taken.png/end.npz", "a part of the path is a file"),
        ("--picture=/proc/x.png", "/proc/x.png: cannot be written: permission denied"),
        ("--picture=taken.png", "give --force"),
    ],
)
def test_refusals(dct, life, tmp_path, arguments, hint):
    (tmp_path / "taken.png").write_text("mine")
    assert hint in dct(f"simulate {life} {arguments}").refusal
    assert (tmp_path / "taken.png").read_text() == "mine"


@pytest.mark.thorough
def test_ctrl_c_stops_between_steps(life, start, tmp_path):
    arguments = f"simulate {life} --size=256x256 --steps=1000000000 --engine=compiled"
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    process = start(f"{arguments} --picture=end.png", variables=cache)
    process.wait_for("compiling ")
    time.sleep(1)
    assert process.end(signal.SIGINT) == 130
    assert process.out == ""
    assert "Traceback" not in process.err
    assert not (tmp_path / "end.png").exists()
