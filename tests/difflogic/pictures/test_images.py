"""Images drawn here pixel by pixel, saved by Pillow, and compared with the drawing."""

import io
import struct
import zlib

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from PIL import Image, ImageDraw
from scipy.ndimage import label

from difflogic.pictures.images import image_bits, quantise
from difflogic.system.errors import ConfigError
from tests.examples import any_seed, examples

L_SHAPE = np.array([[0, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 1, 0, 0, 0], [0, 1, 1, 1, 0], [0] * 5])


def saved(pixels, kind="PNG", **options):
    file = io.BytesIO()
    if not isinstance(pixels, Image.Image):
        pixels = Image.fromarray(np.asarray(pixels, np.uint8))
    pixels.save(file, kind, **options)
    return file.getvalue()


def painted(bits, ink, paper):
    """Pixels of colour `ink` where a bit is set, `paper` elsewhere."""
    return np.where(bits[..., None] == 1, np.array(ink), np.array(paper)).astype(np.uint8)


def shape(pixels, height=5, width=5, **options):
    content = pixels if isinstance(pixels, bytes) else saved(pixels, **options)
    return image_bits(content, 1, height, width)[0]


def quantised(pixels, *colors_and_size, **given):
    return quantise(saved(pixels), *colors_and_size, **given)


BLACK = (0, 0, 0)
WHITE = (255, 255, 255)
YELLOW = (255, 220, 0)
RED = (214, 48, 49)
BLUE = (20, 60, 200)
LIGHT = (250, 250, 250)


@pytest.mark.parametrize(
    ("ink", "paper"),
    [
        (BLACK, WHITE),
        (WHITE, BLACK),
        ((*WHITE, 255), (0, 0, 0, 0)),
        ((*BLACK, 255), (*BLACK, 0)),
        ((*YELLOW, 200), (*WHITE, 20)),
    ],
)
def test_ink(ink, paper):
    assert_array_equal(shape(painted(L_SHAPE, ink, paper)), L_SHAPE)


LARGE = np.kron(painted(L_SHAPE, BLACK, WHITE), np.ones((16, 16, 1), np.uint8))


@pytest.mark.parametrize("kind", ["PNG", "BMP", "GIF", "JPEG", "PPM", "TIFF", "WEBP"])
def test_formats(kind):
    assert_array_equal(shape(LARGE, kind=kind), L_SHAPE)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I", "I;16"])
def test_modes(mode):
    grey = painted(L_SHAPE, [40], [250])[..., 0]
    match mode:
        case "1":
            image = Image.fromarray(grey > 100)
        case "I" | "I;16":
            image = Image.fromarray(grey.astype(np.int32 if mode == "I" else np.uint16) * 257)
        case _:
            image = Image.fromarray(grey).convert(mode)
    assert image.mode == mode
    assert_array_equal(shape(saved(image, "TIFF")), L_SHAPE)


@pytest.mark.parametrize("kind", [np.float32, np.int32])
def test_greys_of_32_bits_are_refused(kind):
    with pytest.raises(ConfigError, match="has greys of 32 bits: save it with 16"):
        shape(saved(Image.fromarray(L_SHAPE.astype(kind) * 2**16), "TIFF"))


def test_a_palette_with_a_transparent_colour():
    image = Image.fromarray(np.where(L_SHAPE == 1, 3, 1).astype(np.uint8), "P")
    image.putpalette([200, 0, 0] * 4)
    assert_array_equal(shape(saved(image, transparency=1)), L_SHAPE)


def test_orientation():
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by a quarter, clockwise
    assert_array_equal(shape(LARGE, kind="JPEG", exif=exif), np.rot90(L_SHAPE, -1))


bits_of_any_size = st.tuples(st.integers(2, 9), st.integers(2, 9)).flatmap(
    lambda size: hnp.arrays(np.uint8, size, elements=st.integers(0, 1))
)


