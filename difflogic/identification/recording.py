"""Recordings: frames of cells' states, read from arrays, patterns and untrusted animations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.examples.pairs import MOST_SYMBOLS
from difflogic.examples.reading import SUFFIXES, numbered, read_examples, read_inputs
from difflogic.identification.rules import MOST_STATES, UNKNOWN, Space, Table
from difflogic.pictures.images import opened
from difflogic.simulation.starts import parse_rle
from difflogic.system.archive import NpzReader, is_archive
from difflogic.system.callbacks import ignore
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.errors import ConfigError, ModelFileError
from difflogic.system.files import read_named

MOST_CELLS = 2**25
"""In all frames together."""
MOST_BYTES = 2**26
MOST_PAIRS = 10_000
IMAGES = ("GIF", "PNG", "WEBP", "TIFF")

Frames = npt.NDArray[np.int64]
Values = npt.NDArray[Any]
"""Frames before the check, of any shape and type of number."""

Update = Callable[[int, int | None, str], object]
"""Is called with what is done, the total if known, and a remark."""


@dataclass(frozen=True)
class Recording:
    """Frames of one automaton, from one or several starts."""

    frames: Frames
    """States, or UNKNOWN for unseen cells, shape (recordings, frames, height, width)."""
    states: int
    source: str = "the recording"
    sizes: tuple[tuple[int, int], ...] = ()
    """Of pairs: rows and columns of each; the rest of its frames is UNKNOWN."""
    query: Frames | None = None
    """A frame whose next one is asked for, shape (height, width)."""

    def __post_init__(self) -> None:
        if self.frames.shape[1] < 2:
            raise ConfigError(
                f"{self.source}: has one frame: give at least two, to show what follows"
            )

    @property
    def pairs(self) -> list[tuple[Frames, Frames]]:
        """Each frame, and the one after it."""
        height, width = self.frames.shape[2:]
        return [
            (before[:rows, :columns], after[:rows, :columns])
            for film, (rows, columns) in zip(
                self.frames, self.sizes or [(height, width)] * len(self.frames), strict=True
            )
            for before, after in pairwise(film)
        ]

    @property
    def complete(self) -> bool:
        """Whether every cell was seen."""
        return bool((self.frames != UNKNOWN).all())


@dataclass(frozen=True)
class Inquiry:
    """Which rule of `space` explains a recording of frames `gap` steps apart."""

    recording: Recording
    space: Space
    boundary: str = "periodic"
    gap: int = 1
    deadline: Deadline = NEVER
    update: Update = ignore
    noise: bool = False
    """Whether some cells may have been recorded wrongly, as few as possible."""
    hidden: int = 0
    """Cells may have up to this many more states than are seen."""
    plain_start: bool = False
    """Whether no cell is in a hidden state in the first frame."""
    likely: Table | None = None
    """The likeliest state by entry: the rule has it where the recording allows."""
    by_odds: bool = False
    """Whether odds chose among kinds of rules, and other kinds may explain the recording."""


def from_array(
    data: Any,
    mask: Any = None,
    *,
    line: bool = False,
    states: int | None = None,
    source: str = "the recording",
) -> Recording:
    """Check an array of states and give it four dimensions.

    Shape (frames, height, width) or (recordings, frames, height, width); for lines also (frames,
    width) or (recordings, frames, width). NaN, -1, and cells where `mask` is true were not seen.
    The default of `states` is the largest state plus 1. Raises ConfigError, which names the frame
    and the cell.
    """
    array = np.asarray(np.ma.filled(np.ma.asarray(data).astype(float), np.nan))
    if array.size > MOST_CELLS:
        raise ConfigError(f"{source}: {array.size} cells are more than {MOST_CELLS}: cut it")
    if mask is not None:
        hidden = np.asarray(mask)
        try:
            array = np.where(np.broadcast_to(hidden, array.shape).astype(bool), np.nan, array)
        except ValueError:
            raise ConfigError(
                f"{source}: the mask has shape {hidden.shape}, which does not fit the frames' "
                f"{array.shape}"
            ) from None
    if line and array.ndim in (2, 3):
        array = array[..., None, :]
    if array.ndim == 3:
        array = array[None]
    if array.ndim != 4 or not array.size:
        raise ConfigError(
            f"{source}: frames need the shape (frames, height, width) or (recordings, frames, "
            f"height, width), not {np.shape(data)}"
        )
    if line and array.shape[2] != 1:
        raise ConfigError(
            f"{source}: has frames of {array.shape[2]} rows: the frames of a line have one row, in "
            "an array of shape (frames, width)"
        )
    unseen = np.isnan(array) | (array == UNKNOWN)
    values = np.where(unseen, 0, array)
    most = MOST_STATES if states is None else states
    wrong = np.argwhere((values != np.floor(values)) | (values < 0) | (values >= most))
    if len(wrong):
        value = array[tuple(wrong[0])]
        raise ConfigError(
            f"{source}: {place(wrong[0])} has the value {value:g}, which is not a state from 0 to "
            f"{most - 1}: give --states, or --threshold for greys"
        )
    frames = np.where(unseen, UNKNOWN, values).astype(np.int64)
    return Recording(frames, states or max(2, int(frames.max()) + 1), source)


def from_examples(path: Path, states: int | None = None) -> Recording:
    """Read pairs of frames, and maybe one to predict, as `difflogic.examples` does.

    Pairs may have several sizes. Raises ConfigError, which names the file and the pair.
    """
    examples = read_examples([path])
    if len(examples.train) > MOST_PAIRS:
        raise ConfigError(f"{path}: has {len(examples.train)} pairs: give at most {MOST_PAIRS}")
    names = examples.symbols
    if names == tuple(map(str, range(len(names)))):
        names = tuple(map(str, range(MOST_SYMBOLS)))
    asked = [raw for raw in read_inputs(path) if raw.aside]
    query = numbered(asked[0].before, names).astype(np.int64) if asked else None
    sizes = tuple(pair.before.shape for pair in examples.train)
    height, width = np.array(sizes).max(axis=0)
    frames = np.full((len(sizes), 2, height, width), UNKNOWN)
    for film, pair in zip(frames, examples.train, strict=True):
        rows, columns = pair.before.shape
        film[:, :rows, :columns] = pair.before, pair.after
    most = max(int(frames.max()), -1 if query is None else int(query.max()))
    if states is not None and most >= states:
        raise ConfigError(f"{path}: has the state {most}, but there are {states} states")
    return Recording(frames, states or max(2, most + 1), str(path), sizes, query)


def place(index: Sequence[int]) -> str:
    """Name a cell of a recording by its indices, from 0."""
    recording, frame, row, column = (int(each) for each in index)
    first = f"recording {recording}, " if recording else ""
    return f"{first}frame {frame}, row {row}, column {column}"


def read(
    paths: Sequence[Path],
    *,
    line: bool = False,
    states: int | None = None,
    threshold: float | None = None,
    cell: int = 1,
) -> Recording:
    """Read one file of frames, or several files of one frame each, in order.

    `threshold` and `cell` are as in `_states`. Raises ConfigError, which names the file.
    """
    source = ", ".join(str(path) for path in paths)
    if len(paths) == 1 and holds_pairs(paths[0]):
        return from_examples(paths[0], states)
    parts = [_read(path, line, states, threshold, cell) for path in paths]
    if len(parts) == 1:
        data, mask = parts[0]
        return from_array(data, mask, line=line, states=states, source=source)
    first = parts[0][0]
    for path, (data, mask) in zip(paths, parts, strict=True):
        if data.ndim != 3 or len(data) != 1 or mask is not None:
            raise ConfigError(f"{path}: each of several files must have one frame")
        if data.shape != first.shape:
            raise ConfigError(
                f"{path}: has {data.shape[1]}×{data.shape[2]} cells, and {paths[0]} has "
                f"{first.shape[1]}×{first.shape[2]}: all frames need the same size"
            )
    frames = np.concatenate([data for data, _ in parts])[None]
    return from_array(frames, line=line, states=states, source=source)


def holds_pairs(path: Path) -> bool:
    """Whether a file has pairs of frames that do not follow each other."""
    if not is_archive(path):
        return path.suffix in SUFFIXES
    with NpzReader(path, MOST_BYTES, "recording") as reader:
        return "inputs" in reader.names


def _read(
    path: Path, line: bool, states: int | None, threshold: float | None, cell: int
) -> tuple[Values, Values | None]:
    """Return a file's frames and, if it has one, its mask."""
    if is_archive(path):
        data, mask = _read_npz(path)
        if threshold is not None:
            data = np.where(np.isnan(data), np.nan, data >= threshold)
        return data, mask
    content = read_named(path, MOST_BYTES, "a recording")
    try:
        if path.suffix == ".rle":
            frames = parse_rle(content.decode("ascii", "replace"))[None].astype(np.int64)
        else:
            frames = _states(_images(content), states or MOST_STATES, threshold, cell)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    if line and len(frames) == 1 and frames.shape[1] > 1:
        return frames[0], None  # each row is a step
    return frames, None


