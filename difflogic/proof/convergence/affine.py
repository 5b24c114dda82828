"""Circuits that are affine over GF(2), a XOR of inputs and a constant, decided by linear algebra.

The state after k steps is A^k s + b_k, all sums modulo 2. Every start is right from step k on if
and only if the visible rows of A^k are 0, and any one start is right from then on. With n state
bits, k = n decides: what is not 0 then never is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from difflogic.circuit.cases import words, words_of
from difflogic.circuit.circuit import LogicCircuit
from difflogic.circuit.grid import OUTSIDE, neighbors
from difflogic.proof.convergence.findings import Question
from difflogic.proof.convergence.orbits import orbit
from difflogic.proof.convergence.planes import Planes
from difflogic.system.deadline import NEVER, Deadline

MOST_INPUTS = 16
"""Inputs up to which all cases tell whether a circuit is affine."""


@dataclass(frozen=True)
class Rows:
    """Which inputs each channel's next state is the sum of: (neighbour, channel) pairs."""

    terms: tuple[tuple[tuple[int, int], ...], ...]


def rows_of(circuit: LogicCircuit) -> Rows | None:
    """Return the sums that a circuit computes, up to constants; None if it is not affine.

    None also if more inputs than MOST_INPUTS are read, and not only by XORs and inverters.
    """
    read = circuit.read_inputs.tolist()
    zero = np.zeros((circuit.inputs, 1 + len(read)), np.bool_)
    zero[read, 1 + np.arange(len(read))] = True
    values = circuit.next_state(zero)
    matters = values[:, 1:] ^ values[:, :1]
    if not (_only_xors(circuit) or _holds(circuit, read, values[:, 0], matters)):
        return None
    return Rows(
        tuple(
            tuple(divmod(read[place], circuit.channels) for place in np.flatnonzero(row).tolist())
            for row in matters
        )
    )


def _only_xors(circuit: LogicCircuit) -> bool:
    from difflogic.proof.convergence.planes import Network

    return all(is_xor for is_xor, _, _ in Network(circuit).gates)


def _holds(
    circuit: LogicCircuit, read: list[int], constant: np.ndarray, matters: np.ndarray
) -> bool:
    """Try all cases of the inputs that are read."""
    if len(read) > MOST_INPUTS:
        return False
    count = words_of(len(read))
    inputs = np.zeros((circuit.inputs, count), np.uint64)
    for number, row in enumerate(read):
        inputs[row] = words(number, 0, count)
    found = circuit.next_state(inputs)
    for value, one, row in zip(found, constant, matters, strict=True):
        expected = np.full(count, ~np.uint64(0) if one else np.uint64(0))
        for place in np.flatnonzero(row):
            expected = expected ^ inputs[read[place]]
        if (value != expected).any():
            return False
    return True


@dataclass(frozen=True)
class Decided:
    """From which step every start is right, or else some starts one of which may never be."""

    from_step: int | None
    suspects: tuple[Planes, ...] = ()


def decide(question: Question, rows: Rows, deadline: Deadline = NEVER) -> Decided | None:
    """Decide the question for a circuit that is the sum of `rows` plus constants.

    None if the deadline passes, or the run of a single start takes too many steps.
    """
    zeros = (0,) * question.circuit.channels
    run = orbit(question, zeros, deadline)
    if run is None:
        return None
    if run.right_from is None:
        return Decided(None, (zeros,))
    bits = question.circuit.channels * question.board.cells
    weights: list[list[int]] = []
    for step, weights in enumerate(_powers(question, rows)):
        if not any(map(any, weights)):
            return Decided(max(step, run.right_from))
        if step == bits:
            break
        if deadline.passed:
            return None
    # Some start that differs from zeros in one bit differs from it in what is seen, for ever.
    suspects = [
        tuple(1 << cell if c == channel else 0 for c in range(question.circuit.channels))
        for channel, row in enumerate(weights)
        for cell, weight in enumerate(row)
        if weight
    ]
    return Decided(None, tuple(suspects))


def _powers(question: Question, rows: Rows) -> Iterator[list[list[int]]]:
    """Yield, for k = 0, 1, …, which visible bits after k steps each bit of a start flips.

    By channel and cell; bit i of a number stands for visible bit i. That is the transposed
    automaton, whose cells hand back what depends on them.
    """
    cells = question.board.cells
    table = neighbors(question.height, question.width, question.boundary).tolist()
    weights = [[0] * cells for _ in range(question.circuit.channels)]
    for number, channel in enumerate(question.shown):
        for cell in range(cells):
            weights[channel][cell] |= 1 << number * cells + cell
    while True:
        yield weights
        before = [[0] * cells for _ in weights]
        for terms, row in zip(rows.terms, weights, strict=True):
            for neighbor, channel in terms:
                source = before[channel]
                for cell, place in enumerate(table[neighbor]):
                    if place != OUTSIDE:
                        source[place] ^= row[cell]
        weights = before
