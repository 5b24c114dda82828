"""Plans for growing a picture: the grid, circuit, steps and recipe that suit it."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.grid import NEIGHBORHOOD
from difflogic.circuit.places import Counters, place_bits, steps_to_show
from difflogic.config import Override, load_config, picture_directory
from difflogic.config.sections import fit_layer_widths
from difflogic.library.groups import PictureOptions
from difflogic.pictures.colors import Color, hex_color
from difflogic.pictures.files import read_picture
from difflogic.pictures.images import (
    MOST_SIDE,
    PALETTES,
    Quantised,
    image_bits,
    own_size,
    quantise,
    require_shape,
)
from difflogic.pictures.pixels import read_image
from difflogic.pictures.text import center_picture, parse_picture, render_picture
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import counted
from difflogic.system.subject import about

FIRST_COLORS = (1, 3)
"""Values of `--colors` that are bits of the picture, without a palette: ink, or RGB."""

USUAL_GRIDS = {1: (20, 20), 3: (16, 16)}
"""Default rows and columns for such pictures: those of the lizard and the letter G."""

IMAGE_SUFFIXES = (".png", ".gif", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff")

LEAST_HEALED = 4
"""Rows and columns of the smallest grid that can heal."""

MOST_LEARNED = 64
"""Longest side where cells learn their places, or where a proof runs every damage."""

LEARNED_SIDE = 16
"""Longest side, in cells, on which cells learn their places; on larger grids they count them. At 32
cells, learning places worked for one picture in two, and took minutes."""

COUNTING_LAYERS, COUNTING_WIDTH = 12, 512
COUNTING_EPOCHS = 200
"""With counted places, what is still wrong after the last epoch is corrected."""

SINGLE_STEPS = {
    "perception.kernels": 1,
    "perception.gates": [8],
    "perception.directions": "same",
    "update.carry": 0,
    "training.weight_decay": 0,
    "training.later_steps": 0,
    "training.restart_every": 0,
    "pool.batch": 0,
    "pool.damage_tries": 1,
}
"""One step is learned: the rest of a growth follows from it."""

COUNTING = SINGLE_STEPS | {
    "automaton.places": True,
    "finishing.rectify": 0,
    "finishing.candidates": 0,
    "finishing.from_epoch": 0,
    "finishing.every": 10**6,
    "training.epochs": COUNTING_EPOCHS,
}

TEACHING_LAYERS, TEACHING_WIDTH = 16, 512
TEACHING = SINGLE_STEPS | {
    "task.taught": True,
    "training.batch": 2,
    "training.learning_rate": 0.2,
    "training.initial_logit": 5,
    "finishing.rectify": 256,
    "finishing.candidates": 10000,
    "finishing.from_epoch": 400,
    "finishing.every": 200,
}
"""Measured on circuits that only count (docs/notebook/pictures.md): depth helps more than width."""


@dataclass(frozen=True)
class Picture:
    """A picture to grow."""

    name: str
    bits: npt.NDArray[np.uint8]
    """Shape (channels, height, width)."""
    palette: tuple[Color, ...] = ()
    words: str = ""
    """Its origin, for people."""
    warning: str = ""
    """What scaling and the palette lost, if anything."""
    second: npt.NDArray[np.uint8] | None = None
    """A second picture of the same shape and palette, which grows from one cell."""


@dataclass(frozen=True)
class Growth:
    """How to grow a picture: a shipped configuration and overrides."""

    picture: Picture
    config: str
    overrides: tuple[Override, ...]
    lines: tuple[str, ...]
    """The choices, for people."""


def is_image(target: str) -> bool:
    """Return whether a picture, given by its shipped name or file, is an image and not text.

    Raises ConfigError if it cannot be read, or if it is text in a file named like an image.
    """
    return not isinstance(_content(target), str)


def _content(target: str) -> str | bytes:
    content = read_picture(target, Path(), picture_directory())
    suffix = Path(target).suffix.lower()
    if isinstance(content, str) and suffix in IMAGE_SUFFIXES:
        raise ConfigError(
            f"{target}: is text, though its name ends in {suffix}: save the image again, or rename "
            "rows of cells to .txt"
        )
    return content


def read(
    target: str,
    colors: int | None = None,
    size: tuple[int, int] | None = None,
    palette: Sequence[Color] = (),
    dither: bool = False,
) -> Picture:
    """Read a picture by its shipped name or its file: an image, or rows of text.

    An image gets a palette of at most `colors`: 2, 4, 8 or 16, by default as many as it needs, or
    the given `palette`; it may be dithered. With 1 or 3 colours it has bits instead: ink, or red,
    green and blue. Raises ConfigError for a file that is not a picture.
    """
    content = _content(target)
    with about(target):
        if isinstance(content, str):
            if palette or dither:
                raise ConfigError("is text: only images take a palette or dithering")
            return _from_text(target, content, colors, size)
        if colors is not None and colors in FIRST_COLORS:
            bits = image_bits(content, colors, *(size or USUAL_GRIDS[colors]))
            return Picture(target, bits, words=f"an image as {counted(len(bits), 'bit')} a cell")
        found = quantise(content, colors, size, palette, dither)
    height, width = found.bits.shape[1:]
    rows, columns = found.pixels
    words = (
        f"{columns}×{rows} pixels as {width}×{height} cells, {found.used} colours with the "
        f"background ({counted(len(found.bits), 'bit')})"
    )
    lost = _lost(found, (rows, columns), (height, width))
    return Picture(target, found.bits, found.palette, words, lost)


def _lost(found: Quantised, pixels: tuple[int, int], cells: tuple[int, int]) -> str:
    """Return what scaling and the palette lost, in words; sizes are (rows, columns)."""
    lost = []
    if pixels != cells:
        lost.append(
            f"scaled from {pixels[1]}×{pixels[0]} pixels to {cells[1]}×{cells[0]} cells: --size "
            f"HxW chooses another grid, up to {MOST_SIDE}x{MOST_SIDE}"
        )
    if found.found > found.used:
        lost.append(
            f"{found.found} colours became {found.used}: --colors takes {_listed(PALETTES)}"
        )
    return "; ".join(lost)


def read_two(
    target: str,
    second: str,
    colors: int | None = None,
    size: tuple[int, int] | None = None,
    palette: Sequence[Color] = (),
    dither: bool = False,
) -> Picture:
    """Return a picture with a second one, from two images, with one palette for both.

    Raises what `read` raises, and ConfigError for text and for images of different sizes.
    """
    from PIL import Image

    found = []
    for name in (target, second):
        with about(name):
            found.append(read_image(_image(name), 1024))
            require_shape(found[-1][0])
    (height, width), other = (shape for _, shape in found)
    if other != (height, width):
        raise ConfigError(
            f"{second}: has {other[1]}×{other[0]} pixels, and {target} {width}×{height}: make both "
            "of one size"
        )
    both, content = np.concatenate([pixels for pixels, _ in found], axis=1), io.BytesIO()
    Image.fromarray(both).save(content, "PNG")
    rows, columns = size or own_size(height, width)
    with about(f"{target} and {second}"):
        joined = quantise(content.getvalue(), colors, (rows, 2 * columns), palette, dither)
    words = (
        f"with {Path(second).name}, {columns}×{rows} cells each, {joined.used} colours with the "
        f"background ({counted(len(joined.bits), 'bit')})"
    )
    first, last = joined.bits[..., :columns], joined.bits[..., columns:]
    lost = _lost(joined, (height, width), (rows, columns))
    return Picture(target, first, joined.palette, words, lost, second=last)


def _image(target: str) -> bytes:
    content = _content(target)
    if isinstance(content, str):
        raise ConfigError("is text: both pictures must be images")
    return content


def _from_text(name: str, text: str, colors: int | None, size: tuple[int, int] | None) -> Picture:
    channels: Sequence[int] = (1, 3, 2, 4)
    if colors is not None:
        channels = (colors,) if colors in FIRST_COLORS else ((colors - 1).bit_length(),)
    for number in channels:
        try:
            bits = parse_picture(text, number)
            break
        except ConfigError:
            if number == channels[-1]:
                raise
    if size is not None:
        bits = center_picture(bits, *size)
    return Picture(name, bits, words=f"rows of text, {counted(len(bits), 'bit')} a cell")


def plan(options: PictureOptions) -> Growth:
    """Read the picture of some options, by default the lizard, and return how to grow it."""
    first, second, colors, size = options.target, options.second, options.colors, options.size
    chosen = (colors, size, options.palette or (), options.dither)
    first = first or "lizard"
    picture = read(first, *chosen) if second is None else read_two(first, second, *chosen)
    return plan_growth(picture, options)


def plan_growth(picture: Picture, options: PictureOptions) -> Growth:
    """Return how to grow a picture, and then hold it, or heal it after damage.

    A tough picture's cells count their places so that damage stays where it is; to teach is to let
    them learn to count. Raises ConfigError for a picture that is too large, or too small to heal,
    and for choices that do not fit.
    """
    hold, heal, tough, teach = options.hold, options.heal, options.tough, options.teach
    channels = options.channels
    height, width = picture.bits.shape[1:]
    longer, least = max(height, width), min(height, width)
    two = picture.second is not None
    if teach and tough:
        raise ConfigError("--tough wires what --teach would teach: leave one out")
    if tough and least < 3:
        raise ConfigError(f"--tough needs 3 rows and columns or more, not {height}×{width} cells")
    if (teach or tough) and (two or channels is not None):
        given = "--teach" if teach else "--tough"
        raise ConfigError(f"{given} goes neither with --second nor with --channels: leave one out")
    counts = not teach and (two or tough or (longer > LEARNED_SIDE and channels is None))
    runs_all = two and heal  # the proof runs each damage of each picture
    most = MOST_SIDE if counts and not runs_all else MOST_LEARNED
    if longer > most:
        why = " with --second and --heal" if runs_all else "" if counts else " with --channels"
        why = " with --teach" if teach else why
        raise ConfigError(
            f"{picture.name}: {height}×{width} cells are more than {most}×{most}{why}: "
            "choose a smaller grid with --size"
        )
    if heal and least < LEAST_HEALED:
        raise ConfigError(
            f"{picture.name}: {height}×{width} cells are too few to heal: use {LEAST_HEALED} rows "
            "and columns or more, or leave --heal out"
        )
    steps = options.steps or max(12, round(1.125 * longer), steps_to_show(height, width, tough))
    is_rolled_out = not (hold or heal or counts or teach)
    base = "letter-g" if is_rolled_out else f"lizard-{'heal' if heal else 'hold'}"
    changes = _picture_settings(picture) | {"automaton.steps": steps, "task.hold": hold or heal}
    goal = f"to be right at step {steps}"
    if two:
        goal = f"from nothing the first, from one cell the second, each {goal}"
    if hold or heal:
        goal += ", and to stay"
    if heal:
        sides = sorted({max(1, least // 4), least // 2})
        changes["task.heal"] = sides
        squares = " or ".join(map(str, sides))
        goal += f", and grow back after any square of {squares} cells is erased"
    if counts:
        changes |= COUNTING | _counting_circuit(picture.bits, two, tough)
    elif teach:
        changes |= TEACHING | _taught_circuit(picture.bits)
    elif channels is not None:
        changes |= circuit_for(base, channels)
    overrides = overriding(changes, f"--target {picture.name}")
    if teach:
        goal += "; lessons of single steps teach cells their place"
    elif counts:
        goal += f"; learned in {COUNTING_EPOCHS} epochs, then corrected"
    lines = [f"{Path(picture.name).name}: {picture.words}"]
    if picture.warning:
        lines.append(f"warning: {picture.warning}")
    config = load_config(base, overrides)
    told = ", told by majorities" if tough else ""
    places = f", its place among them{told}" if counts or teach else ""
    lines += [
        f"circuit: {config.automaton.channels} bits per cell{places}, layers of "
        f"{max(config.update.gates)} gates; from nothing, zero boundary",
        f"goal: {goal}",
    ]
    return Growth(picture, base, overrides, tuple(lines))


def _counting_circuit(
    bits: npt.NDArray[np.uint8], switch: bool = False, tough: bool = False
) -> dict[str, Any]:
    """Return the sizes of a circuit that counts places, for a picture (channels, height, width)."""
    own, *grid = bits.shape
    counters = Counters(place_bits(*grid), switch, tough)
    inputs, widths = counters.known * (1 if tough else NEIGHBORHOOD), list[int]()
    for _ in range(COUNTING_LAYERS):
        # No two gates of a layer read the same pair.
        inputs = min(COUNTING_WIDTH, inputs * (inputs - 1) // 2)
        widths.append(inputs)
    while widths[-1] > 2 * own:
        widths.append((widths[-1] + 1) // 2)
    widths.append(own)
    stages = counters.stages(len(widths))
    gates = [width + len(stage.op) for width, stage in zip(widths, stages, strict=True)]
    sizes = {"automaton.channels": gates[-1], "update.gates": gates}
    return sizes | {"automaton.switch": switch, "automaton.tough": tough}


def _taught_circuit(bits: npt.NDArray[np.uint8]) -> dict[str, Any]:
    """Return the sizes of a circuit that learns to count, for a picture (bits, rows, columns)."""
    own, *grid = bits.shape
    channels = own + sum(place_bits(*grid))
    widths = [TEACHING_WIDTH] * TEACHING_LAYERS
    gates = fit_layer_widths([*widths, 0], 9 * channels, channels)
    return {"automaton.channels": channels, "update.gates": gates}


def _picture_settings(picture: Picture) -> dict[str, Any]:
    bits = picture.bits
    return {
        "task.target": render_picture(bits),
        "task.palette": [hex_color(color) for color in picture.palette],
        "task.loss_channels": list(range(len(bits))),
        "task.height": bits.shape[1],
        "task.width": bits.shape[2],
        "task.second": "" if picture.second is None else render_picture(picture.second),
    }


def overriding(changes: Mapping[str, Any], typed: str) -> tuple[Override, ...]:
    """Return the changes of a configuration's keys that an option asks for, as it was typed."""
    return tuple(Override(key, value, typed) for key, value in changes.items())


def circuit_for(base: str, channels: int) -> dict[str, Any]:
    """Return the keys for another number of channels, with a matching update circuit."""
    config = load_config(base)
    inputs = channels * (1 + config.perception.kernels * config.perception.gates[-1])
    gates = fit_layer_widths(config.update.gates, inputs, channels)
    return {"automaton.channels": channels, "update.gates": gates}


def _listed(numbers: Sequence[int]) -> str:
    *first, last = map(str, numbers)
    return f"{', '.join(first)} or {last}"
