import os
import tracemalloc
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from difflogic.library import starts
from difflogic.library.conditions import Conditions
from difflogic.pictures.patterns import parse_pattern
from difflogic.simulation import bit_grid, state_picture
from difflogic.simulation.bit_grid import BitGrid, Geometry
from difflogic.simulation.simulator import Simulator, World
from difflogic.simulation.state_picture import INK, PAPER
from difflogic.system.errors import ConfigError, DctError, ModelFileError
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.formats.made import random_circuit
from tests.difflogic.simulation import naive

GLIDER = "#N Glider\nx = 3, y = 3, rule = B3/S23\nbob$2bo$3o!\n"
GLIDER_CELLS = [[0, 1, 0], [0, 0, 1], [1, 1, 1]]


def made(height=20, width=70, visible=(7,), labels=(3, 7, 9, 8)):
    circuit = random_circuit(len(labels), 20, np.random.default_rng(0), labels)
    world = World(Geometry(len(labels), height, width, "periodic"), seed=1)
    return Simulator(circuit, world, "interpreter"), automaton(circuit, visible=visible)


@pytest.fixture
def saved(tmp_path):
    """A saved state of `made()`."""
    starts.save_state(tmp_path / "state.npz", made()[0])
    return tmp_path / "state.npz"


def prepared(start, **sizes):
    simulator, whole = made(**sizes)
    starts.prepare(simulator, whole, Conditions(start=start))
    return simulator.grid.bits()


def test_named_starts():
    assert not prepared("zeros").any()
    middle = prepared("center")
    assert middle.sum() == 4
    assert (middle[:, 10, 35] == 1).all()
    assert 0.45 < prepared("random").mean() < 0.55


def test_pictures_go_to_the_middle_of_the_visible_channels(tmp_path):
    (tmp_path / "glider.rle").write_text("#CXRLE Pos=0,0\n" + GLIDER.replace("S23", "S23:T9"))
    (tmp_path / "plus.txt").write_text(".#.\n###\n.#.\n")
    for name, cells in (
        ("glider.rle", GLIDER_CELLS),
        ("plus.txt", [[0, 1, 0], [1] * 3, [0, 1, 0]]),
    ):
        bits = prepared(tmp_path / name)
        assert_array_equal(bits[1, 9:12, 34:37], cells)
        assert bits.sum() == np.sum(cells)
    with pytest.raises(ConfigError, match="larger --size"):
        prepared(tmp_path / "plus.txt", height=2)


def test_letters_are_states(tmp_path):
    assert parse_pattern(b"x = 6, y = 1\nA.XpAyO!").cells.tolist() == [[1, 0, 24, 25, 255, 0]]
    (tmp_path / "states.RLE").write_text("x = 3, y = 2\n.AB$C!\n")
    bits = prepared(tmp_path / "states.RLE", visible=(3, 9))
    assert_array_equal(bits[0, 9:11, 34:37], [[0, 1, 0], [1, 0, 0]])
    assert_array_equal(bits[2, 9:11, 34:37], [[0, 0, 1], [1, 0, 0]])
    with pytest.raises(ConfigError, match="has the state 3, more than the"):
        prepared(tmp_path / "states.RLE")


def test_images(tmp_path, said):
    pixels = np.full((40, 40), 255, np.uint8)
    pixels[10:30, 10:30] = 0
    Image.fromarray(pixels).save(tmp_path / "square.png")
    bits = prepared(tmp_path / "square.png", height=600, width=600)
    assert bits[1].sum() == 256 * 256
    assert "an image, scaled to 512×512 cells and reduced to ink" in said[0]
    assert not bits[[0, 2, 3]].any()
    with pytest.raises(ConfigError, match="2 are visible"):
        prepared(tmp_path / "square.png", visible=(3, 7))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("!Name: Glider\n.O\n..O\nOOO\n", ""),
        (".O.\r\n..O\r\nOOO", ""),
        ("x = 3, y = 3, rule = 23/3\nbo$2bo$3o!\n", "B3/S23"),
        ("x = 3, y = 3, rule = Life\nbo$2bo$3o!\n", "B3/S23"),
        ("!\n\n  .O.\n  ..O\n  OOO\n", ""),
    ],
)
def test_a_glider_in_every_format(text, rule):
    found = parse_pattern(text.encode())
    assert_array_equal(found.cells, GLIDER_CELLS)
    assert (found.corner, found.rule) == (None, rule)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "is not a run-length encoded pattern"),
        ("!only a name", "0×0 cells"),
        ("!\n.O\n.x\n", '"x" is not allowed'),
        ("#Life 1.06\n0 0\n", "is not a run-length encoded pattern"),
        ("#CXRLE Pos=here,0\nx = 1, y = 1\no!", '"here 0" is no place'),
        ("x = 3, y = 0\n!", "0×3 cells"),
        ("x = 3, y = 1\n4o!", "row 1 has 4 cells or more: it declares 1×3"),
        ("x = 3, y = 1\no$o!", "row 2 is one too many: it declares 1×3"),
        ("!\n.O\n  O\nOOO\n", '" " is not allowed'),
        ("#CXRLE Pos=0,-99999999999\nx = 1, y = 1\no!", "-99999999999. is too far away"),
        ("x = 3, y = 1\nq!", '"q" is not allowed'),
        ("x = 99999999, y = 99999999\n!", "must be from 1 to"),
    ],
)
def test_bad_patterns(text, hint):
    with pytest.raises(ConfigError, match=hint):
        parse_pattern(text.encode())


