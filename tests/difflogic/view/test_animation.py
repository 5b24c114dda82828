"""Pictures of rollouts, read back by Pillow and compared pixel by pixel with the oracle."""

from dataclasses import fields

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image, ImageSequence

from difflogic.library import starts
from difflogic.library.conditions import Conditions, Rectangle
from difflogic.library.groups import Frames
from difflogic.library.rendering import render
from difflogic.simulation.bit_grid import Geometry
from difflogic.simulation.simulator import Simulator
from difflogic.simulation.simulator import World as Setting
from difflogic.simulation.state_picture import INK, PAPER
from difflogic.system.errors import ConfigError
from difflogic.view.animation import LABEL_PIXELS
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.circuit.rules import life_like, random_circuit
from tests.difflogic.simulation.naive import simulate

LIFE = automaton(life_like("3", "23"), height=6, width=8, steps=9)
THREE = automaton(random_circuit(np.random.default_rng(1), 3, 40), height=5, width=7, steps=4)


def states(found, steps, damage=None):
    """The states after each step, (steps + 1, channels, height, width), in the plainest way."""
    geometry = Geometry(found.circuit.channels, found.height, found.width, found.boundary)
    with Simulator(found.circuit, Setting(geometry, seed=0), "interpreter") as simulator:
        starts.prepare(simulator, found, Conditions(start=found.start))
        state = simulator.grid.bits()
    masks = damage or {}
    rest = [
        simulate(found.circuit, state, n, found.boundary, damage=masks) for n in range(1, steps + 1)
    ]
    return np.stack([state, *rest])


def frames(path):
    """All frames (frames, rows, columns, 3), and their durations in milliseconds."""
    with Image.open(path) as image:
        found = [
            (np.asarray(frame.convert("RGB")), frame.info.get("duration"))
            for frame in ImageSequence.Iterator(image)
        ]
    return np.stack([pixels for pixels, _ in found]), [stay for _, stay in found]


def two_colors(bits, scale):
    return np.array([PAPER, INK], np.uint8)[bits].repeat(scale, axis=-3).repeat(scale, axis=-2)


@pytest.mark.parametrize("suffix", [".gif", ".apng"])
def test_every_pixel_of_an_animation_shows_its_cell(tmp_path, suffix):
    path = tmp_path / f"life{suffix}"
    done = render(LIFE, path, frames=Frames(scale=3, frames_per_second=20))
    pixels, durations = frames(path)
    assert_array_equal(pixels, two_colors(states(LIFE, 9)[:, 0], 3))
    assert (done.height, done.width, done.steps) == (18, 24, tuple(range(10)))
    assert durations == [50] * 9 + [1000]
    assert done.bytes == path.stat().st_size


def test_three_channels_are_red_green_and_blue(tmp_path):
    render(THREE, tmp_path / "a.apng", frames=Frames(scale=1, every=4))
    pixels, _ = frames(tmp_path / "a.apng")
    found = states(THREE, 4)[[0, 4]]
    assert_array_equal(pixels, np.moveaxis(found, 1, -1) * 255)


def test_a_film_shows_the_damage(tmp_path):
    conditions = Conditions(steps=3, damage=[Rectangle((2,), 1, 2, 3, 4)])
    render(LIFE, tmp_path / "a.apng", conditions, Frames(scale=4))
    mask = np.zeros((6, 8), np.uint8)
    mask[1:4, 2:6] = 1
    expected = states(LIFE, 3, {2: mask})
    assert not (expected[2, 0] & mask).any()
    assert_array_equal(frames(tmp_path / "a.apng")[0], two_colors(expected[:, 0], 4))


def test_a_strip_has_labels_below(tmp_path):
    path = tmp_path / "a.png"
    done = render(LIFE, path, frames=Frames(at=[0, 3, 9], scale=5))
    (pixels,), _ = frames(path)
    assert pixels.shape[0] == 30 + LABEL_PIXELS
    expected = two_colors(states(LIFE, 9)[[0, 3, 9], 0], 5)
    width = (pixels.shape[1] + 24) // 3
    for number, frame in enumerate(expected):
        part = pixels[:30, number * width : number * width + 40]
        assert_array_equal(part, frame)
    assert (pixels[30:] != 255).any()
    assert done.steps == (0, 3, 9)
    assert Image.open(path).mode == "P"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"channels": [5]}, "no channel 5"),
        ({"every": 0}, "every 0: must be at least 1"),
        ({"size": (0, 4)}, "0×4 cells"),
        ({"damage": [Rectangle((1,), 0, 0, 9, 9)]}, "not within"),
        ({"damage": [Rectangle((11,), 0, 0, 1, 1)]}, "from 1 to 9"),
        ({"steps": 2 * 10**15, "every": 2}, "1000000000000001 frames are too many .*raise --every"),
        ({"steps": 5000, "size": (512, 512), "scale": 4}, "too many"),
    ],
)
def test_wrong_options_are_refused(tmp_path, options, message):
    file = tmp_path / "a.gif"
    names = {field.name for field in fields(Conditions)} & set(options)
    conditions = {name: options.pop(name) for name in names}
    with pytest.raises(ConfigError, match=message):
        render(LIFE, file, Conditions(**conditions), Frames(**options))
    assert not file.exists()
