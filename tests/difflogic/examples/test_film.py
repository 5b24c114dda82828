"""Files as other programs write them: nothing is read otherwise than meant, or it is told."""

import io
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from difflogic.circuit.colors import hex_color
from difflogic.examples.assumptions import Assumptions
from difflogic.examples.film import Reading, read
from difflogic.formats.imported import read as read_rule
from difflogic.identification.identified import identify
from difflogic.library.conditions import Conditions
from difflogic.library.groups import Frames
from difflogic.library.rendering import render
from difflogic.library.simulating import simulate
from difflogic.library.synthesizing import synthesize
from difflogic.pictures.images import quantise
from difflogic.pictures.pixel_cells import apart
from difflogic.pictures.pixels import read_frames
from difflogic.simulation.state_picture import INK, PAPER
from difflogic.system.errors import ConfigError, DctError
from tests.difflogic.circuit.circuits import automaton, circuit_of
from tests.difflogic.circuit.rules import life_like
from tests.difflogic.identification.automata import film, life, soup
from tests.difflogic.simulation import naive

WAITING = circuit_of([], [13, 14, 11])
"""Three channels: the first one repeats what it shows, and changes later."""
FRAMES = film(life, soup(np.random.default_rng(0), (8, 9)), 6)
PALETTE = ((255, 255, 255), (200, 0, 0), (0, 0, 200), (0, 160, 0))


def animated(out, frames, kind=None, **options):
    """Save arrays or images as one file, and return it."""
    first, *rest = [each if hasattr(each, "save") else Image.fromarray(each) for each in frames]
    first.save(out, kind, save_all=True, append_images=rest, **options)
    return out


def grown(made, steps=4):
    """The states of an automaton by step, (steps + 1, height, width), in the plainest way."""
    first = simulate(made, Conditions(steps=0)).grid.bits()
    rest = [naive.simulate(made.circuit, first, n + 1, made.boundary) for n in range(steps)]
    shown = np.stack([first, *rest])[:, list(made.visible_rows)]
    return np.tensordot(1 << np.arange(shown.shape[1]), shown, (0, 1))


@pytest.mark.parametrize("suffix", [".gif", ".apng"])
@pytest.mark.parametrize("size", [(3, 4), (1, 9)])
@pytest.mark.parametrize("visible", [(0,), (0, 1), (2, 0, 1), "palette"])
def test_films_that_dct_draws_have_every_frame_and_come_back(tmp_path, suffix, size, visible, said):
    options = {"visible": visible}
    if visible == "palette":
        options = {"visible": (2, 0), "palette": PALETTE}
    made = automaton(WAITING, height=size[0], width=size[1], **options)
    states = grown(made)
    render(made, path := tmp_path / f"f{suffix}", frames=Frames(scale=3))
    with Image.open(path) as image:
        assert image.n_frames == 5
    for number in range(5):
        start = Conditions(start=path, frame=number).begun(made).start
        assert np.array_equal(np.tensordot(1 << np.arange(len(start)), start, 1), states[number])
    assert "longer" not in said[-1]
    assert "5 frames of" in said[-1]


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP"])
def test_frames_that_stay_longer_are_told(kind):
    images = [Image.new("L", (2, 3), shade) for shade in (0, 255, 255, 0, 0, 0, 255)]
    out = animated(io.BytesIO(), images, kind, duration=40)
    frames, longer = read_frames(out.getvalue(), "")
    assert len(frames) == 4
    assert "frames 1-2 stay longer than 40 ms" in longer
    paused = [images[place] for place in (0, 1, 3, 1, 1)]
    out = animated(io.BytesIO(), paused, kind, duration=40)
    assert read_frames(out.getvalue(), "")[1].startswith("the last frame stays 80 ms, others 40 ms")


def test_films_of_too_many_pixels_are_refused(monkeypatch):
    monkeypatch.setattr("difflogic.pictures.pixels.MAX_PIXELS", FRAMES.size - 1)
    out = animated(io.BytesIO(), FRAMES.astype(np.uint8), "PNG")
    with pytest.raises(ConfigError, match="pixels: cut it"):
        read_frames(out.getvalue(), "")


