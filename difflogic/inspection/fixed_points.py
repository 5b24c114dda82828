"""Finds fixed points of a rule that repeat over the plane, up to a bound on their periods.

A fixed point is a state of the infinite grid that a step does not change. It stays under any fire
rate; the boundary of training does not matter. One that repeats after p rows and q columns is a
fixed point on a p×q torus, and vice versa, so a SAT solver finds them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.evaluate import evaluate
from difflogic.circuit.grid import neighbors
from difflogic.proof.satisfiability import Formula
from difflogic.system.deadline import Deadline

MOST = 100
"""Most pictures to list."""


Bits = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Period:
    """The shifts that do not change a picture.

    `height` is the least shift downwards and `width` the least to the right, in cells. The
    `diagonal` (dy, dx), or None, is the shift by the fewest rows that is no sum of those. The 2×2
    squares of a checkerboard have period 4×4 with diagonal (2, 2).
    """

    height: int
    width: int
    diagonal: tuple[int, int] | None = None


@dataclass(frozen=True)
class Picture:
    """What the visible channels of fixed points show, up to shifts."""

    bits: Bits
    """Smallest repeating rectangle, shape (visible channels, period.height, period.width)."""
    period: Period


@dataclass(frozen=True)
class FixedPoints:
    """Pictures of all fixed points with periods of at most `bound` by `bound`."""

    pictures: tuple[Picture, ...]
    bound: int
    stopped: str | None
    """Why there may be more; None if these are all."""


def find(automaton: Automaton, bound: int, seconds: float, most: int = MOST) -> FixedPoints:
    """Find fixed points, smallest tori first, in about `seconds`."""
    deadline = Deadline.after(seconds)
    found: dict[bytes, Picture] = {}
    sizes = [(p, q) for p in range(1, bound + 1) for q in range(1, bound + 1)]
    try:
        for height, width in sorted(sizes, key=lambda size: (size[0] * size[1], size)):
            with Formula() as formula:
                torus = _Torus(automaton, height, width, formula, deadline)
                torus.exclude(found.values())
                while (bits := torus.next(deadline)) is not None:
                    picture = canonical(bits)
                    found[_key(picture)] = picture
                    torus.exclude([picture])
                    if len(found) > most:
                        return _sorted(list(found.values())[:most], bound, f"more than {most}")
    except TimeoutError:
        return _sorted(found.values(), bound, "time limit")
    return _sorted(found.values(), bound, None)


def _sorted(pictures: Iterable[Picture], bound: int, stopped: str | None) -> FixedPoints:
    """Sort the pictures, independent of the solver."""

    def place(picture: Picture) -> tuple[int, int, tuple[int, int], bytes]:
        height, width = picture.period.height, picture.period.width
        diagonal = picture.period.diagonal or (0, 0)
        return height * width, height, diagonal, picture.bits.tobytes()

    return FixedPoints(tuple(sorted(pictures, key=place)), bound, stopped)


def canonical(bits: Bits) -> Picture:
    """Return a torus's bits (channels, height, width) as a picture, the same for all shifts."""
    period = repeats(bits)
    tile = bits[:, : period.height, : period.width]
    return Picture(max(_shifts(tile), key=lambda shifted: shifted.tobytes()), period)


def _shifts(tile: Bits) -> Iterator[Bits]:
    for dy in range(tile.shape[1]):
        for dx in range(tile.shape[2]):
            yield np.roll(tile, (dy, dx), axis=(1, 2))


def _key(picture: Picture) -> bytes:
    return bytes([picture.period.height, picture.period.width]) + picture.bits.tobytes()


class _Torus:
    """The fixed points of a small torus, as clauses.

    Raises TimeoutError if `deadline` passes, here and in `next`.
    """

    def __init__(
        self, automaton: Automaton, height: int, width: int, formula: Formula, deadline: Deadline
    ) -> None:
        self._height, self._width, self._formula = height, width, formula
        circuit = automaton.circuit
        cells = height * width
        state = [[formula.variable() for _ in range(cells)] for _ in range(circuit.channels)]
        for cell, seen in enumerate(neighbors(height, width, "periodic").T.tolist()):
            inputs = [state[c][place] for place in seen for c in range(circuit.channels)]
            rows = evaluate(circuit, inputs, formula, pause=deadline.check)
            for channel, row in enumerate(circuit.outputs.tolist()):
                formula.equate(rows[row], state[channel][cell])
            deadline.check()
        self._visible = np.array([state[row] for row in automaton.visible_rows])

    def next(self, deadline: Deadline) -> Bits | None:
        """Return the visible bits (channels, height, width) of a remaining fixed point, if any."""
        found = self._formula.solve([], deadline)
        if found is None:
            raise TimeoutError
        if not found:
            return None
        shown = np.isin(self._visible, list(self._formula.true_literals())).astype(np.uint8)
        return shown.reshape(-1, self._height, self._width)

    def exclude(self, pictures: Iterable[Picture]) -> None:
        """Exclude states that show these pictures at any shift."""
        for picture in pictures:
            _, rows, columns = picture.bits.shape
            if self._height % rows or self._width % columns:
                continue
            copies = (1, self._height // rows, self._width // columns)
            for shown in {shifted.tobytes(): shifted for shifted in _shifts(picture.bits)}.values():
                bits = np.tile(shown, copies).reshape(self._visible.shape)
                # At least one bit must differ.
                self._formula.add(np.where(bits, -self._visible, self._visible).ravel().tolist())


def repeats(bits: Bits) -> Period:
    """Return the period of a picture (channels, height, width) that is repeated over the plane.

    Its own height and width are therefore among the shifts.
    """

    def same(dy: int, dx: int) -> bool:
        return bool((np.roll(bits, (dy, dx), axis=(1, 2)) == bits).all())

    _, rows, columns = bits.shape
    height = next(dy for dy in range(1, rows + 1) if same(dy, 0))
    width = next(dx for dx in range(1, columns + 1) if same(0, dx))
    shifts = ((dy, dx) for dy in range(1, height) for dx in range(1, width))
    return Period(height, width, next((shift for shift in shifts if same(*shift)), None))
