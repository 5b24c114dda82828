"""Two pictures by one circuit, each from its own start, compared with the plain oracle."""

import numpy as np
import pytest
from PIL import Image

from difflogic.circuit import gates
from difflogic.config import load_config
from difflogic.engine import oracle
from difflogic.evaluation.exactness import assure
from difflogic.library.groups import PictureOptions
from difflogic.library.picture_experiment import experiment_for
from difflogic.pictures.picture import read_two
from difflogic.system.errors import ConfigError
from difflogic.tasks import make_task
from tests.difflogic.training.tiny import trained

SIDE = 11
RED = (214, 48, 49, 255)
BLUE = (30, 90, 200, 255)


@pytest.fixture
def images(tmp_path):
    """A red square and a blue cross, on nothing."""
    square, cross = np.zeros((2, SIDE, SIDE, 4), np.uint8)
    square[2:8, 3:9] = RED
    cross[:, 5] = cross[4] = BLUE
    for name, pixels in (("square", square), ("cross", cross)):
        Image.fromarray(pixels).save(tmp_path / f"{name}.png")
    return [str(tmp_path / f"{name}.png") for name in ("square", "cross")], (square, cross)


@pytest.mark.thorough
def test_each_start_grows_its_own_picture_which_stays_and_heals(images):
    paths, pixels = images
    growth = experiment_for(read_two(*paths), PictureOptions(heal=True))
    config = load_config(growth.default, [*growth.overrides, "training.seed=1"])
    task = make_task(config)
    changed = load_config(growth.default, [*growth.overrides, "task.start=center"])
    assert not make_task(changed).cases().starts[0].any()
    trainer, _ = trained(config)
    assert trainer.exact_epoch is not None
    model = trainer.result
    found = assure(model)
    assert found.proved
    assert "from nothing; " in found.text
    assert found.text.endswith("from one cell")
    steps = config.automaton.steps
    rng = np.random.default_rng(0)
    starts = np.zeros((2, config.automaton.channels, SIDE, SIDE), np.uint8)
    starts[1, :, SIDE // 2, SIDE // 2] = 1
    for start, wanted in zip(starts, pixels, strict=True):
        states = oracle.rollout(model.netlist, gates.one_hot(model.ops), start, steps, "zero")
        y, x = rng.integers(0, SIDE - 5, 2)
        wounded = states[-1].copy()
        wounded[:, y : y + 5, x : x + 5] = 0
        healed = oracle.rollout(model.netlist, gates.one_hot(model.ops), wounded, steps, "zero")
        for state in (states[-1], healed[-1]):
            number = (state[:2].astype(int) * [[[1]], [[2]]]).sum(axis=0)
            colors = np.array(task.palette)[number]
            drawn = wanted[..., 3] > 0
            np.testing.assert_array_equal(colors[drawn], wanted[drawn][:, :3])
            assert not number[~drawn].any()


def test_scaling_two_pictures_warns(images):
    paths, _ = images
    assert read_two(*paths).warning == ""
    scaled = read_two(*paths, size=(9, 9))
    assert scaled.warning.startswith(f"scaled from {SIDE}×{SIDE} pixels to 9×9 cells")


def test_invalid_pairs(images, tmp_path):
    paths, _ = images
    small = tmp_path / "small.png"
    image = Image.new("RGB", (4, 4), "red")
    image.save(small)
    for pair in ((paths[0], str(small)), (str(small), paths[0])):
        with pytest.raises(ConfigError, match=r"small\.png: the image has one colour"):
            read_two(*pair)
    image.putpixel((0, 0), (255, 255, 255))
    image.save(small)
    with pytest.raises(ConfigError, match="make both of one size"):
        read_two(paths[0], str(small))
    with pytest.raises(ConfigError, match="must be images"):
        read_two("lizard", paths[0])
    with pytest.raises(ConfigError, match="switch = true"):
        load_config("lizard-small-hold", ['task.second="##"'])
    growth = experiment_for(read_two(*paths), PictureOptions(hold=True))
    with pytest.raises(ConfigError, match=r"second: the picture has 1×2 cells"):
        load_config(growth.default, [*growth.overrides, 'task.second="##"'])
    with pytest.raises(ConfigError, match="too few to count 11 cells"):
        load_config(growth.default, [*growth.overrides, "automaton.steps=5"])