def test_a_poster_is_no_frame(tmp_path):
    frames = [np.full_like(FRAMES[0], 90), *255 * FRAMES]
    frames = np.array(frames, np.uint8)
    path = animated(tmp_path / "film.png", frames, "PNG", default_image=True, duration=100)
    assert_array_equal(read([path], Reading(states=("black", "white"))).frames[0], FRAMES)
    out = animated(io.BytesIO(), frames[:2], "PNG", default_image=True)
    assert quantise(out.getvalue()).used == 2


def test_colours_that_stand_for_several_states_are_refused(tmp_path, said):
    made = automaton(WAITING, visible=(0, 1), palette=(*PALETTE[:2], PALETTE[1], PALETTE[3]))
    render(made, path := tmp_path / "f.gif", frames=Frames(scale=3))
    start = Conditions(start=path, frame=0)
    with pytest.raises(ConfigError, match=f"{hex_color(PALETTE[1])} stands for the states 1-2"):
        simulate(made, start)
    Image.fromarray(np.uint8([[0, 1, 2, 1, 0]]) * 90).save(tmp_path / "grey.png")
    Conditions(start=tmp_path / "grey.png", frame=0).begun(automaton(WAITING, visible=(0, 1)))
    assert "none of the circuit's colours: 0 is the commonest" in said[-1]


