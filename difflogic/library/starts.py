"""Start states: random, one cell in the middle, all zeros, or from a file.

A picture (text as in `difflogic.pictures.text`, or an image) or a pattern in one of the
Game of Life's formats goes to the middle of the visible channels; all other channels are 0.

A state saved by `dct simulate` sets all channels, on a grid of the same size. It is a ZIP of NumPy
arrays: `cells` (channels, height, ⌈width / 8⌉), where cell x is bit x mod 8 of byte x // 8; `size`
(height, width); `labels`, the channels' labels; `step`, the number of steps taken. As with all
archives here, it is checked before it is unpacked.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.examples.universe import bounds, placed
from difflogic.inspection.symmetry import life_notation
from difflogic.library.conditions import Conditions
from difflogic.library.start_files import MOST_PICTURE_BYTES, bits_of, read_start
from difflogic.pictures.images import image_bits
from difflogic.pictures.patterns import PATTERNS, parse_pattern
from difflogic.pictures.text import parse_picture
from difflogic.simulation.bit_grid import BitGrid, pack, unpack
from difflogic.simulation.simulator import LAST_STEP, Simulator
from difflogic.system.archive import NpzReader, Parts, is_archive, write_npz
from difflogic.system.array_types import Array, Bits
from difflogic.system.errors import ConfigError, errors_about, shorten
from difflogic.system.files import text_of, write_whole
from difflogic.system.quantities import format_ranges
from difflogic.system.work import say

BAND_CELLS = 2**22
"""Cells times channels to pack at a time."""
IMAGE_SIDE = 512
"""Images are scaled to at most this many cells, as pictures for training are."""

MOST_SAVED_CHANNELS = 2**16
HEADER_BYTES = 2**16
"""Bytes of a state besides the cells: names, headers, checksums."""
MOST_ARRAY = 2**26
"""Most bytes of a plain array."""


def prepare(simulator: Simulator, automaton: Automaton, conditions: Conditions) -> None:
    """Set the start of a simulator that has zeros: by one of START_NAMES, a file or an array.

    An array of bits has the shape (rows, columns) or (visible channels, rows, columns), and goes to
    the middle; with memory, as many channels more may follow, one frame earlier. Or it has the
    shape (channels, height, width), with all channels of training. A file may be an .npz with one
    such array, or an .npy.

    The conditions' `paint` are the numbers that held channels get, (height, width). Without it,
    those of a joined circuit are 0, unless the start has all channels.

    Says what of a file is not used. Raises ConfigError if it is not a start, or does not fit.
    """
    start = conditions.start_of(automaton)
    paint = conditions.paint
    grid = simulator.grid
    geometry = grid.geometry
    whole = False
    if isinstance(start, np.ndarray):
        whole = _place_array(grid, start, automaton)
    elif start == "random":
        simulator.randomize()
    elif start == "center":
        middle = slice(geometry.height // 2, geometry.height // 2 + 1)
        cell = np.zeros((geometry.channels, 1, geometry.width), np.uint8)
        cell[:, 0, geometry.width // 2] = 1
        grid.load(middle, pack(cell))
    elif start != "zeros":
        path = Path(start)
        if path.suffix.lower() != ".npz" and not is_archive(path):
            content = read_start(path)
            with errors_about(path):
                bits = _picture(path, content, automaton, geometry.height, geometry.width)
                _place(grid, bits, automaton.visible_rows)
        else:
            array = load_state(path, simulator)
            with errors_about(path):
                whole = array is None or _place_array(grid, array, automaton)
    blocks = None if whole else automaton.blocks
    held = automaton.held_rows if paint is not None or (automaton.parts and not whole) else ()
    for rows in geometry.bands() if blocks or held else ():
        bits = unpack(grid.cells(rows), geometry.width)
        if blocks:
            blocks.fill(bits, automaton.circuit.labels, rows.start)
        for place in held:
            bit = automaton.held.index(automaton.circuit.labels[place])
            bits[place] = 0 if paint is None else paint[rows] >> bit & 1
        grid.load(rows, pack(bits))


def _picture(path: Path, content: bytes, automaton: Automaton, height: int, width: int) -> Bits:
    """Return bits of shape (visible channels, rows, columns); say what of the file is not used."""
    channels = len(automaton.visible)
    suffix = path.suffix.lower()
    if suffix in PATTERNS:
        pattern = parse_pattern(content)
        cells = pattern.cells.astype(np.int64)
        if pattern.corner is not None and bounds(pattern.topology)[0] == (height, width):
            cells = placed([pattern], 0, MOST_PICTURE_BYTES, whole=False)[0][0]
        own = _rule(automaton) if pattern.rule else ""
        if pattern.rule.replace("/", "").lower() != own.replace("/", "").lower():
            say(f"{path}: its rule = {pattern.rule} is not used: the circuit's is {own}")
        return bits_of(cells, channels)
    if suffix == ".txt":
        return parse_picture(text_of(content), channels)
    if channels not in (1, 3):
        raise ConfigError(
            f"an image gives 1 channel or 3, and {channels} are visible: draw it as text"
        )
    bits = image_bits(content, channels, min(height, IMAGE_SIDE), min(width, IMAGE_SIDE))
    kept = "ink, 1 where it is not as its border" if channels == 1 else "red, green and blue bits"
    say(
        f"{path}: an image, scaled to {bits.shape[1]}×{bits.shape[2]} cells and reduced to {kept}: "
        "--frame last reads states by their colours instead"
    )
    return bits


def _rule(automaton: Automaton) -> str:
    """Return the usual name of the rule of a circuit of one channel; else the automaton's name."""
    by_chance = automaton.circuit.interpreter
    return (not by_chance and life_notation(automaton.circuit)) or automaton.name


