"""Machines that go along a line of bits and print one bit for each: what a sum, say, is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """A machine with few states that reads a line of cells from its right end (Mealy 1955).

    It begins in state 0. At each cell it reads `inputs` bits as one number, the first bit the
    lowest, prints `prints[state][number]`, and goes on in `moves[state][number]`.
    """

    inputs: int
    moves: tuple[tuple[int, ...], ...]
    prints: tuple[tuple[int, ...], ...]

    def run(self, numbers: list[int]) -> list[int]:
        """Return what is printed for cells that are given from the right to the left."""
        state, printed = 0, []
        for number in numbers:
            printed.append(self.prints[state][number])
            state = self.moves[state][number]
        return printed


ADDITION = Machine(2, ((0, 0, 0, 1), (0, 1, 1, 1)), ((0, 1, 1, 0), (1, 0, 0, 1)))
"""The state is the carry."""

SUBTRACTION = Machine(2, ((0, 0, 1, 0), (1, 0, 1, 1)), ((0, 1, 1, 0), (1, 0, 0, 1)))
"""The first number less the second; the state is the borrow."""

PARITY = Machine(1, ((0, 1), (1, 0)), ((0, 1), (1, 0)))
"""Whether the bits from the right end to here, this one with them, have an odd number of ones."""

COMPARISON = Machine(2, ((0, 1, 0, 0), (1, 1, 0, 1)), ((0, 1, 0, 0), (1, 1, 0, 1)))
"""Whether the first number is greater than the second, by the bits from the right end to here."""

MACHINES = {
    "addition": ADDITION,
    "subtraction": SUBTRACTION,
    "parity": PARITY,
    "comparison": COMPARISON,
}