def test_a_size_is_that_of_the_grid_and_says_nothing_of_cells(tmp_path, monkeypatch):
    shown = np.where(FRAMES[..., None], INK, PAPER).astype(np.uint8)
    large = shown.repeat(4, axis=1).repeat(4, axis=2)
    path = animated(tmp_path / "f.webp", large, lossless=True)
    made = automaton(WAITING, height=8, width=9, visible=(0,))
    larger = replace(made, height=16, width=18)
    lower = replace(made, height=7)
    start = Conditions(start=path, frame=0, size=(16, 18), steps=0)
    for other in (made, lower):
        found = simulate(other, start).grid.bits()[0]
        assert_array_equal(found, np.pad(FRAMES[0], ((4, 4), (5, 4))))
    with pytest.raises(ConfigError, match=r"f.webp: cells look 4 .*16×18.* --cell 4 or --cell 2"):
        simulate(larger, start)
    for cell in (4, 2):
        exact = replace(start, cell=cell, size=None).begun(larger).start
        assert_array_equal(exact[0], np.kron(FRAMES[0], np.ones((4 // cell,) * 2)))
    monkeypatch.setattr("difflogic.library.synthesizing.require_tools", print)
    monkeypatch.setattr("difflogic.library.synthesizing.MOST_FLIP_FLOPS", 3 * 72 - 1)
    with pytest.raises(ConfigError, match="8×9 cells with 3 channels need"):
        synthesize(lower, replace(start, size=None, unsimplified=True))
    with pytest.raises(ConfigError, match="--cell: is that of a film"):
        simulate(made, replace(start, frame=None, cell=4))


@pytest.mark.parametrize(
    ("version", "order"), [((1, 0), np.asfortranarray), ((2, 0), np.copy), ((3, 0), np.copy)]
)
def test_every_version_and_order_of_npy(tmp_path, version, order):
    with (tmp_path / "a.npy").open("wb") as file:
        np.lib.format.write_array(file, order(FRAMES.astype(np.uint8)), version)
    assert_array_equal(read([tmp_path / "a.npy"]).frames[0], FRAMES)
    (tmp_path / "b.npy").write_bytes(b"\x93NUMPY\x09\x00nonsense")
    with pytest.raises(DctError, match=r"b.npy: is not a NumPy array"):
        read([tmp_path / "b.npy"])


RULE = "@RULE Up\n@TABLE\nn_states:2\nneighborhood:vonNeumann\nsymmetries:none\n0,1,0,0,0,1\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_of_any_editor(tmp_path, encoding):
    for name, text in (
        ("a.rle", "x = 3, y = 1, rule = B3/S23\n3o!\n"),
        ("a.cells", "!Name: É\nOOO\n"),
        ("a.txt", "###\n"),
    ):
        (tmp_path / name).write_text(text, encoding=encoding)
        made = automaton(life_like("3", "23"))
        found = simulate(made, Conditions(start=tmp_path / name, steps=0)).grid.bits()[0]
        assert_array_equal(found[2:3, 2:5], [[1, 1, 1]])
        assert found.sum() == 3
    (tmp_path / "a.rule").write_text(RULE, encoding=encoding)
    assert read_rule(tmp_path / "a.rule").automaton.name == "Up"


@pytest.mark.parametrize("text", ["x=1,y=1\no!", "x=1,y=1\nA!", "!\nO", "!\n*"])
@pytest.mark.parametrize("frame", [None, 0])
def test_a_living_cell_is_state_1(tmp_path, text, frame):
    name = {"x": "a.rle", "!": "a.cells"}[text[0]]
    (tmp_path / name).write_text(text)
    found = simulate(automaton(WAITING), Conditions((5, 5), 0, tmp_path / name, frame))
    assert found.grid.bits().sum(axis=(1, 2)).tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("suffix", "given", "expected", "told"),
    [
        ("P10,12", {}, (12, 10, "zero", 6, 4), "universe P10,12"),
        ("T10", {"boundary": "zero"}, (10, 10, "zero", 5, 4), "universe T10"),
        ("P9,12", {"size": (7, 8)}, (7, 8, "zero", 3, 3), "universe P9,12"),
        ("K10,12", {"size": (7, 8), "boundary": "zero"}, (7, 8, "zero", 3, 3), "replace"),
        ("T10,12 Pos=2,-6", {}, (12, 10, "periodic", 0, 7), "universe T10,12"),
    ],
)
def test_a_start_lies_in_the_universe_that_its_file_names(
    tmp_path, suffix, given, expected, told, said
):
    suffix, _, place = suffix.partition(" ")
    head = f"#CXRLE {place}\n" if place else ""
    (tmp_path / "a.rle").write_text(f"{head}x=2,y=1,rule=B3/S23:{suffix}\n2o!")
    start = Conditions(start=tmp_path / "a.rle", steps=0, **given)
    made = automaton(life_like("3", "23"))
    found = simulate(made, start)
    *geometry, y, x = expected
    assert [getattr(found.geometry, name) for name in ("height", "width", "boundary")] == geometry
    assert np.argwhere(found.grid.bits()[0]).tolist() == [[y, x], [y, x + 1]]
    assert told in said[0]
    (tmp_path / "a.rle").write_text("x=2,y=1,rule=B3/S23:T10+2,20\n2o!")
    with pytest.raises(ConfigError, match=r"T10\+2,20, which .*: give --size and --boundary"):
        simulate(made, Conditions(start=start.start))


@pytest.mark.parametrize("side", [4, 7, 9])
def test_the_size_of_cells_is_told(tmp_path, side):
    large = np.kron(FRAMES[0], np.ones((5, 5), int)) * 255
    Image.fromarray(large.astype(np.uint8)).save(tmp_path / "a.png")
    with pytest.raises(ConfigError, match="cells look 5 pixels wide"):
        read([tmp_path / "a.png"], Reading(cell=side))


LIFE = film(life, soup(np.random.default_rng(1), (12, 15)), 8).astype(np.uint8)


def lined(frame, side, gap, shade):
    """A frame in squares, with lines around each that are as bright as `shade`."""
    block = np.zeros((side + gap, side + gap), np.uint8)
    block[gap:, gap:] = 1
    cells = np.kron(frame * 200 + 20, block)
    cells[np.kron(np.ones_like(frame), block) == 0] = shade
    return np.pad(cells, ((0, gap), (0, gap)), constant_values=shade)


def scaled(frame, times):
    size = (round(frame.shape[1] * times), round(frame.shape[0] * times))
    return np.asarray(Image.fromarray(frame * 200 + 20).resize(size, Image.Resampling.NEAREST))


@pytest.mark.parametrize(
    ("draw", "told"),
    [
        (lambda frame: lined(frame, 5, 1, 128), "cells of 5 pixels, between lines of #808080"),
        (lambda frame: lined(frame, 5, 1, 128)[1:, :-1], "cells of 5 pixels, between lines"),
        (lambda frame: lined(frame, 4, 2, 20), "cells of 4 pixels, between lines of #141414"),
        (lambda frame: lined(frame, 3, 1, 220), "cells of 3 pixels, between lines of #dcdcdc"),
        (lambda frame: scaled(frame, 2.5), "cells of about 2.5 pixels"),
        (lambda frame: scaled(frame, 10 / 3), "cells of about 3.33 pixels"),
        (lambda frame: scaled(frame, 3), "3 pixels each"),
        (lambda frame: scaled(frame, 1), "1 pixel each"),
    ],
)
def test_cells_are_found_between_lines_and_where_an_image_was_scaled(tmp_path, draw, told):
    path = animated(tmp_path / "a.gif", map(draw, LIFE))
    found = read([path], Reading(states=("#141414", "#dcdcdc")))
    assert_array_equal(found.frames[0], LIFE)
    assert told in found.told


@pytest.mark.parametrize("density", [0.03, 0.1, 0.3, 0.5])
def test_no_lines_are_seen_where_none_are(tmp_path, density):
    rng = np.random.default_rng(3)
    for side in (1, 2, 3) * 4:
        size = rng.integers(9, 30, 2)
        frames = film(life, (rng.random(size) < density).astype(np.uint8), 5).astype(np.uint8)
        if not frames.any():
            continue
        large = np.kron(frames * 200 + 20, np.ones((1, side, side), np.uint8))
        path = animated(tmp_path / "a.png", large)
        found = read([path], Reading(states=("#141414", "#dcdcdc"), cell=side)).frames
        told = read([path], Reading(states=("#141414", "#dcdcdc"))).told
        assert_array_equal(found[0], frames)
        assert "lines" not in told
        assert "about" not in told


def test_a_side_that_does_not_fit_lines_is_named(tmp_path):
    Image.fromarray(lined(LIFE[0], 6, 1, 128)[:84, :84]).save(path := tmp_path / "a.png")
    assert read([path], Reading(cell=7)).told.startswith("1 frame of 12×12 cells, cells of")
    with pytest.raises(ConfigError, match="choose another --cell than 4"):
        read([path], Reading(cell=4))
    bars = scaled(np.uint8([[0, 1] * 5]), 2.5)[:1].repeat(7, axis=0)
    assert apart(bars[None], "auto")[1] == ""


@pytest.mark.parametrize("suffix", [".ppm", ".pbm", ".jpg"])
@pytest.mark.parametrize("threshold", [None, 0.5])
def test_stills_of_more_formats(tmp_path, suffix, threshold):
    paths = [tmp_path / f"{n}{suffix}" for n in (0, 1)]
    for path, frame in zip(paths, LIFE, strict=False):
        cells = Image.fromarray(np.kron(frame * 255, np.ones((8, 8), np.uint8)))
        cells.convert("1" if suffix == ".pbm" else "RGB").save(path, quality=70)
    how = Reading(states=None if threshold else ("black", "white"), threshold=threshold)
    if suffix == ".jpg" and threshold is None:
        with pytest.raises(ConfigError, match="give --threshold if colours are not exact"):
            read(paths, how)
        return
    assert_array_equal(read(paths, how).frames[0], LIFE[:2])


LINES = np.random.default_rng(2).integers(0, 2, (6, 9))


@pytest.mark.parametrize(
    ("name", "between", "signs"),
    [
        ("a.csv", ",", "01"),
        ("a.csv", ";", ".#"),
        ("a.csv", "\t", "01"),
        ("a.txt", "", "01"),
        ("a.txt", "", ".x"),
        ("a.txt", " ", "01"),
        ("a.txt", "  ", ("0.000e+00", "1.000e+00")),
    ],
)
def test_the_diagram_of_a_line_as_text(tmp_path, name, between, signs):
    rows = [between.join(signs[cell] for cell in row) for row in LINES]
    (tmp_path / name).write_text("\n".join(rows) + "\n", encoding="utf-8-sig")
    found = read([tmp_path / name], Reading(line=True))
    assert_array_equal(found.frames[0, :, 0], LINES)
    assert (found.names == (".", signs[1])) if signs[0] == "." else not found.names
    with pytest.raises(ConfigError, match=r"1 frame of 6×9 .* --neighbourhood line-1 if its rows"):
        identify(str(tmp_path / name))


def test_frames_as_text_have_blank_lines_between_them(tmp_path):
    drawn = ["\n".join("".join(map(str, row)) for row in frame) for frame in LIFE.tolist()]
    (tmp_path / "a.txt").write_text("\n\n".join(drawn))
    assert_array_equal(read([tmp_path / "a.txt"]).frames[0], LIFE)
    (tmp_path / "a.txt").write_text("\n\n".join([*drawn, "01"]))
    with pytest.raises(ConfigError, match="needs grids of one size"):
        read([tmp_path / "a.txt"])
    (tmp_path / "a.txt").write_text("\n")
    with pytest.raises(ConfigError, match="needs grids of one size"):
        read([tmp_path / "a.txt"])


def test_grids_of_symbols_are_pairs_with_names(tmp_path):
    (tmp_path / "a.csv").write_text("0,red\n\nred,0\n")
    found = read([tmp_path / "a.csv"])
    assert (found.sizes, found.names) == (((1, 2),), ("0", "red"))


def test_greys_of_an_array_are_1_from_a_threshold_on(tmp_path):
    np.save(tmp_path / "a.npy", [[[0.2, 0.5, 0.9]]])
    found = read([tmp_path / "a.npy"], Reading(threshold=0.5))
    assert found.frames.tolist() == [[[[0, 1, 1]]]]


def noise(*shape):
    return np.random.default_rng(0).integers(0, 2, shape)


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (noise(6, 8, 9, 1), r"last axis is the width: cells that are all in one column"),
        (noise(6, 8, 9, 3), r"6 recordings of 8 frames of 9×3 cells.*last of its 4 axes, 3"),
        (noise(16, 1, 8, 9), r"16 recordings of 1 frame of 8×9 cells.*has one frame: give"),
        (noise(9, 1, 12), r"9 frames of 1×12 cells"),
        (np.zeros((40, 100)), r"not \(40, 100\); --neighbourhood line-1 takes the rows as steps"),
        ([], r"has the shape \(0,\), so no cells"),
        ([[]], r"has the shape \(1, 0\), so no cells"),
        (np.zeros((3, 0, 3)), r"has the shape \(3, 0, 3\), so no cells"),
        ([[[0.9999999, 0]], [[0, 1]]], "row 0, column 0 has the value 0.9999999, which is not"),
        ([["a", "b"]], "has values of type <U1: give real numbers"),
        ([[1j]], "has values of type complex128: give real numbers"),
        (np.moveaxis(LIFE, 0, -1), "the last axis is time, 8 frames of 12×15 cells: save np.move"),
        (np.stack([np.moveaxis(LIFE, 0, -1)] * 2), "^(?!.*the last axis is time)"),
    ],
)
def test_what_is_wrong_with_an_array(tmp_path, array, says):
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(DctError, match=says) as caught:
        identify(tmp_path / "a.npy", Assumptions(symmetry="outer-totalistic"))
    assert "--boundary unknown" not in str(caught.value)  # under which nothing is determined


@pytest.mark.parametrize("array", [[[1, 2], [3]], [["a"]], [None, [1]], [[1j]]])
def test_what_is_no_array_of_numbers(array):
    with pytest.raises(ConfigError, match="needs an array of numbers, whose rows are as long"):
        identify(array)


def test_an_empty_file_is_named_once(tmp_path):
    path = tmp_path / "a.csv"
    path.touch()
    with pytest.raises(ConfigError, match=r"^[^:]*a\.csv: is empty"):
        identify(path)


def test_a_pointer_of_git_lfs_is_named(tmp_path):
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
    for name in ("a.gif", "a.npz", "a.rle", "a.json"):
        (tmp_path / name).write_bytes(pointer)
        with pytest.raises(DctError, match="fetch it by git lfs pull"):
            read([tmp_path / name])
