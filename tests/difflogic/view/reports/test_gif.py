"""The page's GIFs, read by Pillow, and pages of several automata."""

import base64
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from difflogic.library.reporting import report
from tests.difflogic.view.node import needs_node, run_node
from tests.paths import GALLERY

SCRIPT = Path(__file__).with_name("run_gif.mjs")
CIRCUITS = [GALLERY / "letter-g.json", GALLERY / "lizard.json"]


@needs_node
@pytest.mark.parametrize(("colors", "height", "width"), [(2, 16, 16), (3, 5, 7), (200, 48, 40)])
def test_a_gif_has_the_frames_shown(colors, height, width):
    rng = np.random.default_rng(colors)
    palette = rng.choice(2**24, colors, replace=False)
    frames = palette[rng.integers(0, colors, (3, height, width))]
    numbers = [(255 << 24 | frame).ravel().tolist() for frame in frames]
    found = run_node(SCRIPT, frames=numbers, width=width, height=height, hundredths=12)
    image = Image.open(io.BytesIO(base64.b64decode(found)))
    assert (image.n_frames, image.info["loop"], image.info["duration"]) == (3, 0, 120)
    scale = image.width // width
    assert image.size == (scale * width, scale * height)
    for number, frame in enumerate(frames):
        image.seek(number)
        pixels = np.asarray(image.convert("RGB")).astype(int)
        expected = np.stack([frame & 255, frame >> 8 & 255, frame >> 16], axis=-1)
        np.testing.assert_array_equal(pixels, expected.repeat(scale, axis=0).repeat(scale, axis=1))


@pytest.mark.thorough
def test_a_page_of_several_automata(tmp_path):
    page = report(CIRCUITS, tmp_path / "g.html").page
    assert (tmp_path / "g.html").read_text("utf-8") == page
    assert page.count("<figure>") == 2
    data = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert [(each["height"], each["width"]) for each in json.loads(data[1])] == [(16, 16), (20, 20)]
    assert "http:" not in page
    assert "https:" not in page