@pytest.mark.parametrize("name", ["no.txt", "no.rle", "no.npz"])
def test_nothing_waits_for_a_pipe(tmp_path, name):
    with pytest.raises(DctError, match=f"{name}: (cannot be read: )?no such file"):
        prepared(tmp_path / name)
    os.mkfifo(tmp_path / name)
    with pytest.raises(DctError, match="not a regular file"):
        prepared(tmp_path / name)


@pytest.mark.parametrize("width", [1, 64, 70, 200])
def test_a_saved_state_comes_back(tmp_path, width, monkeypatch):
    simulator, whole = made(width=width)
    simulator.randomize()
    simulator.step = 17
    monkeypatch.setattr(bit_grid, "_BAND_BYTES", 2**10)
    starts.save_state(tmp_path / "state.npz", simulator)
    other, _ = made(width=width)
    starts.prepare(other, whole, Conditions(start=str(tmp_path / "state.npz")))
    assert other.step == 17
    assert_array_equal(other.grid.words, simulator.grid.words)
    with np.load(tmp_path / "state.npz") as saved:
        bits = np.unpackbits(saved["cells"], axis=2, count=width, bitorder="little")
        assert_array_equal(bits, simulator.grid.bits())
        assert saved["labels"].tolist() == [3, 7, 9, 8]


def test_other_states_are_refused(saved):
    for sizes, hint in (({"height": 21}, "--size 20x70"), ({"labels": (3, 7, 9, 5)}, "channels")):
        with pytest.raises(ConfigError, match=hint):
            prepared(saved, **sizes)
    content = saved.read_bytes()
    for damaged in (b"", content[:-30], content[: len(content) // 2]):
        saved.write_bytes(damaged)
        with pytest.raises(ModelFileError, match="is empty, cut off, or no npz archive"):
            prepared(saved)
    with zipfile.ZipFile(saved, "w") as archive:
        for name in ("size", "labels", "step", "cells"):
            archive.writestr(f"{name}.npy", b"\x93NUMPY nonsense")
    with pytest.raises(ModelFileError, match="not a NumPy array"):
        prepared(saved)
    np.savez(saved, frames=0)
    with pytest.raises(ModelFileError, match="--frame"):
        prepared(saved)


def rewritten(path, **arrays):
    """Write a saved state with other arrays in place of its own."""
    with np.load(path) as saved:
        whole = dict(saved) | arrays
    np.savez_compressed(path, **whole)


@pytest.mark.parametrize("step", [-1, 2**62 + 1])
def test_impossible_steps_are_refused(saved, step):
    rewritten(saved, step=np.int64(step))
    with pytest.raises(ConfigError, match=f"after step {step}: dct never saves such a state"):
        prepared(saved)


@pytest.mark.parametrize("name", ["size", "labels", "step", "cells"])
def test_arrays_that_are_too_large_are_not_read(saved, name):
    """The file is small, but one array has a million numbers."""
    rewritten(saved, **{name: np.zeros(2**20, np.int64)})
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=r"it was not read|must have shape"):
            prepared(saved)
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()


def test_pixels():
    grid = BitGrid(Geometry(3, 4, 70, "zero"))
    bits = np.random.default_rng(0).integers(0, 2, (3, 4, 70), np.uint8)
    naive.load(grid, bits)
    for channels in ([2, 0, 1], [1], [0, 1]):  # test_animation.py tests their colours
        numbers = np.tensordot(1 << np.arange(len(channels)), bits[channels], 1)
        expected = np.array(state_picture.usual_palette(len(channels)))[numbers]
        assert_array_equal(state_picture.render(grid, channels), expected)


def test_a_start_of_another_type_is_described_not_printed():
    with pytest.raises(ConfigError, match=r"^start: is .* or the name of a file"):
        Conditions(start=[[0, 1]])


def test_arrays_and_files_of_arrays_are_starts(tmp_path):
    drawn = np.random.default_rng(1).integers(0, 2, (10, 20, 70))
    assert_array_equal(prepared(drawn), drawn[[3, 7, 9, 8]])  # by the labels
    for array in (drawn[0], drawn[:1] > 0, drawn[0].astype(float)):
        found = prepared(array)
        assert_array_equal(found[1], drawn[0])
        assert not found[[0, 2, 3]].any()
    np.savez(tmp_path / "start.npz", start=GLIDER_CELLS)
    glider = prepared(tmp_path / "start.npz")
    assert_array_equal(glider[1, 9:12, 34:37], GLIDER_CELLS)
    assert glider.sum() == 5


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.full((20, 70), 0.5), "give bits, 0 and 1"),
        (np.zeros((3, 20, 70)), r"shape \(3, 20, 70\): give \(rows, columns\), \(1, rows"),
        (np.zeros((21, 70)), "use a larger --size"),
        (np.zeros((10, 5, 6)), "10 or more, 20, 70"),
        (np.array(["a"]), "give bits"),
    ],
)
def test_other_arrays_are_refused(array, message):
    with pytest.raises(ConfigError, match=message):
        prepared(array)


@pytest.mark.parametrize("side", [5, 6, 7])
def test_the_last_pixels_of_a_picture_stand_for_fewer_cells(side, monkeypatch):
    """Each shows the share of the cells that it has, in the last row and column, too."""
    monkeypatch.setattr(state_picture, "SIDE", 2)
    bits = np.random.default_rng(side).integers(0, 2, (1, side, side), np.uint8)
    grid = BitGrid(Geometry(1, side, side, "zero"))
    naive.load(grid, bits)
    square = -(-side // 2)
    shown = state_picture.render(grid, [0])
    for y, x in np.ndindex(2, 2):
        part = bits[0, y * square : (y + 1) * square, x * square : (x + 1) * square]
        wanted = np.array(PAPER) + part.mean() * (np.array(INK) - np.array(PAPER))
        assert np.allclose(shown[y, x], wanted, atol=0.51)