def _place_array(grid: BitGrid, array: Array, automaton: Automaton) -> bool:
    """Set a start from an array; return whether it has all channels."""
    geometry = grid.geometry
    labels = automaton.circuit.labels
    visible = automaton.visible
    shape = array.shape
    if array.dtype.kind not in "buif" or not np.isin(array, (0, 1)).all():
        raise ConfigError(
            f"start: an array of type {array.dtype}: give bits, 0 and 1; of states, see --frame"
        )
    bits = array.astype(np.uint8)
    if len(shape) == 2:
        bits = np.broadcast_to(bits, (len(visible), *shape))
    if len(bits.shape) == 3 and len(bits) == len(visible) and bits.size:
        _place(grid, bits, automaton.visible_rows)
        return len(visible) == len(labels)
    both = [*visible, *automaton.before]
    if automaton.before and len(bits.shape) == 3 and len(bits) == len(both):
        kept = [number for number, label in enumerate(both) if label in labels]
        _place(grid, bits[kept], tuple(labels.index(both[number]) for number in kept))
        return False
    if shape[1:] == (geometry.height, geometry.width) and shape[0] > max(labels):
        _place(grid, bits[list(labels)], tuple(range(len(labels))))
        return True
    raise ConfigError(
        f"start: an array of shape {shape}: give (rows, columns), ({len(visible)}, rows, "
        f"columns) for the visible channels, or ({max(labels) + 1} or more, "
        f"{geometry.height}, {geometry.width}) for all"
    )


def _place(grid: BitGrid, bits: Bits, channels: tuple[int, ...]) -> None:
    """Put bits of shape (channels, rows, columns) in the middle of a grid of zeros."""
    geometry = grid.geometry
    _, rows, columns = bits.shape
    if rows > geometry.height or columns > geometry.width:
        raise ConfigError(
            f"has {rows}×{columns} cells, but the grid has {geometry.height}×{geometry.width}: "
            "use a larger --size"
        )
    top = geometry.height // 2 - rows // 2
    left = geometry.width // 2 - columns // 2
    at_once = max(1, BAND_CELLS // (geometry.channels * geometry.width))
    for first in range(0, rows, at_once):
        part = bits[:, first : first + at_once]
        band = np.zeros((geometry.channels, part.shape[1], geometry.width), np.uint8)
        band[list(channels), :, left : left + columns] = part
        grid.load(slice(top + first, top + first + part.shape[1]), pack(band))


def save_state(path: Path, simulator: Simulator) -> None:
    """Write the state, replacing an earlier file. Raises RunDirectoryError if that fails."""
    geometry = simulator.grid.geometry
    grid = simulator.grid
    width = -(-geometry.width // 8)
    pieces = (
        grid.cells(rows, channel).astype("<u8", copy=False).view(np.uint8)[:, :width]
        for channel in range(geometry.channels)
        for rows in geometry.bands()
    )
    arrays: dict[str, Array | Parts] = {
        "size": np.array([geometry.height, geometry.width], np.int64),
        "labels": np.array(simulator.circuit.labels, np.int64),
        "step": np.array(simulator.step, np.int64),
        "cells": Parts((geometry.channels, geometry.height, width), np.dtype(np.uint8), pieces),
    }
    write_whole(path, lambda file: write_npz(file, arrays, zipfile.ZIP_DEFLATED))


def load_state(path: Path, simulator: Simulator) -> Array | None:
    """Load a saved state into a simulator. If the file is a single other array, return that.

    Raises ConfigError or ModelFileError, with the file's name, if the file is not a state, or does
    not fit the grid or circuit.
    """
    geometry = simulator.grid.geometry
    # Compressed cells are hardly ever larger than the cells; HEADER_BYTES covers the overhead.
    largest = geometry.bytes + 9 * MOST_SAVED_CHANNELS + HEADER_BYTES
    with NpzReader(path, largest, "state") as reader:
        if reader.names == ["frames"]:
            raise reader.error("is a film: choose one of its frames with --frame")
        if len(reader.names) == 1 and "cells" not in reader.names:
            return reader.numbers(reader.names[0], MOST_ARRAY)
        if "cells" not in reader.names:
            raise reader.error("holds arrays, but no state saved by dct")
        size = reader.array("size", (2,), (np.int64,)).tolist()
        labels = reader.numbers("labels", MOST_SAVED_CHANNELS).ravel().tolist()
        step = int(reader.array("step", (), (np.int64,)))
        with errors_about(path):
            _require_fit(simulator, tuple(size), tuple(labels), step)
        width = -(-geometry.width // 8)
        cells = reader.array("cells", (geometry.channels, geometry.height, width), (np.uint8,))
    padded = np.zeros((geometry.height, geometry.channels, 8 * geometry.words), np.uint8)
    padded[..., :width] = cells.swapaxes(0, 1)
    packed = padded.view("<u8").astype(np.uint64, copy=False)
    simulator.grid.load(slice(geometry.height), packed)
    simulator.step = step
    return None


def _require_fit(
    simulator: Simulator, size: tuple[int, ...], labels: tuple[int, ...], step: int
) -> None:
    """Raise ConfigError unless a state fits the simulator."""
    geometry = simulator.grid.geometry
    (height, width) = size
    if not 0 <= step <= LAST_STEP:
        raise ConfigError(f"{height}×{width} cells after step {step}: dct never saves such a state")
    if size != (geometry.height, geometry.width):
        raise ConfigError(
            f"has {height}×{width} cells, but the grid has {geometry.height}×{geometry.width}: "
            f"use --size {height}x{width}"
        )
    if labels != simulator.circuit.labels:
        both = labels, simulator.circuit.labels
        theirs, ours = (shorten(format_ranges(each)) for each in both)
        raise ConfigError(f"has the channels {theirs}, but the circuit has {ours}")
