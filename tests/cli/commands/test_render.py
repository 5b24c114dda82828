"""`dct render`: what it passes on, says and refuses; the pixels are tried elsewhere."""

from pathlib import Path

from PIL import Image

CIRCUIT = str(Path(__file__).parents[3] / "docs" / "gallery" / "checkerboard.json")


def test_an_animation(dct):
    result = dct(
        "render",
        CIRCUIT,
        "-o",
        "a.gif",
        "--steps",
        "12",
        "--every",
        "3",
        "--damage",
        "6:2,2,5x5",
        "--larger",
        "--fps",
        "5",
    )
    assert result.exit_code == 0, result.stderr
    with Image.open("a.gif") as image:
        assert image.n_frames == 5
        size = f"{image.height}×{image.width}"
    assert f"saved a.gif: 5 frames of {size} pixels, " in result.stderr


def test_a_strip_of_chosen_steps(dct):
    result = dct("render", CIRCUIT, "-o", "a.png", "--at", "0,4-6")
    assert "saved a.png: 4 frames" in result.stderr


def test_what_is_refused(dct):
    Path("there.gif").write_text("mine")
    for arguments, said in (
        (("-o", "a.mp4"), "must end in .gif"),
        (("-o", "there.gif"), "--force"),
        (("-o", "a.gif", "--at", "x"), '--at "x"'),
        (("-o", "a.gif", "--damage", "x"), "must be STEPS:Y,X,HxW"),
        (("-o", "a.gif", "--boundary", "open"), "'open' is not one of"),
        ((), "output"),
    ):
        result = dct("render", CIRCUIT, *arguments)
        assert result.exit_code == 2, arguments
        assert said in result.stderr, arguments
    assert Path("there.gif").read_text() == "mine"
