"""Images are drawn here pixel by pixel, saved by Pillow, and compared with what was drawn."""

import io
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

from difflogic.system.errors import ConfigError
from difflogic.tasks.images import image_bits

L_SHAPE = np.array([[0, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 1, 0, 0, 0], [0, 1, 1, 1, 0], [0] * 5])


def saved(pixels, kind="PNG", mode=None, **options):
    file = io.BytesIO()
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    (image.convert(mode) if mode else image).save(file, kind, **options)
    return file.getvalue()


def painted(bits, ink, paper):
    """Pixels of colour `ink` where a bit is set, `paper` elsewhere."""
    return np.where(bits[..., None] == 1, np.array(ink), np.array(paper)).astype(np.uint8)


def shape(pixels, height=5, width=5, **options):
    content = pixels if isinstance(pixels, bytes) else saved(pixels, **options)
    return image_bits(content, 1, height, width)[0]


BLACK, WHITE, YELLOW = (0, 0, 0), (255, 255, 255), (255, 220, 0)


@pytest.mark.parametrize(
    ("ink", "paper"),
    [
        (BLACK, WHITE),
        (WHITE, BLACK),
        (YELLOW, WHITE),
        ((255, 0, 0), (0, 0, 255)),
        ((*WHITE, 255), (0, 0, 0, 0)),
        ((*BLACK, 255), (*BLACK, 0)),
        ((*YELLOW, 200), (*WHITE, 20)),
    ],
)
def test_what_a_drawing_shows_is_ink(ink, paper):
    np.testing.assert_array_equal(shape(painted(L_SHAPE, ink, paper)), L_SHAPE)


@pytest.mark.parametrize("kind", ["PNG", "BMP", "GIF", "JPEG", "PPM", "TIFF", "WEBP"])
def test_formats(kind):
    large = np.kron(painted(L_SHAPE, BLACK, WHITE), np.ones((16, 16, 1), np.uint8))
    np.testing.assert_array_equal(shape(large, kind=kind), L_SHAPE)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I", "I;16", "F"])
def test_modes(mode):
    grey = painted(L_SHAPE, [40], [250])[..., 0]
    if mode in ("I;16", "I"):
        pixels = Image.fromarray(grey.astype(np.uint16) * 257)
        pixels = pixels if mode == "I;16" else Image.fromarray(grey.astype(np.int32) * 257)
        assert pixels.mode == mode
        content = saved(pixels, "TIFF")
    elif mode == "1":
        content = saved(Image.fromarray(grey > 100))
    else:
        content = saved(Image.fromarray(grey), "PNG" if mode not in ("CMYK", "F") else "TIFF", mode)
    np.testing.assert_array_equal(shape(content), L_SHAPE)


def test_a_palette_with_a_transparent_colour():
    image = Image.fromarray(np.where(L_SHAPE == 1, 3, 1).astype(np.uint8), "P")
    image.putpalette([200, 0, 0] * 4)
    np.testing.assert_array_equal(shape(saved(image, transparency=1)), L_SHAPE)


def test_the_orientation_of_a_photograph():
    large = np.kron(painted(L_SHAPE, BLACK, WHITE), np.ones((16, 16, 1), np.uint8))
    image = Image.fromarray(large)
    exif = image.getexif()
    exif[0x0112] = 6  # to be turned by a quarter, clockwise
    found = shape(saved(image, "JPEG", exif=exif))
    np.testing.assert_array_equal(found, np.rot90(L_SHAPE, -1))


bits_of_any_size = st.tuples(st.integers(2, 9), st.integers(2, 9)).flatmap(
    lambda size: hnp.arrays(np.uint8, size, elements=st.integers(0, 1))
)


@given(bits_of_any_size, st.integers(1, 6))
def test_whole_blocks_become_cells_and_the_rest_is_empty(bits, block):
    """An image as high as the grid is scaled by blocks and stands in the middle."""
    bits[0, 0], bits[1, 1] = 1, 0
    pixels = painted(np.kron(bits, np.ones((block, block), np.uint8)), (9, 9, 9, 255), (0,) * 4)
    height, width = bits.shape
    found = image_bits(saved(pixels), 1, height, width + 3)[0]
    left = (width + 3) // 2 - width // 2
    np.testing.assert_array_equal(found[:, left : left + width], bits)
    assert found.sum() == bits.sum()


