"""`dct train-pattern` on images."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

RED = (214, 48, 49)
BLUE = (30, 90, 200)


@pytest.fixture
def flag(tmp_path):
    """A disc in 8×8 pixels, red above and blue below, on a transparent ground."""
    pixels = np.zeros((8, 8, 4), np.uint8)
    y, x = np.mgrid[:8, :8]
    inside = (x - 3.5) ** 2 + (y - 3.5) ** 2 < 9
    pixels[inside & (y < 4)] = (*RED, 255)
    pixels[inside & (y >= 4)] = (*BLUE, 255)
    path = tmp_path / "flag.png"
    Image.fromarray(pixels).save(path)
    return path


@pytest.mark.slow
def test_one_command_grows_holds_and_heals_in_the_pictures_colours(dct, flag):
    result = dct(f"train-pattern --target {flag} --heal --seed=3 --dir=out --json").good
    assert "flag.png: 8×8 pixels as 8×8 cells, 3 colours" in result.stderr
    assert "and grow back after any square of 2 or 4 cells is erased" in result.stderr
    assert "at most" not in result.stderr.replace("of at most 45", ""), "no bound of hours"
    proof = result.json["scores"]["assurance"]
    assert proof["verdict"] == "proved"
    assert "each of 74 cases of damage" in proof["text"]

    assert dct("render out -o end.png --at=30 --scale=1").good
    pixels = np.asarray(Image.open("end.png").convert("RGB"))[:8, :8]
    original = np.asarray(Image.open(flag))
    clear = original[..., 3] == 0
    assert_array_equal(pixels[~clear], original[~clear][:, :3])
    assert (pixels[clear] == 255).all()

    assert dct("simplify out -o c.json --effort=low").good
    palette = json.loads(Path("c.json").read_text())["palette"]
    assert {*palette[1:3]} == {"#d63031", "#1e5ac8"}
    assert dct("simulate c.json --steps=30 --picture=s.png").good
    # Of each cell's square of pixels, one.
    side = Image.open("s.png").width // 8
    drawn = np.asarray(Image.open("s.png").convert("RGB"))[::side, ::side]
    assert_array_equal(drawn[~clear], original[~clear][:, :3])


@pytest.mark.slow
def test_a_tough_picture_keeps_damage_where_it_is(dct, flag):
    arguments = "--heal --tough --size=16x20 --seed=3 --dir=out"
    result = dct(f"train-pattern --target {flag} {arguments}").good
    assert "its place among them, told by majorities" in result.stderr
    found = dct("verify convergence out --damage=4 --json")
    assert "on 16×20 cells" in found.json["damage"]["text"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--tough lizard", "choose a configuration by the picture"),
        ("--tough --channels=64", "--tough does not go with --channels"),
        ("--hold --dir=full", "full: is not empty"),
    ],
)
def test_refusals(dct, flag, arguments, message):
    Path("full").mkdir()
    Path("full/x").touch()
    assert message in dct(f"train-pattern --target {flag} {arguments}").refusal
    assert not Path("runs").exists()


@pytest.mark.parametrize("more", ["", "--hold", "--heal", "--tough"])
def test_places_are_trained_for_the_epochs_that_were_asked(dct, flag, more):
    """Nothing is searched before the last one."""
    told = dct(f"train-pattern --target={flag} --size=20x20 --epochs=3 {more}").stderr
    assert "; learned, then corrected" in told
    assert "learning epoch 1 of 3; " in told
    assert "200 epochs" not in told
    assert "ends once a circuit is exact" not in told


@pytest.mark.parametrize("command", ["train", "train-pattern --hold", "config show"])
def test_a_picture_in_a_configurations_place_is_told_its_option(dct, flag, command):
    shown = f"to grow a picture: dct train-pattern --target {flag}"
    assert shown in dct(f"{command} {flag}").refusal
    missing = flag.with_name("flog.png")
    found = dct(f"train-pattern --target {missing}").refusal
    assert found.endswith(f"{missing}: no such picture: did you mean {flag}?\n")


def test_holding_a_picture_on_a_torus_warns(dct):
    small = "--set=perception.kernels=1 '--set=update.gates=[4]'"
    result = dct(
        f"train lizard --set=automaton.channels=4 {small} --set=task.hold=true --epochs=1",
    )  # fmt: skip
    assert "no picture was ever held on a torus" in result.stderr
    assert "train-pattern --hold" in result.stderr