def _read_npz(path: Path) -> tuple[Values, Values | None]:
    try:
        with NpzReader(path, MOST_BYTES, "recording") as reader:
            names = [name for name in reader.names if name != "mask"]
            if "frames" in names:
                names = ["frames"]
            if len(names) != 1:
                raise reader.error('needs an array "frames", and may have a "mask"')
            data = reader.numbers(names[0], MOST_CELLS)
            return data, reader.numbers("mask", MOST_CELLS) if "mask" in reader.names else None
    except ModelFileError as error:
        raise ConfigError(str(error)) from None


def _images(content: bytes) -> list[npt.NDArray[np.uint8]]:
    """Return the frames of an image or animation, RGB, shape (height, width, 3) each."""
    from PIL import ImageSequence

    found: list[npt.NDArray[np.uint8]] = []
    pairs = "grids before and after: dct train-examples"
    what = f"is not a recording: give .npz, .rle or an image; for {pairs}"
    with opened(content, IMAGES, what) as image:
        pixels = image.size[0] * image.size[1]
        for frame in ImageSequence.Iterator(image):
            if (len(found) + 1) * pixels > MOST_CELLS:
                raise ConfigError(f"has more than {MOST_CELLS} pixels: cut it")
            found.append(np.asarray(frame.convert("RGB")))
    return found