@given(bits_of_any_size, st.integers(1, 5))
def test_a_cell_is_the_mean_of_its_pixels(bits, block):
    """An image as high as the grid is scaled by blocks, in the middle."""
    height, width = (side // block for side in bits.shape)
    assume(min(height, width) * block >= 2)
    bits = bits[: height * block, : width * block]
    bits[0] = 0
    bits[1:2, 0] = 1
    ones = bits.reshape(height, block, width, block).sum(axis=(1, 3))
    expected = 2 * ones >= block * block
    content = saved(painted(bits, (*BLACK, 255), (0, 0, 0, 0)))
    if not expected.any():
        with pytest.raises(ConfigError, match="nothing of the image is left"):
            image_bits(content, 1, height, width)
        return
    found = image_bits(content, 1, height, width + 3)[0]
    left = (width + 3) // 2 - width // 2
    assert_array_equal(found, np.pad(expected, ((0, 0), (left, 3 - left))))


def test_three_channels_are_red_green_and_blue():
    colors = np.random.default_rng(0).integers(0, 256, (9, 9, 4), np.uint8)
    colors[0] = (127, 128, 0, 255)
    bright = colors[..., :3] * (colors[..., 3:] / 255) >= 127.5
    assert_array_equal(image_bits(saved(colors), 3, 9, 9), np.moveaxis(bright, -1, 0))


def test_other_numbers_of_channels_are_refused():
    with pytest.raises(ConfigError, match=r"loss_channels has 2: list 1 or 3"):
        image_bits(saved(painted(L_SHAPE, BLACK, WHITE)), 2, 5, 5)


@pytest.mark.parametrize(
    ("drawn", "pixels", "words"),
    [
        (shape, np.full((9, 9, 3), 255), "one colour"),
        (shape, np.zeros((9, 9, 4)), "nothing of the image is left"),
        (quantised, [[RED]], "one colour"),
        (quantised, np.zeros((4, 4, 4)), "transparent everywhere"),
    ],
)
def test_images_without_ink_are_refused(drawn, pixels, words):
    with pytest.raises(ConfigError, match=words):
        drawn(pixels)


@pytest.mark.parametrize("kind", ["GIF", "TIFF"])
def test_animations_are_refused(kind):
    frames = [Image.fromarray(np.full((5, 5), grey, np.uint8)) for grey in (0, 90, 200)]
    content = saved(frames[0], kind, save_all=True, append_images=frames[1:])
    with pytest.raises(ConfigError, match="several pages: save one of them; a start may be one"):
        shape(content)


@pytest.mark.parametrize("sides", [(2**20, 2**20), (2**13, 2**13), (2**31 - 1, 1)])
def test_decompression_bombs_are_not_unpacked(sides, monkeypatch):
    content = bytearray(saved([[0]]))
    content[16:24] = struct.pack(">II", *sides)
    content[29:33] = struct.pack(">I", zlib.crc32(content[12:29]))
    monkeypatch.setattr(Image.Image, "load", lambda *_: pytest.fail("was unpacked"))
    with pytest.raises(ConfigError, match=r"pixels.*: scale it down"):
        shape(bytes(content))


def shown(found):
    """The picture that bits and palette give, (height, width, 3)."""
    numbers = sum(bit.astype(int) << place for place, bit in enumerate(found.bits))
    return np.array(found.palette)[numbers]


@examples(40)
@given(any_seed, st.integers(2, 16), st.integers(1, 9), st.integers(1, 9))
@example(0, 16, 9, 9)  # as many colours as the largest palette
def test_quantise_keeps_a_small_picture_of_few_colours(seed, colors, height, width):
    rng = np.random.default_rng(seed)
    palette = rng.permutation(256)[:48].reshape(16, 3)
    numbers = rng.integers(0, colors, (height, width))
    used = len(np.unique(numbers))
    assume(used > 1)
    found = quantised(palette[numbers])
    assert_array_equal(shown(found), palette[numbers])
    assert found.used == used
    assert len(found.palette) == 2 ** len(found.bits) < 2 * used


def test_transparent_pixels_are_a_background_in_contrast():
    pixels = np.zeros((6, 5, 4), np.uint8)
    pixels[2:4, 1:3] = (*LIGHT, 255)
    found = quantised(pixels)
    assert_array_equal(found.bits[0], pixels[..., 3] // 255)
    assert found.palette[1] == LIGHT
    assert sum(found.palette[0]) < 200, "a light picture has a dark background"
    pixels[2, 2] = (9, 9, 12, 255)  # an eye
    shades = [sum(color) for color in quantised(pixels).palette[:3]]
    assert min(abs(shades[0] - shade) for shade in shades[1:]) > 200, "nor does a dark part vanish"
    pixels[2:4, 1:3] = (*RED, 255)
    assert quantised(pixels).palette == ((255, 255, 255), RED)


def test_border_colour_is_the_background():
    pixels = np.full((9, 9, 3), BLUE)
    pixels[1:8, 1:8] = RED  # more cells, but none on the border
    found = quantised(pixels)
    assert found.palette == (BLUE, RED)
    assert found.bits.sum() == 49


def test_a_cell_has_the_most_frequent_colour_of_its_pixels():
    cells = np.random.default_rng(1).integers(0, 3, (12, 8))
    large = np.array([BLUE, RED, LIGHT])[cells].repeat(10, axis=0).repeat(10, axis=1)
    large[::10] = (9, 9, 9)  # lines as dense as cells go
    found = quantised(large, 4, (12, 8))
    assert_array_equal(shown(found), np.array([BLUE, RED, LIGHT])[cells])
    assert found.pixels == (120, 80)


@pytest.mark.parametrize("scale", [2, 3, 4.5])
def test_thin_lines_stay_whole(scale):
    drawn = Image.new("RGB", (240, 240), LIGHT)
    pen = ImageDraw.Draw(drawn)
    pen.ellipse((20, 20, 220, 220), outline=RED)
    pen.line((10, 50, 230, 70), fill=BLUE)
    side = round(240 / scale)
    cells = shown(quantised(drawn, 4, (side, side)))
    red, blue = ((cells == color).all(axis=-1) for color in (RED, BLUE))
    # Over edges only, the outside finds no gap in the circle; the line is in each column.
    areas = label(~(red | blue))[0]
    assert areas[0, 0] != areas[side // 2, side // 2] > 0
    crossed = (red | blue)[: side // 3, round(12 / scale) : round(228 / scale)]
    assert crossed.any(axis=0).all()
    # Lines grow no wider than two cells.
    assert red.sum() <= 2 * 4 * side
    assert blue.sum() <= 2 * side


def test_a_line_as_wide_as_a_cell_is_kept_in_both_that_it_crosses():
    drawn = np.full((8, 16, 3), LIGHT)
    drawn[:, 7:9] = RED
    assert quantised(drawn, 4, (4, 8)).bits[0, 0].tolist() == [0, 0, 0, 1, 1, 0, 0, 0]


def test_the_largest_pixel_art_has_256_cells():
    tiles = painted(np.indices((8, 256)).sum(axis=0) % 2, BLACK, WHITE)
    assert quantised(tiles.repeat(2, axis=0).repeat(2, axis=1)).side == 2


def test_given_colours_are_the_only_ones():
    pixels = np.random.default_rng(3).integers(0, 256, (24, 24, 3))
    given = np.array([(0, 0, 0), (255, 0, 0), (0, 255, 0), (255, 255, 0), (255, 255, 255)])
    found = quantised(pixels, size=(24, 24), given=tuple(map(tuple, given.tolist())))
    assert {*found.palette} == {*map(tuple, given.tolist())}
    distances = ((pixels[:, :, None] - given) ** 2).sum(axis=-1)
    assert_array_equal(shown(found), given[distances.argmin(axis=-1)])


@pytest.mark.parametrize(("pixels", "cells"), [((96, 128), (96, 128)), ((300, 400), (48, 64))])
def test_usual_grid(pixels, cells):
    image = np.full((*pixels, 3), LIGHT)
    image[: pixels[0] // 2] = RED
    found = quantised(image)
    assert (found.pixels, found.bits.shape[1:]) == (pixels, cells)


@pytest.mark.parametrize("colors", [2, 4, 8, 16])
def test_many_colours_are_reduced(colors):
    steps = np.linspace(0, 255, 15).astype(int)
    many = np.array([[(x, y, 90) for x in steps] for y in steps])
    found = quantised(many, colors)
    assert (found.found, found.used) == (225, colors)
    assert len(found.bits) == np.log2(colors)
    # Each cell is nearer to its own colour than a picture of one colour is, on the average.
    off = np.abs(shown(found) - many).mean()
    assert off < np.abs(many - many.mean(axis=(0, 1))).mean()
