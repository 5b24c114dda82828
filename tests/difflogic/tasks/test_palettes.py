"""Images in few colours, compared with what was painted, pixel by pixel."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from difflogic.system.errors import ConfigError
from difflogic.tasks.images import hex_color, parse_color, quantise

RED, BLUE, WHITE = (214, 48, 49), (20, 60, 200), (250, 250, 250)


def saved(pixels, **options):
    file = io.BytesIO()
    Image.fromarray(np.asarray(pixels, np.uint8)).save(file, "PNG", **options)
    return file.getvalue()


def shown(found):
    """The picture that bits and palette give, (height, width, 3)."""
    numbers = sum(bit.astype(int) << place for place, bit in enumerate(found.bits))
    return np.array(found.palette)[numbers]


@settings(max_examples=40)
@given(data=st.data(), colors=st.integers(2, 16), height=st.integers(1, 9), width=st.integers(1, 9))
def test_a_small_picture_of_few_colours_stays_as_it_is(data, colors, height, width):
    palette = np.random.default_rng(colors).permutation(256)[:48].reshape(16, 3)[:colors]
    numbers = np.array(data.draw(st.lists(st.integers(0, colors - 1), min_size=81, max_size=81)))[
        : height * width
    ].reshape(height, width)
    if len(np.unique(numbers)) < 2:
        return
    found = quantise(saved(palette[numbers]))
    np.testing.assert_array_equal(shown(found), palette[numbers])
    assert found.used == len(np.unique(numbers))
    assert len(found.palette) == 2 ** len(found.bits) < 2 * found.used


def test_what_is_transparent_is_nothing_and_stands_out():
    pixels = np.zeros((6, 5, 4), np.uint8)
    pixels[2:4, 1:3] = (*WHITE, 255)
    found = quantise(saved(pixels))
    np.testing.assert_array_equal(found.bits[0], pixels[..., 3] // 255)
    assert found.palette[1] == WHITE
    assert sum(found.palette[0]) < 200, "a light picture stands on dark cells"
    pixels[2:4, 1:3] = (*RED, 255)
    assert quantise(saved(pixels)).palette == ((255, 255, 255), RED)


def test_the_borders_colour_is_nothing():
    pixels = np.full((9, 9, 3), BLUE)
    pixels[1:8, 1:8] = RED  # more cells, but none on the border
    found = quantise(saved(pixels))
    assert found.palette == (BLUE, RED)
    assert found.bits.sum() == 49


def test_a_cell_has_the_colour_of_most_of_its_pixels_and_never_a_mixture():
    cells = np.random.default_rng(1).integers(0, 3, (12, 8))
    large = np.array([BLUE, RED, WHITE])[cells].repeat(10, axis=0).repeat(10, axis=1)
    large[::10] = (9, 9, 9)  # thin lines go
    found = quantise(saved(large), 4, (12, 8))
    np.testing.assert_array_equal(shown(found), np.array([BLUE, RED, WHITE])[cells])
    assert found.pixels == (120, 80)


@pytest.mark.parametrize(("pixels", "cells"), [((48, 64), (48, 64)), ((300, 400), (24, 32))])
def test_the_grid_is_that_of_a_small_image_and_a_small_one_for_a_large(pixels, cells):
    image = np.full((*pixels, 3), WHITE)
    image[: pixels[0] // 2] = RED
    found = quantise(saved(image))
    assert (found.pixels, found.bits.shape[1:]) == (pixels, cells)


@pytest.mark.parametrize("colors", [2, 4, 8, 16])
def test_many_colours_become_as_many_as_were_asked_for(colors):
    steps = np.linspace(0, 255, 15).astype(int)
    many = np.array([[(x, y, 90) for x in steps] for y in steps])
    found = quantise(saved(many), colors)
    assert (found.found, found.used) == (225, colors)
    assert len(found.bits) == np.log2(colors)
    # Each cell is nearer to its own colour than a picture of one colour is, on the average.
    off = np.abs(shown(found) - many).mean()
    assert off < np.abs(many - many.mean(axis=(0, 1))).mean()


def test_pictures_that_cannot_be_grown():
    clear = np.zeros((4, 4, 4), np.uint8)
    for pixels, words in (
        ([[RED]], "one colour"),
        (np.full((20, 20, 3), BLUE), "one colour"),
        (clear, "transparent everywhere"),
    ):
        with pytest.raises(ConfigError, match=words):
            quantise(saved(pixels))
    frames = [Image.fromarray(np.full((4, 4, 3), n, np.uint8)) for n in (0, 200)]
    file = io.BytesIO()
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
    with pytest.raises(ConfigError, match="animated"):
        quantise(file.getvalue())
    with pytest.raises(ConfigError, match="neither a text grid nor an image"):
        quantise(b"\x00\x01 no image")


def test_colours_as_text():
    assert hex_color(RED) == "#d63031"
    assert parse_color("#d63031") == RED