def _states(
    images: Sequence[npt.NDArray[np.uint8]], states: int, threshold: float | None, cell: int
) -> Frames:
    """Return the cells' states, shape (frames, height, width).

    State 0 is the most frequent colour, the background. The others are ordered by how much their
    brightness differs from it; 1 differs most. With a `threshold` from 0 to 1, a cell is 1 if its
    mean brightness reaches it. `cell` is the side of a cell in pixels.
    """
    height, width, _ = images[0].shape
    if height % cell or width % cell:
        raise ConfigError(
            f"{height}×{width} pixels cannot be divided into cells of {cell}×{cell}: see --cell"
        )
    film = np.stack(images).astype(np.int64)
    blocks = film.reshape(len(film), height // cell, cell, width // cell, cell, 3)
    light = np.array([299, 587, 114])  # weights of red, green and blue in ITU-R BT.601
    if threshold is not None:
        lit = blocks.sum(axis=(2, 4)) @ light >= threshold * 255_000 * cell**2
        return np.asarray(lit, np.int64)
    numbers = blocks @ np.array([2**16, 2**8, 1])
    first = numbers[:, :, :1, :, :1]
    mixed = np.argwhere((numbers != first).any(axis=(2, 4)))
    if len(mixed):
        raise ConfigError(
            f"{place([0, *mixed[0]])} has several colours: give the pixels of a cell with --cell, "
            "or the brightness of a 1 with --threshold"
        )
    cells = first[:, :, 0, :, 0]
    colours, counts = np.unique(cells, return_counts=True)
    if len(colours) > states:
        raise ConfigError(
            f"has {len(colours)} colours, but there are {states} states: give --threshold for "
            "greys, or --states"
        )
    brightness = np.stack([colours >> 16, colours >> 8 & 255, colours & 255], axis=1) @ light
    away = np.abs(brightness - brightness[counts.argmax()])
    away[counts.argmax()] = 256_000  # more than any
    ranks = np.argsort(np.argsort(-away, kind="stable"))
    states_of: Frames = ranks[np.searchsorted(colours, cells)]
    return states_of
