"""Recordings: frames of cells' states, read from arrays, patterns and untrusted animations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from textwrap import dedent
from typing import Any, Literal

import numpy as np

from difflogic.circuit.colors import Color
from difflogic.examples.pairs import MOST_SYMBOLS
from difflogic.examples.reading import (
    EXAMPLES,
    NamedRows,
    csv_grids,
    named_cells,
    numbered,
    read_examples,
    read_inputs,
    split_task,
)
from difflogic.examples.universe import placed
from difflogic.pictures.patterns import PATTERNS, PatternFile, parse_pattern
from difflogic.pictures.pixel_cells import apart, side_of
from difflogic.pictures.pixels import (
    PixelFilm,
    color_name,
    color_number,
    opaque_colors,
    read_frames,
    unpacked,
)
from difflogic.system.archive import NpzReader, is_archive
from difflogic.system.array_types import Array, Int64s
from difflogic.system.errors import ConfigError, ModelFileError, errors_about
from difflogic.system.files import read_named, text_of
from difflogic.system.quantities import counted, format_ranges

UNSEEN = -1
"""Stands for the state of a cell that was not seen."""

MOST_STATES = 16

MOST_FILM_CELLS = 2**25
"""In all frames together."""
MOST_FILM_BYTES = 2**26
MOST_PAIRS = 10_000
TEXTS = (".txt", ".csv")

FULL_LIGHT = 65_535_000
"""The brightness of white, of 16 bits, by the weights of `_light`."""

FrameArray = Int64s
Values = Array
"""Frames before the check, of any shape and type of number."""


@dataclass(frozen=True)
class Recording:
    """Frames of one automaton, from one or several starts."""

    frames: FrameArray
    """States, or UNSEEN for unseen cells, shape (recordings, frames, height, width)."""
    states: int
    source: str = "the recording"
    sizes: tuple[tuple[int, int], ...] = ()
    """Of pairs: rows and columns of each; the rest of its frames is UNSEEN."""
    query: FrameArray | None = None
    """A frame whose next one is asked for, shape (height, width)."""
    names: tuple[str, ...] = ()
    """What stands for each state in the file, such as "white"; empty if its number does."""
    chosen: bool = False
    """Whether `names` were put in order here, by how often the colours occur."""
    palette: tuple[Color, ...] = ()
    """The colour of each state, if the file has opaque colours."""
    notes: tuple[str, ...] = ()
    """How else the file was read."""
    rule: str = ""
    """The rule that the file names."""
    edge: str = "periodic"
    """What lies beyond the edge, unless the question says."""

    def require_steps(self) -> Recording:
        """Return itself. Raises ConfigError if it has no two frames that follow each other."""
        if self.frames.shape[1] < 2:
            line = self.frames.shape[2] > 1
            rows = ", or --neighbourhood line-1 if its rows are the steps of a line" if line else ""
            raise ConfigError(
                f"{self.subject}: has one frame: give at least two, to show what follows{rows}"
            )
        return self

    def frame(self, number: int | Literal["last"]) -> FrameArray:
        """Return the states of a frame, (height, width), without unseen cells, or ConfigError."""
        film = self.frames[0]
        if len(self.frames) > 1 or self.sizes:
            raise ConfigError(f"{self.subject}: has several starts: give a film of one")
        index = len(film) - 1 if number == "last" else number
        if index >= len(film):
            raise ConfigError(f"{self.source}: has the frames 0 to {len(film) - 1}, not {index}")
        if (film[index] == UNSEEN).any():
            raise ConfigError(
                f"{self.source}: frame {index} has unseen cells (-1 is one): choose another"
            )
        cells: FrameArray = film[index]
        return cells

    @property
    def pairs(self) -> list[tuple[FrameArray, FrameArray]]:
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
    def triples(self) -> list[tuple[FrameArray, FrameArray]]:
        """Each frame with the one before, shape (2, height, width), and the frame after them."""
        return [
            (film[number - 1 : number + 1], film[number + 1])
            for film in self.frames
            for number in range(1, len(film) - 1)
        ]

    @property
    def subject(self) -> str:
        """Name the recording for errors about its content, and say how it was read."""
        return f"{self.source} ({self.told})"

    @property
    def told(self) -> str:
        """Say how the file was read: its shape, what stands for each state, and what is unseen."""
        films, frames, height, width = self.frames.shape
        shape = f"{films} recordings of " * (films > 1) + counted(frames, "frame")
        shape = f"{counted(films, 'pair')} of at most" if self.sizes else f"{shape} of"
        names = [f"{name} = {state}" for state, name in enumerate(self.names)]
        inside = self.frames.size
        if self.sizes:
            inside = 2 * sum(rows * columns for rows, columns in self.sizes)
        unseen = inside - int((self.frames != UNSEEN).sum())
        share = f"{unseen} of {inside} cells unseen ({unseen / inside:.0%})"
        states = ", ".join(names) or f"{self.states} states"
        parts = (*self.notes, states, share if unseen else "nothing unseen")
        return f"{shape} {height}×{width} cells, " + "; ".join(parts)

    @property
    def complete(self) -> bool:
        """Whether every cell was seen."""
        return bool((self.frames != UNSEEN).all())


@dataclass(frozen=True)
class Reading:
    """How files and arrays are to be read."""

    line: bool = False
    states: int | Sequence[str] | None = None
    """How many, by default the largest plus 1; or what stands for each: colours, or numbers."""
    threshold: float | None = None
    """The lowest mean brightness of a cell that is 1, from 0 to 1."""
    cell: int | str = "auto"
    """The side of a cell in an image, in pixels; "auto" takes the largest of one colour each."""
    whole: bool = False
    """Whether patterns that do not say where they lie are whole grids."""
    grid: tuple[int, int] | None = None
    """Rows and columns that a frame probably has; an array may then be a single frame."""
    colours: tuple[str, ...] = ()
    """What stands for each state in images, instead of `states`; the last may do so for several."""
    usual: bool = False
    """Whether a film may also have other colours; the commonest is then state 0."""
    margin: int = 2
    """Empty cells to keep around patterns of an unbounded universe."""

    @property
    def count(self) -> int | None:
        """The number of states, if that was given."""
        return self.states if isinstance(self.states, int) else None

    @property
    def names(self) -> tuple[str, ...]:
        """What stands for each state, if that was given."""
        return () if self.states is None or isinstance(self.states, int) else (*self.states,)


PLAINLY = Reading()


def from_array(
    data: Any, mask: Any = None, how: Reading = PLAINLY, source: str = "the recording"
) -> Recording:
    """Check an array of states and give it four dimensions.

    Shape (frames, height, width) or (recordings, frames, height, width); for lines also (frames,
    width) or (recordings, frames, width). NaN, -1, and cells where `mask` is true were not seen;
    if `how` names the values of states, -1 may be one. Raises ConfigError, which names the frame
    and the cell.
    """
    try:
        if np.iscomplexobj(data):
            raise TypeError
        array = np.asarray(np.ma.filled(np.ma.asarray(data).astype(float), np.nan))
    except (TypeError, ValueError):
        raise ConfigError(f"{source}: needs an array of numbers, whose rows are as long") from None
    if not array.size:
        raise ConfigError(f"{source}: has the shape {array.shape}, so no cells")
    if array.size > MOST_FILM_CELLS:
        raise ConfigError(f"{source}: {array.size} cells are more than {MOST_FILM_CELLS}: cut it")
    if mask is not None:
        hidden = np.asarray(mask)
        try:
            array = np.where(np.broadcast_to(hidden, array.shape).astype(bool), np.nan, array)
        except ValueError:
            raise ConfigError(
                f"{source}: the mask has shape {hidden.shape}, which does not fit the frames' "
                f"{array.shape}"
            ) from None
    array = _in_four_dimensions(array, how, source)
    with errors_about(source):
        values = _values(array, how)
    unseen = np.isnan(array) | ((array == UNSEEN) & (UNSEEN not in values))
    frames = np.where(unseen, UNSEEN, len(values))
    for state, value in enumerate(values):
        frames[array == value] = state
    other = np.argwhere(frames == len(values))
    if len(other):
        value = float(array[tuple(other[0])])
        shown = f"{value:g}"
        if float(shown) != value:
            shown = repr(value)
        known = ", ".join(how.names) if how.names else f"0 to {len(values) - 1}"
        raise ConfigError(
            f"{source}: {place(other[0])} has the value {shown}, which is not a state ({known}): "
            "give --states, or --threshold for greys"
        )
    states = how.count or len(how.names) or max(2, int(frames.max()) + 1)
    channels = array.shape[3]
    wide = (f"the last of its 4 axes, {channels}, is its width: colours would be no axis",)
    notes = wide if np.ndim(data) == 4 and channels in (3, 4) else ()
    return Recording(frames, states, source, names=how.names, notes=notes)


def _in_four_dimensions(array: Values, how: Reading, source: str) -> Values:
    """Return an array as (recordings, frames, height, width). Raises ConfigError."""
    if how.line and array.ndim in (2, 3):
        array = array[..., None, :]
    if array.ndim == 2 and how.grid is not None:
        array = array[None]
    if array.ndim == 3 or (how.line and array.ndim == 4 and array.shape[1:3] == (1, 1)):
        array = array.reshape(1, -1, *array.shape[-2:])  # of a line, frames of one row each
    if array.ndim != 4:
        line = "; --neighbourhood line-1 takes the rows as steps of a line" * (array.ndim == 2)
        raise ConfigError(
            f"{source}: frames need the shape (frames, height, width) or (recordings, frames, "
            f"height, width), not {array.shape}{line}"
        )
    if array.shape[3] == 1 < array.shape[2]:
        raise ConfigError(
            f"{source}: has the shape {array.shape}, whose last axis is the width: cells that are "
            "all in one column; if it has the colours or channels of each cell, leave it out"
        )
    if how.line and array.shape[2] != 1:
        raise ConfigError(
            f"{source}: has frames of {array.shape[2]} rows: the frames of a line have one row, in "
            "an array of shape (frames, width)"
        )
    return array


def _values(array: Values, how: Reading) -> list[float]:
    """Return the value of each state in an array."""
    if how.names:
        try:
            return [float(name) for name in how.names]
        except ValueError:
            raise ConfigError(
                f"--states {','.join(how.names)}: has numbers, and no colours: give its values, "
                "such as --states -1,1"
            ) from None
    if how.count is None and {*np.unique(array[~np.isnan(array)]).tolist()} == {-1, 1}:
        raise ConfigError(
            "has the values -1 and 1, and no 0, as of spins; but -1 means unseen: give "
            "--states -1,1 if both are states, or --states 2 if -1 is unseen"
        )
    return [float(state) for state in range(how.count or MOST_STATES)]


def from_examples(path: Path, states: int | None = None) -> Recording:
    """Read pairs of frames, and maybe one to predict, as `difflogic.examples` does.

    Pairs may have several sizes. Raises ConfigError, which names the file and the pair.
    """
    examples = read_examples([path])
    if len(examples.train) > MOST_PAIRS:
        raise ConfigError(f"{path}: has {len(examples.train)} pairs: give at most {MOST_PAIRS}")
    names = examples.symbols
    plain = names == tuple(map(str, range(len(names))))
    if plain:
        names = tuple(map(str, range(MOST_SYMBOLS)))
    asked = [raw for raw in read_inputs(path) if raw.aside]
    query = numbered(asked[0].before, names).astype(np.int64) if asked else None
    sizes = tuple(pair.before.shape for pair in examples.train)
    height, width = np.array(sizes).max(axis=0)
    frames = np.full((len(sizes), 2, height, width), UNSEEN)
    for film, pair in zip(frames, examples.train, strict=True):
        rows, columns = pair.before.shape
        film[:, :rows, :columns] = pair.before, pair.after
    most = max(int(frames.max()), -1 if query is None else int(query.max()))
    if states is not None and most >= states:
        raise ConfigError(f"{path}: has the state {most}, but there are {states} states")
    count = states or max(2, most + 1)
    named = () if plain else names[:count]
    return Recording(frames, count, str(path), sizes, query, named)


def place(index: Sequence[int]) -> str:
    """Name a cell of a recording by its indices, from 0."""
    recording, frame, row, column = (int(each) for each in index)
    first = f"recording {recording}, " if recording else ""
    return f"{first}frame {frame}, row {row}, column {column}"


def read(paths: Sequence[Path], how: Reading = PLAINLY) -> Recording:
    """Read one file of frames, or several files of one frame each, in order.

    Raises ConfigError, which names the file.
    """
    source = ", ".join(str(path) for path in paths)
    if how.names and how.threshold is not None:
        raise ConfigError("--threshold makes the states 0 and 1: leave out their names in --states")
    for path in paths if (how.cell, how.threshold) != ("auto", None) else ():
        array = is_archive(path) and how.cell == "auto"
        plain = path.suffix.lower() in (*PATTERNS, *TEXTS)
        if not array and (is_archive(path) or plain or holds_pairs(path)):
            raise ConfigError(f"{path}: has no pixels: leave out --cell and --threshold")
    if len(paths) == 1 and holds_pairs(paths[0]):
        if how.names:
            raise ConfigError(f"{source}: --states: pairs name their symbols: give their number")
        return from_examples(paths[0], how.count)
    if any(is_archive(path) for path in paths):
        if len(paths) > 1:
            raise ConfigError(f"{source}: give one .npz with all frames, or files of one frame")
        data, mask = _arrays(paths[0])
        if how.threshold is None:
            return from_array(data, mask, how, source)
        film = np.where(np.isnan(data), np.nan, data >= how.threshold)
        found = from_array(film, mask, replace(how, states=how.count or 2), source)
        return replace(found, notes=(*found.notes, f"1 is a value of {how.threshold:g} or more"))
    contents = [read_named(path, MOST_FILM_BYTES, "a recording") for path in paths]
    readers = {_READERS.get(path.suffix.lower(), _from_images) for path in paths}
    if len(readers) > 1:
        raise ConfigError(f"{source}: patterns, texts and images: give frames of one kind")
    return readers.pop()(dict(zip(map(str, paths), contents, strict=True)), how, source)


def holds_pairs(path: Path) -> bool:
    """Whether a file has pairs of frames that do not follow each other."""
    if not is_archive(path):
        suffix = split_task(path)[0].suffix.lower()
        if suffix != ".csv":
            return suffix in EXAMPLES
        content = read_named(path, MOST_FILM_BYTES, "a recording")
        with errors_about(path):  # a single grid has rows that are frames
            return len(csv_grids(text_of(content))) != 1
    with NpzReader(path, MOST_FILM_BYTES, "recording") as reader:
        return "inputs" in reader.names


def _arrays(path: Path) -> tuple[Values, Values | None]:
    try:
        with NpzReader(path, MOST_FILM_BYTES, "recording") as reader:
            names = [name for name in reader.names if name != "mask"]
            known = [name for name in ("frames", "states") if name in names]
            if len(known or names) != 1:
                raise reader.error('needs an array "frames", and may have a "mask"')
            data = reader.numbers((known or names)[0], MOST_FILM_CELLS)
            if known == ["states"]:  # a prediction: one frame
                data = data[None]
            return data, reader.numbers("mask", MOST_FILM_CELLS) if "mask" in reader.names else None
    except ModelFileError as error:
        raise ConfigError(str(error)) from None


def _from_patterns(files: dict[str, bytes], how: Reading, source: str) -> Recording:
    patterns = list[PatternFile]()
    for name, content in files.items():
        with errors_about(name):
            patterns.append(parse_pattern(content))
    with errors_about(source):
        frames, edge, words = placed(
            patterns, how.margin, MOST_FILM_CELLS, how.whole or len(files) == 1
        )
    found = from_array(_steps(frames, how), None, how, source)
    rules = ", ".join(dict.fromkeys(each.rule for each in patterns if each.rule))
    return replace(found, notes=words, rule=rules, edge=edge)


def _from_texts(files: dict[str, bytes], how: Reading, source: str) -> Recording:
    """Read grids of numbers, symbols or signs; blank lines are between frames."""
    grids = list[NamedRows]()
    for name, content in files.items():
        with errors_about(name):
            grids += [rows for _, rows in csv_grids(_separated(text_of(content)))]
    with errors_about(source):
        if not grids or len({len(rows) for rows in grids}) > 1:
            raise ConfigError("needs grids of one size, with blank lines between frames")
        try:
            frames = np.array(grids, float)
        except ValueError:
            named = [named_cells(rows, f"frame {number}") for number, rows in enumerate(grids)]
        else:
            return from_array(_steps(frames, how), None, how, source)
        counts = Counter(chain.from_iterable(chain.from_iterable(named)))
        usual = sorted(counts, key=lambda name: (name != ".", -counts[name]))
        names = how.names or tuple(usual)
        numbers = np.stack([numbered(rows, names) for rows in named]).astype(np.int64)
        plain = Reading(how.line, how.count or max(2, len(names)))
        found = from_array(_steps(numbers, how), None, plain, source)
    return replace(found, names=names, chosen=not how.names)


def _separated(text: str) -> str:
    """Return a text with commas between cells: signs, or numbers with blanks between them."""
    if re.search("[,;\t]", text):
        return text
    rows = [row.rstrip() for row in dedent(text).splitlines()]
    apart = any(" " in row for row in rows)
    with suppress(ValueError):
        apart = apart and all(map(float, text.split())) is not None
        return "\n".join(",".join(row.split() if apart else row) for row in rows)
    return "\n".join(map(",".join, rows))


_READERS = dict.fromkeys(PATTERNS, _from_patterns) | dict.fromkeys(TEXTS, _from_texts)


def _from_images(files: dict[str, bytes], how: Reading, source: str) -> Recording:
    """Read images, which share their colours: one decides for all which is state 0."""
    what = (
        "is not a recording (of grids before and after: dct train-examples): give .npz, .npy, "
        ".rle, .cells or an image"
    )
    films = []
    longer = ""
    for name, content in files.items():
        with errors_about(name):
            film, longer = read_frames(content, what)
            films.append(film)
            if len(films[-1]) > 1 and len(files) > 1:
                raise ConfigError("each of several files must have one frame")
            if (shape := films[-1].shape[1:]) != (first := films[0].shape[1:]):
                raise ConfigError(
                    f"has {shape[0]}×{shape[1]} pixels, and {next(iter(files))} has "
                    f"{first[0]}×{first[1]}: all frames need the same size"
                )
    with errors_about(source):
        film = np.concatenate(films)
        pixels = ""
        if how.grid is None or np.any(np.remainder(film.shape[1:], how.grid)):
            film, pixels = apart(film, how.cell)
        frames, cell, names = _states(film, replace(how, cell=1) if pixels else how)
    lit = () if names else (f"1 is a mean brightness of {how.threshold:g} or more",)
    notes = (pixels or f"{counted(cell, 'pixel')} each", *lit, *filter(None, [longer]))
    plain = Reading(how.line, how.count or len(names) or 2)
    found = from_array(_steps(frames, how), None, plain, source)
    chosen = bool(names) and names not in (how.names, how.colours)
    if chosen and how.colours:
        notes += ("none of the circuit's colours: 0 is the commonest",)
    palette = opaque_colors(names) if names else ()
    return replace(found, names=names, notes=notes, chosen=chosen, palette=palette)


def _steps(frames: FrameArray, how: Reading) -> FrameArray:
    """Return frames; of one frame, if it is to be a line, each row is a step."""
    alone = how.line and len(frames) == 1 and frames.shape[1] > 1
    return frames[0] if alone else frames


def _light(colours: PixelFilm) -> Int64s:
    """Return the brightness of colours, with the weights of ITU-R BT.601."""
    found: Int64s = unpacked(colours) @ np.array([299, 587, 114, 0])
    return found


def _lit(blocks: PixelFilm, threshold: float) -> FrameArray:
    """Return 1 for cells whose mean brightness reaches a threshold. Raises ConfigError.

    `blocks` has the pixels of each cell, shape (frames, height, cell, width, cell).
    """
    if (blocks & np.uint64(0xFFFF) != 0xFFFF).any():
        raise ConfigError(
            "has transparent pixels, which have no brightness: leave out --threshold, or save "
            "it on a background"
        )
    cell = blocks.shape[2]
    lit = _light(blocks).sum(axis=(2, 4)) >= threshold * FULL_LIGHT * cell**2
    if lit.all() or not lit.any():
        raise ConfigError(f"all cells are {int(lit.all())}: choose another --threshold")
    return np.asarray(lit, np.int64)


def _order(colours: PixelFilm, counts: Int64s, how: Reading) -> tuple[list[int], tuple[str, ...]]:
    """Return the colours of the states in order, and their names. Raises ConfigError.

    `counts` says how often each of the colours that occur is there.
    """
    names = how.colours or how.names
    with errors_about("--states"):
        order = [color_number(name) for name in names]
    others = [color_name(each) for each in colours.tolist() if each not in order]
    if others and how.usual:
        order = []
        names = ()
    if order:
        if others:
            raise ConfigError(
                f"has the colour {others[0]}, and the states are {', '.join(names)}: give "
                "--threshold if colours are not exact, as in JPEG"
            )
        for each in colours.tolist():
            alike = [state for state, other in enumerate(order) if other == each]
            if len(alike) > 1 and alike != [*range(alike[0], len(order))]:
                raise ConfigError(
                    f"{color_name(each)} stands for the states {format_ranges(alike)}: give an "
                    "array of states, or a circuit whose states have colours of their own"
                )
    elif len(colours) > (most := how.count or MOST_STATES):
        raise ConfigError(
            f"has {len(colours)} colours, but there are {most} states: give --threshold for "
            "greys, or --states"
        )
    elif len(colours) < 2:
        name = color_name(int(colours[0]))
        raise ConfigError(
            f"has one colour, {name}: frames that never change show no rule; if they are meant, "
            f"name the colours of the states in order, such as --states '{name},#d63031'"
        )
    else:
        brightness = _light(colours)
        away = np.abs(brightness - brightness[counts.argmax()])
        away[counts.argmax()] = 2**40  # more than any
        order = colours[np.argsort(-away, kind="stable")].tolist()
    return order, tuple(names or map(color_name, order))


def _states(film: PixelFilm, how: Reading) -> tuple[FrameArray, int, tuple[str, ...]]:
    """Return the cells' states, shape (frames, height, width), their side, and the colours.

    Unless colours are given, state 0 is the most frequent one, the background. The others are
    ordered by how much their brightness differs from it; 1 differs most. With a threshold there are
    no colours: a cell is 1 if its mean brightness reaches it.
    """
    _, height, width = film.shape
    grid = how.grid if how.cell == "auto" else None
    side = side_of(film, grid)
    if side == 1 and how.threshold is not None:  # the greys of a cell may differ
        side = side_of((_light(film) >= how.threshold * FULL_LIGHT).astype(np.uint64), grid)
    cell = side if isinstance(how.cell, str) else how.cell
    look = f"cells look {side} pixels wide: " if side > 1 else ""
    if height % cell or width % cell:
        raise ConfigError(
            f"{height}×{width} pixels cannot be divided into cells of {cell}×{cell}: {look}see "
            "--cell"
        )
    blocks = film.reshape(len(film), height // cell, cell, width // cell, cell)
    if how.threshold is not None:
        return _lit(blocks, how.threshold), cell, ()
    shown = blocks[:, :, 0, :, 0]
    mixed = np.argwhere((blocks != shown[:, :, None, :, None]).any(axis=(2, 4)))
    if len(mixed):
        remedy = "give the pixels of a cell with --cell"
        if how.cell != "auto":
            remedy = f"choose another --cell than {cell}"
        raise ConfigError(
            f"{place([0, *mixed[0]])} has several colours: {look}{remedy}, or give the brightness "
            "of a 1 with --threshold"
        )
    colours, cells, counts = np.unique(shown, return_inverse=True, return_counts=True)
    order, names = _order(colours, counts, how)
    ranks = np.array([order.index(each) for each in colours.tolist()])
    return ranks[cells.reshape(shown.shape)], cell, names
