"""A grid of cells as bits, and its layout in memory.

The words have shape (height + 1, channels, stride). Each row of each channel has `words` words of
64 cells; cell x is bit x mod 64 of word x // 64. A guard of one cache line comes before each row.
The row after the last, which is also row -1, is all zeros and stands for cells beyond a zero
boundary. One ghost bit at each end of a row holds the cell that the boundary puts there. So a
neighbour is always a shift, whatever the boundary and the width.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from difflogic.circuit.grid import Boundary
from difflogic.system.array_types import Array, Bits, Words
from difflogic.system.arrays import CACHE_LINE, aligned

WORD = 64
LINE = CACHE_LINE // 8
"""Words per cache line, and per widest vector."""
_BAND_BYTES = 2**20


@dataclass(frozen=True)
class Geometry:
    """The size of a grid, each side at least 1, and its boundary."""

    channels: int
    height: int
    width: int
    boundary: Boundary

    @property
    def cells(self) -> int:
        return self.height * self.width

    @property
    def words(self) -> int:
        """Words per row of a channel."""
        return -(-self.width // WORD)

    @property
    def stride(self) -> int:
        """Words from a channel's row to the next channel's, including its guard."""
        return LINE * (1 + -(-self.words // LINE))

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.height + 1, self.channels, self.stride

    @property
    def bytes(self) -> int:
        """Memory of one grid."""
        return 8 * (self.shape[0] * self.shape[1] * self.shape[2] + LINE)

    @property
    def last_bit(self) -> int:
        """Position of a row's last cell in its last word."""
        return (self.width - 1) % WORD

    @property
    def last_mask(self) -> int:
        """Mask of the bits of a row's last word that are cells."""
        return (1 << self.last_bit + 1) - 1

    def bands(self) -> Iterator[slice]:
        """Yield bands of rows, about a megabyte each."""
        rows = max(1, _BAND_BYTES // (8 * self.channels * self.stride))
        for first in range(0, self.height, rows):
            yield slice(first, min(first + rows, self.height))


class BitGrid:
    """The state of all channels. It starts as zeros, which take no memory until written."""

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        # Each row also includes the first word of the next guard, which may hold its right ghost.
        # A guard follows the last row, too.
        rows, channels, stride = geometry.shape
        self.words: Words = np.lib.stride_tricks.as_strided(
            aligned((geometry.bytes // 8,), np.uint64),
            (rows, channels, stride + 1),
            (8 * channels * stride, 8 * stride, 8),
        )
        """Shape (height + 1, channels, stride + 1): the last column is the next row's first."""
        self.address: int = self.words.ctypes.data
        """Address of the first word, aligned to a cache line."""

    def columns(self, shift: int = 0) -> slice:
        """Return the columns of `words` that hold a row's cells, shifted by `shift` words."""
        first = LINE + shift
        return slice(first, first + self.geometry.words)

    def load(self, rows: slice, packed: Words) -> None:
        """Set rows from words (rows, channels, words), ignoring bits beyond the width."""
        self.words[rows, :, self.columns()] = packed
        self.refresh_ends(rows)

    def refresh_ends(self, rows: slice) -> None:
        """Set the ghost bits at both ends of `rows`, after their cells have changed."""
        g = self.geometry
        band = self.words[rows]
        first = LINE
        last = LINE + g.words - 1
        band[..., last] &= np.uint64(g.last_mask)
        left, right = (np.zeros(band.shape[:2], np.uint64) for _ in range(2))
        if g.boundary == "periodic":
            left = (band[..., last] >> np.uint64(g.last_bit) & np.uint64(1)) << np.uint64(63)
            right = band[..., first] & np.uint64(1)
        band[..., first - 1] = left
        if g.width % WORD:
            band[..., last] |= right << np.uint64(g.width % WORD)
            right = np.zeros_like(right)
        band[..., last + 1] = right

    def cells(self, rows: slice, channel: int | slice = slice(None)) -> Words:
        """Return the words of rows without their ghost bits.

        Shape (rows, channels, words), or (rows, words) for one channel.
        """
        packed = self.words[rows, channel, self.columns()].copy()
        packed[..., -1] &= np.uint64(self.geometry.last_mask)
        return packed

    def bits(self, channels: Sequence[int] | None = None) -> Bits:
        """Return channels, by default all, as 0 and 1 of shape (channels, height, width)."""
        g = self.geometry
        chosen = list(range(g.channels) if channels is None else channels)
        bits = np.empty((len(chosen), g.height, g.width), np.uint8)
        for rows in g.bands():
            bits[:, rows] = unpack(self.cells(rows)[:, chosen], g.width)
        return bits

    def populations(self) -> list[int]:
        """Return how many cells of each channel are 1."""
        total = np.zeros(self.geometry.channels, np.int64)
        for rows in self.geometry.bands():
            total += np.bitwise_count(self.cells(rows)).sum(axis=(0, 2), dtype=np.int64)
        counts: list[int] = total.tolist()
        return counts

    def digest(self, channels: Sequence[int]) -> str:
        """Return the SHA-256, in hexadecimal, of the size and of these channels' cells."""
        g = self.geometry
        found = hashlib.sha256(f"{len(channels)}x{g.height}x{g.width}".encode())
        for rows in g.bands():
            found.update(self.cells(rows)[:, list(channels)].astype("<u8", copy=False).tobytes())
        return found.hexdigest()


def pack(bits: Array) -> Words:
    """Pack 0 and 1, shape (channels, rows, width), into words (rows, channels, words)."""
    channels, rows, width = bits.shape
    padded = np.zeros((rows, channels, 8 * -(-width // WORD)), np.uint8)
    packed = np.packbits(bits.swapaxes(0, 1), axis=2, bitorder="little")
    padded[:, :, : packed.shape[2]] = packed
    return padded.view("<u8").astype(np.uint64, copy=False)


def unpack(words: Words, width: int) -> Bits:
    """Undo `pack`: return 0 and 1 of shape (channels, rows, width)."""
    packed = words.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(packed, axis=2, count=width, bitorder="little").swapaxes(0, 1)
