"""Limits: what a smaller circuit must do, so that the proofs about a larger one hold for it too.

A proof by sets of values runs the larger circuit on sets, step by step. Another circuit passes the
same proof if each of its steps leads into the sets of that proof: larger sets lead to larger sets,
so it never leaves them. A limit is one neighbourhood that occurs in such a proof, with the sets
that the cell's next values must lie in. Lessons add what wounds and starts lead to.
"""

from __future__ import annotations

from functools import cached_property, reduce
from operator import or_
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.grid import NEIGHBORHOOD
from difflogic.proof.convergence.confinement import follow_some
from difflogic.proof.convergence.every_size import Table
from difflogic.proof.convergence.planes import Board, as_planes
from difflogic.proof.convergence.sets import Sets, descend
from difflogic.proof.question import Wound
from difflogic.system.array_types import Bits, Flags, Words

Cells = Flags

STRIDE = 11
"""Limits are taken from each eleventh window."""

MIXED = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)
"""Odd numbers that mix the words of a case to its hash."""


class Limits:
    """Cases, each a neighbourhood with its next sets, in an order that depends on them alone."""

    def __init__(self, channels: int) -> None:
        self._channels = channels
        self._cases: list[Bits] = []
        self._last: tuple[Board, Sets] | None = None

    def add_step(self, board: Board, counted: Words, before: Sets, after: Sets) -> None:
        """Add the neighbourhoods of the cells `counted`, a plane, that changed since the last call.

        Zeros lie beyond the edges of the board and its copies.
        """
        (some,) = as_planes(counted[None])
        if self._last is not None and self._last[0] is board:
            differing = before ^ self._last[1]
            (changed,) = as_planes(np.bitwise_or.reduce(differing, axis=(0, 1))[None])
            some &= reduce(or_, (board.seen(changed, n) for n in range(NEIGHBORHOOD)))
        self._last = board, before
        cells = np.flatnonzero(board.unpack(some))
        own = cells % board.cells
        copies = cells - cells % board.cells
        seen = board.around[:, own]
        seen = np.where(seen < 0, board.cells * board.copies, seen + copies)
        planes = [_plane_of(board, before[1], 0), _plane_of(board, before[0], 1)]
        following = [_plane_of(board, after[1], 0), _plane_of(board, after[0], 1)]
        self._add(
            [plane[:, seen].transpose(2, 1, 0).reshape(len(cells), -1) for plane in planes],
            [plane[:, cells].T for plane in following],
        )

    def add_lessons(self, states: Bits, targets: npt.NDArray[np.floating[Any]]) -> None:
        """Add states with their next ones, (samples, channels, height, width); NaN is free."""
        _, channels, height, width = states.shape
        padded = np.pad(states.astype(np.bool_), ((0, 0), (0, 0), (1, 1), (1, 1)))
        seen = np.stack(
            [padded[..., y : y + height, x : x + width] for y in range(3) for x in range(3)]
        )
        ones = seen.transpose(1, 3, 4, 0, 2).reshape(-1, NEIGHBORHOOD * channels)
        wanted = targets.transpose(0, 2, 3, 1).reshape(-1, channels)
        asked = ~np.isnan(wanted).all(axis=1)
        ones, wanted = ones[asked], wanted[asked]
        self._add([ones, ~ones], [wanted != 0, wanted != 1])

    def _add(self, cases: list[Cells], following: list[Cells]) -> None:
        """Add cases: where bits may be 1, and 0; the same of what follows."""
        packed = np.packbits(np.concatenate([*cases, *following], axis=1), axis=1)
        self._cases.append(_distinct(packed))

    @cached_property
    def planes(self) -> tuple[Words, Words]:
        """Where inputs may be 1, and 0, (inputs, 2, words), and where outputs may not be."""
        channels = self._channels
        found = _distinct(np.concatenate(self._cases))
        found = found[np.random.default_rng(0).permutation(len(found))]
        bits = np.unpackbits(found, axis=1)[:, : 2 * (NEIGHBORHOOD + 1) * channels]
        padded = np.zeros((bits.shape[1], -(-len(bits) // 64) * 64), np.uint8)
        padded[:, : len(bits)] = bits.T
        padded[-2 * channels :, len(bits) :] = 1
        words = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
        inputs, outputs = np.split(words, [2 * NEIGHBORHOOD * channels])
        return (
            inputs.reshape(2, -1, words.shape[1]).swapaxes(0, 1),
            ~outputs.reshape(2, channels, -1).swapaxes(0, 1),
        )


def limits_of(table: Table, wound: Wound) -> Limits | None:
    """Return what the proofs rest on that every start is right, and some of the wounds stay local.

    None if one of these does not stay local.
    """
    question = table.question
    board = question.board
    limits = Limits(question.circuit.channels)
    if not follow_some(table, wound, STRIDE, limits.add_step):
        return None
    states = list(descend(question.network, board))
    for before, after in zip(states, [*states[1:], states[-1]], strict=True):
        limits.add_step(board, board.shown.full, before, after)
    return limits


def _plane_of(board: Board, planes: Words, flipped: int) -> Cells:
    """Return planes as (channels, cells + 1), the last for what lies beyond the edge."""
    bits = board.bits(planes).reshape(len(planes), -1).astype(np.bool_)
    bits = np.pad(bits, ((0, 0), (0, 1)))
    return bits ^ np.bool_(flipped)


def _distinct(packed: Bits) -> Bits:
    """Return the different rows, in the order of their hashes."""
    width = -(-packed.shape[1] // 8) * 8
    padded = np.zeros((len(packed), width), np.uint8)
    padded[:, : packed.shape[1]] = packed
    hashes = np.zeros(len(packed), np.uint64)
    for number, word in enumerate(padded.view(np.uint64).T):
        hashes = (hashes ^ word) * MIXED[number % len(MIXED)]
        hashes ^= hashes >> np.uint64(29)
    _, first = np.unique(hashes, return_index=True)
    return packed[first]
