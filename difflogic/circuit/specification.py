"""What an automaton can be proved to do: all cases, a machine on a line, bounds of a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from difflogic.circuit.grid import Boundary
from difflogic.system.array_types import Array, Bits


@dataclass(frozen=True)
class Cases:
    """All cases to check, if they can be listed: a circuit right on all of them is proved."""

    name: str
    """Names them, such as "all 512 boards"."""
    starts: Bits
    """Shape (cases, channels, height, width)."""
    targets: Array
    """Shape (cases, loss channels, height, width), after `steps` steps at fire rate 1.

    NaN in all loss channels of a cell that does not count.
    """
    boundary: Boundary
    steps: int
    note: str
    """Why these are all."""
    repeats: int | None = None
    """How often the cases contain each neighbourhood, if known."""


@dataclass(frozen=True)
class Machine:
    """A machine with few states that reads a line of cells from its right end (Mealy 1955).

    It begins in state 0. At each cell it reads `inputs` bits as a number, the first bit lowest,
    prints `prints[state][number]`, and goes to the state `moves[state][number]`.
    """

    inputs: int
    moves: tuple[tuple[int, ...], ...]
    prints: tuple[tuple[int, ...], ...]

    def run(self, numbers: list[int]) -> list[int]:
        """Return what it prints for the numbers of the cells, given from right to left."""
        state = 0
        printed = []
        for number in numbers:
            printed.append(self.prints[state][number])
            state = self.moves[state][number]
        return printed


class Bounds(NamedTuple):
    """Bounds of the next state for each of some neighbourhoods, the cases."""

    legal: Bits
    """Whether the neighbourhood can occur, shape (cases,)."""
    least: Bits
    """1 where channel 0, or 1, of the cell must be 1 in the next step; (2, cases)."""
    most: Bits
    """0 where it must be 0; (2, cases)."""


@dataclass(frozen=True)
class Rule:
    """Bounds of a step that solve a task on a grid of any size, for states of two channels.

    docs/local-rules.md has the theorems that they suffice.
    """

    bounds: Callable[[Bits, Bits], Bounds]
    """Takes the neighbourhoods' bits in channel 0 and in channel 1, each (9, cases)."""
    theorem: str
    """What follows, after "proved for every"."""
