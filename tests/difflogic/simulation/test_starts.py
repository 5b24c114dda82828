from __future__ import annotations

import zipfile

import numpy as np
import pytest
from PIL import Image

from difflogic.errors import ConfigError
from difflogic.simulation import picture, starts, state_file
from difflogic.simulation.bit_grid import BitGrid, Geometry
from difflogic.simulation.simulator import Conditions, Simulator
from tests.difflogic.formats.made import random_circuit
from tests.difflogic.logic.circuits import automaton

GLIDER = "#N Glider\nx = 3, y = 3, rule = B3/S23\nbob$2bo$3o!\n"
GLIDER_CELLS = [[0, 1, 0], [0, 0, 1], [1, 1, 1]]


def made(height=20, width=70, visible=(7,), labels=(3, 7, 9, 8)):
    circuit = random_circuit(len(labels), 20, np.random.default_rng(0), labels)
    conditions = Conditions(Geometry(len(labels), height, width, "periodic"), seed=1)
    return Simulator(circuit, conditions, "interpreter"), automaton(circuit, visible=visible)


def prepared(start, **sizes):
    simulator, whole = made(**sizes)
    starts.prepare(simulator, whole, str(start), 0.25)
    return simulator.grid.bits()


def test_starts_without_a_file():
    assert not prepared("zeros").any()
    middle = prepared("center")
    assert middle.sum() == 4
    assert (middle[:, 10, 35] == 1).all()
    assert 0.2 < prepared("random").mean() < 0.3


def test_pictures_stand_in_the_middle_of_visible_channels(tmp_path):
    (tmp_path / "glider.rle").write_text(GLIDER)
    (tmp_path / "plus.txt").write_text(".#.\n###\n.#.\n")
    for name, cells in (
        ("glider.rle", GLIDER_CELLS),
        ("plus.txt", [[0, 1, 0], [1] * 3, [0, 1, 0]]),
    ):
        bits = prepared(tmp_path / name)
        np.testing.assert_array_equal(bits[1, 9:12, 34:37], cells)
        assert bits.sum() == np.sum(cells)
    with pytest.raises(ConfigError, match="larger --size"):
        prepared(tmp_path / "plus.txt", height=2)


def test_images(tmp_path):
    pixels = np.full((40, 40), 255, np.uint8)
    pixels[10:30, 10:30] = 0
    Image.fromarray(pixels).save(tmp_path / "square.png")
    bits = prepared(tmp_path / "square.png", height=600, width=600)
    assert bits[1].sum() == 256 * 256
    assert not bits[[0, 2, 3]].any()
    with pytest.raises(ConfigError, match="2 are visible"):
        prepared(tmp_path / "square.png", visible=(3, 7))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "no run-length"),
        ("x = 3, y = 0\n!", "0×3 cells"),
        ("x = 3, y = 1\n4o!", "row 1 is outside"),
        ("x = 3, y = 1\n$o!", "row 2 is outside"),
        ("x = 3, y = 1\nq!", '"q" is no sign'),
        ("x = 99999999, y = 99999999\n!", "more than"),
    ],
)
def test_patterns_that_are_none(text, hint):
    with pytest.raises(ConfigError, match=hint):
        starts.parse_rle(text)


def test_files_that_are_missing(tmp_path):
    for name in ("no.txt", "no.npz", "no.png", "no.rle"):
        with pytest.raises(ConfigError, match=f"{name}: cannot be read: no such file"):
            prepared(tmp_path / name)


@pytest.mark.parametrize("width", [1, 64, 70, 200])
def test_a_saved_state_comes_back(tmp_path, width):
    simulator, whole = made(width=width)
    simulator.randomize()
    simulator.step = 17
    state_file.save(tmp_path / "state.npz", simulator)
    other, _ = made(width=width)
    starts.prepare(other, whole, str(tmp_path / "state.npz"), 0.5)
    assert other.step == 17
    np.testing.assert_array_equal(other.grid.words, simulator.grid.words)
    with np.load(tmp_path / "state.npz") as saved:
        bits = np.unpackbits(saved["cells"], axis=2, count=width, bitorder="little")
        np.testing.assert_array_equal(bits, simulator.grid.bits())
        assert saved["labels"].tolist() == [3, 7, 9, 8]


def test_other_states_are_refused(tmp_path):
    path = tmp_path / "state.npz"
    simulator, _ = made()
    state_file.save(path, simulator)
    for sizes, hint in (({"height": 21}, "--size 20x70"), ({"labels": (3, 7, 9, 5)}, "channels")):
        with pytest.raises(ConfigError, match=hint):
            prepared(path, **sizes)
    content = path.read_bytes()
    for damaged in (b"", content[:-30], content[: len(content) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(ConfigError, match="no state that dct saved"):
            prepared(path)
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("size", "labels", "step", "cells"):
            archive.writestr(f"{name}.npy", b"\x93NUMPY nonsense")
    with pytest.raises(ConfigError, match="no state that dct saved"):
        prepared(path)


def test_pixels():
    grid = BitGrid(Geometry(3, 4, 70, "zero"))
    bits = np.random.default_rng(0).integers(0, 2, (3, 4, 70), np.uint8)
    grid.load_bits(bits)
    np.testing.assert_array_equal(
        picture.render(grid, [2, 0, 1]), np.moveaxis(bits[[2, 0, 1]], 0, -1) * 255
    )
    one = picture.render(grid, [1])
    np.testing.assert_array_equal(one[bits[1] == 1], np.tile(picture.INK, (bits[1].sum(), 1)))
    np.testing.assert_array_equal(
        one[bits[1] == 0], np.tile(picture.GROUND, (280 - bits[1].sum(), 1))
    )
    assert len(np.unique(picture.render(grid, [0, 1])[..., 0])) == 3


def test_pixels_of_large_grids_are_means(monkeypatch):
    monkeypatch.setattr(picture, "SIDE", 30)
    grid = BitGrid(Geometry(3, 5, 70, "zero"))
    bits = np.random.default_rng(0).integers(0, 2, (3, 5, 70), np.uint8)
    grid.load_bits(bits)
    pixels = picture.render(grid, [0, 1, 2])
    assert pixels.shape == (2, 24, 3)
    assert pixels[0, 0, 1] == round(255 * bits[1, :3, :3].mean())
    assert pixels[1, 23, 2] == round(255 * bits[2, 3:, 69:].mean())


def test_small_grids_are_enlarged(tmp_path):
    grid = BitGrid(Geometry(1, 4, 8, "zero"))
    picture.save_picture(tmp_path / "out.png", grid, [0])
    with Image.open(tmp_path / "out.png") as image:
        assert image.size == (512, 256)
