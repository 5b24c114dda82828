"""Which part each cell of a joined circuit shows: files and arrays of numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from difflogic.system.array_types import Array
from difflogic.system.declaration import Opt
from difflogic.system.errors import ConfigError, errors_about, shorten
from difflogic.system.quantities import counted

if TYPE_CHECKING:
    from difflogic.circuit.automaton import Automaton

    Numbers = Any
else:
    Numbers = str | Path | None


def _colours(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in re.split(r",(?![^(]*\))", text))


Paint = Annotated[
    Numbers,
    Opt(
        "Part that each cell shows, by number from 0: an image or .npy",
        "FILE",
        shown="the first part",
    ),
]
RegionsOption = Annotated[
    tuple[str, ...] | None,
    Opt(
        "Colours of the parts in the image of --paint, such as '#fff,#000'",
        "LIST",
        shown="the commonest first",
        parse=_colours,
    ),
]

MOST_PAINTED = 2**26
"""Most bytes of a painting's file, and most of its cells."""


@dataclass(frozen=True)
class Painting:
    """What a joined circuit shows where."""

    paint: Paint = None
    """Numbers from 0, such as those of parts, for the held channels: an array (rows, columns)."""
    regions: RegionsOption = None


UNPAINTED = Painting()


def read_painting(
    painting: Painting, automaton: Automaton, size: tuple[int, int] | None = None
) -> Array | None:
    """Return the numbers that the held channels get, shape (rows, columns); None for no painting.

    Raises ConfigError for a painting with other numbers or colours than there are parts, or of
    another size.
    """
    import numpy as np

    paint = painting.paint
    colours = painting.regions
    if paint is None:
        if colours is not None:
            raise ConfigError("--regions: names the colours of a painting: give --paint, too")
        return None
    if not automaton.held:
        raise ConfigError(
            f"--paint: {automaton.name} holds no parts: dct join makes a circuit of some"
        )
    count = len(automaton.parts) or 2 ** len(automaton.held)
    given = hasattr(paint, "dtype")
    cells = np.asarray(paint if given else _numbers(Path(paint), colours))
    with errors_about("paint" if given else paint):
        if cells.ndim != 2 or not cells.size or cells.dtype.kind not in "biuf":
            raise ConfigError(f"has the shape {cells.shape}: give numbers, (rows, columns)")
        wrong = cells[~np.isin(cells, range(count))]
        if wrong.size:
            numbers = counted(len(np.unique(cells)), "number")
            raise ConfigError(
                f"has {numbers}, such as {wrong[0]:g}, and the parts are 0 to {count - 1}: paint "
                "with these, or join more"
            )
        if size not in (None, cells.shape):
            height, width = cells.shape
            raise ConfigError(f"has {height}×{width} cells: give --size {height}x{width}, or none")
    return cells.astype(np.uint8)


def _numbers(path: Path, colours: Sequence[str] | None) -> Array:
    """Return the numbers in a file of an array, or those of an image's colours."""
    import numpy as np

    from difflogic.pictures.pixels import color_name, color_number, read_frames
    from difflogic.system.archive import NpzReader, is_archive
    from difflogic.system.files import read_named

    if is_archive(path):
        with NpzReader(path, MOST_PAINTED, "painting") as reader:
            return reader.numbers(reader.names[0], MOST_PAINTED)
    content = read_named(path, MOST_PAINTED, "a painting")
    with errors_about(path):
        frames, _ = read_frames(content, "is no painting: give an image or .npy")
        found, cells, counts = np.unique(frames[0], return_inverse=True, return_counts=True)
        names = [*map(color_name, found[np.argsort(-counts, kind="stable")].tolist())]
        with errors_about("--regions"):
            order = [*map(color_number, colours or names)]
        others = [name for name in names if color_number(name) not in order]
        if others:
            some = shorten(", ".join(others))
            raise ConfigError(f"has the colours {some}, which --regions does not name")
    numbers = np.array([order.index(each) for each in found.tolist()])
    return numbers[cells].reshape(frames[0].shape)
