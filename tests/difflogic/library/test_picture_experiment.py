"""Plans for growing pictures are valid configurations that fit the options."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from difflogic.config import load_config
from difflogic.library.groups import PictureOptions
from difflogic.library.picture_experiment import experiment_for
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.pictures.picture import Picture, read
from difflogic.system.errors import ConfigError
from difflogic.tasks import make_task

PICTURES = Path(__file__).parents[2] / "pictures"
NAMES = sorted(path.stem.rpartition("-")[0] for path in PICTURES.glob("*-16.png"))


def config_of(growth):
    return load_config(growth.default, growth.overrides)


def pixels_of(path):
    """Return the colours as Pillow reads them, None where the picture is transparent."""
    image = Image.open(path).convert("RGBA")
    raw = np.asarray(image).reshape(-1, 4).tolist()
    return [tuple(color[:3]) if color[3] else None for color in raw]


@pytest.mark.once
@pytest.mark.parametrize("name", NAMES)
def test_shipped_pictures_keep_every_pixel(name):
    for side in (16, 32, 48):
        path = PICTURES / f"{name}-{side}.png"
        config = config_of(experiment_for(read(str(path)), PictureOptions(hold=True)))
        task = make_task(config)
        bits = task.target.astype(int)
        assert bits.shape[1:] == (side, side)
        numbers = sum(bit << place for place, bit in enumerate(bits)).ravel().tolist()
        grown = [task.palette[number] if number else None for number in numbers]
        assert grown == pixels_of(path)


@pytest.mark.parametrize("side", [16, 32])
@pytest.mark.parametrize("options", [{}, {"hold": True}, {"heal": True}])
def test_a_plan_fits_its_options(options, side):
    picture = read(str(PICTURES / f"icon-boat-{side}.png"))
    config = config_of(experiment_for(picture, PictureOptions(**options)))
    task = make_task(config)
    assert config.task.hold == bool(options)
    assert config.task.heal == ((side // 4, side // 2) if "heal" in options else ())
    assert config.automaton.boundary == "zero"
    assert not task.start_state.any()
    assert from_model(Model.create(config)).palette == picture.palette
    # On small grids, cells learn their places, and learn to stay before they heal.
    assert config.automaton.places == (side > 16)
    steps = config.automaton.steps
    heals = "heal" in options
    assert [stage.automaton.steps for stage in task.stages] == (
        [1] if side > 16 else [steps] * (1 + heals)
    )


def test_options_override_the_plan():
    picture = read(str(PICTURES / "icon-heart-48.png"), 8, (20, 24))
    config = config_of(experiment_for(picture, PictureOptions(channels=32, steps=40)))
    assert (config.task.height, config.task.width) == (20, 24)
    assert (config.automaton.channels, config.update.gates[-1]) == (32, 32)
    assert config.automaton.steps == 40
    assert "scaled from 48×48 pixels to 24×20 cells" in picture.warning


def test_text_and_pictures_of_bits_are_read():
    assert read("letter-g").bits.shape == (3, 16, 16)
    lizard = read("lizard", size=(32, 32))
    assert lizard.bits.shape == (1, 32, 32)
    assert lizard.palette == ()
    image = str(PICTURES / "icon-house-32.png")
    assert read(image, 1).bits.shape == (1, 20, 20)
    assert read(image, 3, (32, 32)).bits.shape == (3, 32, 32)
    config = config_of(experiment_for(lizard, PictureOptions(hold=True)))
    assert make_task(config).palette == ()


def test_unsuitable_pictures_are_refused(tmp_path):
    text = tmp_path / "text.png"
    text.write_text("no picture\n")
    for name, size, message in (
        (text, None, r"is text, though its name ends in \.png"),
        ("lizzard", None, r"lizzard.*lizard"),
        (PICTURES / "icon-boat-16.png", (257, 8), "257×8 cells are more than 256×256"),
    ):
        with pytest.raises(ConfigError, match=message):
            read(str(name), size=size)
    for shape, options, message in (
        ((3, 9), {"heal": True}, "too few to heal"),
        ((257, 8), {}, "more than 256×256:"),
        ((65, 8), {"channels": 64}, "more than 64×64 with --channels"),
    ):
        wall = Picture("wall", np.ones((1, *shape), np.uint8))
        with pytest.raises(ConfigError, match=message):
            experiment_for(wall, PictureOptions(**options))


@pytest.mark.parametrize("times", [1, 4, 20])
def test_upscaled_pixel_art_has_the_cells_that_were_drawn(tmp_path, times):
    sprite = np.zeros((9, 11, 3), np.uint8)
    sprite[2:5, 3:8] = (200, 0, 0)
    sprite[6, 5] = (0, 200, 0)
    path = tmp_path / "a.png"
    Image.fromarray(sprite).save(path)
    plain = read(str(path))
    Image.fromarray(sprite.repeat(times, axis=0).repeat(times, axis=1)).save(path)
    found = read(str(path))
    np.testing.assert_array_equal(found.bits, plain.bits)
    assert found.palette == plain.palette
    assert not found.warning
    assert (f"{times} pixels to a side of each cell" in found.words) == (times > 1)
    assert read(str(path), size=(18, 22)).bits.shape[1:] == (18, 22)


def test_large_squares_are_what_an_image_shows(tmp_path):
    shown = np.zeros((64, 64), np.uint8)
    shown[16:48, 16:48] = 255
    Image.fromarray(shown).save(path := tmp_path / "a.png")
    assert read(str(path)).bits.shape[1:] == (64, 64)