@given(bits_of_any_size, st.integers(2, 5))
def test_a_cell_is_the_mean_of_its_pixels(bits, block):
    height, width = (side // block * block for side in bits.shape)
    if min(height, width) < 2:
        return
    bits = bits[:height, :width]
    bits[0], bits[1:2, 0] = 0, 1
    blocks = bits.reshape(height // block, block, width // block, block).sum(axis=(1, 3))
    expected = 2 * blocks >= block * block
    pixels = painted(bits, (*BLACK, 255), (0, 0, 0, 0))
    if not expected.any():
        with pytest.raises(ConfigError, match="nothing of the image is left"):
            image_bits(saved(pixels), 1, *expected.shape)
        return
    np.testing.assert_array_equal(image_bits(saved(pixels), 1, *expected.shape)[0], expected)


def test_three_channels_are_red_green_and_blue():
    colors = np.array(
        [
            [(0, 0, 0, 255), (255, 0, 0, 255), (127, 128, 0, 255), (0, 0, 200, 255)],
            [(255, 255, 255, 255), (255, 255, 255, 0), (0, 255, 255, 60), (255, 0, 255, 255)],
        ],
        np.uint8,
    )
    found = image_bits(saved(colors), 3, 2, 4)
    expected = [
        [[0, 1, 0, 0], [1, 0, 0, 1]],
        [[0, 0, 1, 0], [1, 0, 0, 0]],
        [[0, 0, 0, 1], [1, 0, 0, 1]],
    ]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("channels", [2, 4])
def test_other_numbers_of_channels(channels):
    with pytest.raises(ConfigError, match=f"task.loss_channels has {channels}: list 1 or 3"):
        image_bits(saved(painted(L_SHAPE, BLACK, WHITE)), channels, 5, 5)


def test_an_image_of_one_colour():
    for pixels in (np.full((9, 9, 3), 255, np.uint8), np.zeros((9, 9, 3), np.uint8)):
        with pytest.raises(ConfigError, match="one colour"):
            shape(pixels)
    with pytest.raises(ConfigError, match="nothing of the image is left"):
        shape(np.zeros((9, 9, 4), np.uint8))


@pytest.mark.parametrize("kind", ["GIF", "TIFF"])
def test_animations(kind):
    frames = [Image.fromarray(np.full((5, 5), grey, np.uint8)) for grey in (0, 90, 200)]
    content = saved(frames[0], kind, save_all=True, append_images=frames[1:])
    with pytest.raises(ConfigError, match="animated or has several pages"):
        shape(content)


def png_of(width, height, data=b""):
    """A PNG that declares a size, whatever data it has."""

    def chunk(name, content):
        checksum = struct.pack(">I", zlib.crc32(name + content))
        return struct.pack(">I", len(content)) + name + content + checksum

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


@pytest.mark.parametrize("sides", [(2**20, 2**20), (2**13, 2**13), (2**31 - 1, 1)])
def test_decompression_bombs_are_not_unpacked(sides, monkeypatch):
    monkeypatch.setattr(Image.Image, "load", lambda *_: pytest.fail("was unpacked"))
    with pytest.raises(ConfigError, match=r"pixels.*: scale it down"):
        shape(png_of(*sides, b"\0" * 1000))


@pytest.mark.parametrize("kind", ["PNG", "GIF", "JPEG", "TIFF", "WEBP"])
@pytest.mark.parametrize("share", [0.02, 0.9])
def test_truncated_images(kind, share):
    noise = np.random.default_rng(0).integers(0, 256, (40, 40, 3), dtype=np.uint8)
    content = saved(noise, kind)
    with pytest.raises(ConfigError, match=r"damaged or cut off|neither a text grid nor an image"):
        shape(content[: int(share * len(content))])


@given(st.binary(max_size=300))
def test_any_bytes_are_refused(content):
    with pytest.raises(ConfigError):
        shape(content)


@given(st.data())
def test_damaged_images_give_bits_or_an_error(data):
    kind = data.draw(st.sampled_from(["PNG", "GIF", "BMP", "TIFF", "JPEG", "WEBP"]))
    content = bytearray(saved(painted(L_SHAPE, BLACK, WHITE), kind))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    try:
        bits = shape(bytes(content))
    except ConfigError:
        return
    assert bits.shape == (5, 5)
    assert set(np.unique(bits)) <= {0, 1}
