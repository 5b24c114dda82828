import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from difflogic.pictures.picture import read, shipped_pictures
from difflogic.pictures.text import MAX_CELLS, center_picture, parse_picture, render_picture
from difflogic.system.errors import ConfigError
from tests.examples import any_seed


def sizes(side=8):
    return st.tuples(st.integers(1, side), st.integers(1, side))


@given(sizes(), st.integers(1, 4), any_seed)
def test_round_trip(size, channels, seed):
    bits = np.random.default_rng(seed).integers(0, 2, (channels, *size), np.uint8)
    text = render_picture(bits)
    assert len(text.splitlines()) == size[0]
    found = parse_picture(text, channels)
    assert found.dtype == np.uint8
    assert_array_equal(found, bits)


@pytest.mark.parametrize(
    ("signs", "bits"),
    [
        (".#", [[0, 1]]),
        (".2", [[0, 0], [0, 1]]),
        (".ryc6", [[0, 1, 1, 0, 0], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]),
        ("b", [[1], [1], [0], [1]]),
    ],
)
def test_signs(signs, bits):
    assert parse_picture(signs, len(bits))[:, 0].tolist() == bits


@pytest.mark.parametrize(
    ("text", "channels", "says"),
    [
        ("", 1, "the picture is empty"),
        (".#\n.##\n", 1, "row 2 has 3 cells and row 1 has 2: all must be equal"),
        (".#\n.x\n", 1, r'no colour "x" \(row 2, column 2\) .*: the signs are \. # 0 1'),
        ("  #\n #.\n#..\n", 1, r'" " \(row 1, column 1\) .* a blank is no cell: use \.'),
        ("\n<svg></svg>", 1, "in SVG, XML or XPM: save it as PNG"),
        (".r\n", 1, r"; --colors 3 has rgbymc"),
        (".8\n", 3, "with 3 loss channels"),
        (".\x07\n", 1, r'no colour "\\u0007"'),
        ("#" * (MAX_CELLS + 1), 1, "more than the 262144 of a picture"),
    ],
)
def test_invalid_texts(text, channels, says):
    with pytest.raises(ConfigError, match=says):
        parse_picture(text, channels)


def test_blanks_and_line_ends_are_ignored():
    assert_array_equal(parse_picture("\n\t.#\r\n\t#. \r\n\n", 1), [[[0, 1], [1, 0]]])


@given(sizes(), sizes(5))
def test_center_picture(size, more):
    bits = np.random.default_rng(0).integers(0, 2, (2, *size), dtype=np.uint8)
    sides = np.array(size) + more
    before = sides // 2 - np.array(size) // 2
    around = [(0, 0), *zip(before, more - before, strict=True)]
    assert_array_equal(center_picture(bits, *sides.tolist()), np.pad(bits, around))


def test_pictures_that_do_not_fit():
    with pytest.raises(ConfigError, match=r"has 3×5 cells and does not fit the grid of 3×4"):
        center_picture(np.ones((1, 3, 5), np.uint8), 3, 4)
    with pytest.raises(ConfigError, match="larger than the 262144 cells"):
        center_picture(np.ones((1, 3, 5), np.uint8), 65536, 65536)


def test_text_that_no_number_of_channels_reads_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text(".?\n")
    with pytest.raises(ConfigError, match=r"a.txt: .*\?"):
        read(str(tmp_path / "a.txt"))


def test_shipped_pictures():
    pictures = shipped_pictures()
    assert list(pictures) == ["letter-g", "lizard", "lizard-small"]
    for path, shape in zip(pictures.values(), [(3, 16, 16), (1, 20, 20), (1, 12, 12)], strict=True):
        bits = parse_picture(path.read_text(), shape[0])
        assert bits.shape == shape
        assert render_picture(bits) == path.read_text()
