"""Random bits, 64 at a time. Each depends on its key and place alone, not on threads or order.

A word of random bits is a hash of its key plus a counter. The hash is the output function of
SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators").

A bit that is 1 with probability p compares a random number with p, digit by digit from the most
significant, for 64 places at once, until every place is decided: about 11 digits for 512 places.
All digits of p as a 64-bit fraction count, so the probability is exact to 2**-64.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from difflogic.simulation.bit_grid import WORD
from difflogic.system.array_types import Words

GOLDEN = 0x9E3779B97F4A7C15
FIRST_FACTOR = 0xBF58476D1CE4E5B9
SECOND_FACTOR = 0x94D049BB133111EB

_ALL = 2**64 - 1


class Use(IntEnum):
    """The purpose of random bits. The numbers are part of every result: never change one."""

    START = 0
    FIRE = 1
    NOISE = 2
    DRAW = 3


def mix(x: Words) -> Words:
    """Hash each word."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(FIRST_FACTOR)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(SECOND_FACTOR)
    return x ^ (x >> np.uint64(31))


def child_keys(key: int | Words, numbers: npt.ArrayLike) -> Words:
    """Return the keys of the child streams with these numbers; several keys broadcast."""
    counted = np.asarray(numbers, np.uint64) + np.uint64(1)
    return mix(np.asarray(key, np.uint64) + np.uint64(GOLDEN) * counted)


def stream_key(seed: int, use: Use) -> int:
    """Return the key of all random bits for one use; `seed` is in [0, 2**64)."""
    root = int(child_keys(0, [seed])[0])
    return int(child_keys(root, [use])[0])


def threshold(probability: float) -> int:
    """Return a probability from 0 to 1 as a 64-bit fraction, at most 2**64 - 1."""
    return min(round(probability * 2**64), _ALL)


def digits(threshold: int) -> int:
    """Return how many binary digits a threshold has up to its last 1."""
    return WORD - ((threshold & -threshold).bit_length() - 1) if threshold else 0


def bernoulli(keys: Words, words: int, threshold: int) -> Words:
    """Return words of shape (keys, words) whose bits are 1 with probability threshold / 2**64."""
    place = np.arange(words, dtype=np.uint64) * np.uint64(WORD * GOLDEN & _ALL)
    counter = keys[:, None] + place
    result = np.zeros_like(counter)
    undecided = np.full_like(counter, _ALL)
    for digit in range(digits(threshold)):
        bits = mix(counter)
        counter += np.uint64(GOLDEN)
        theirs = np.uint64(_ALL if threshold >> (WORD - 1 - digit) & 1 else 0)
        differs = undecided & (bits ^ theirs)
        result |= differs & theirs
        undecided ^= differs
        if not undecided.any():
            break
    return result


class Fire(NamedTuple):
    """Draws fire masks: which cells update in a step. Compiled code draws the same masks."""

    key: int
    threshold: int

    @classmethod
    def of(cls, seed: int, fire_rate: float) -> Fire:
        """Return the masks of a seed and a fire rate below 1."""
        return cls(stream_key(seed, Use.FIRE), threshold(fire_rate))

    def masks(self, step: int, rows: range, words: int) -> Words:
        """Return the mask of the step after `step` steps, as words of shape (rows, words)."""
        own = int(child_keys(self.key, [step])[0])
        return bernoulli(child_keys(own, rows), words, self.threshold)


class Noise(NamedTuple):
    """Draws which bits noise flips after a step. Compiled code draws the same bits."""

    key: int
    threshold: int
    labels: tuple[int, ...]
    """The channels' labels: what a channel suffers does not depend on the other channels."""

    @classmethod
    def of(cls, seed: int, probability: float, labels: tuple[int, ...]) -> Noise:
        """Return the noise of a seed that flips each bit with a probability above 0."""
        return cls(stream_key(seed, Use.NOISE), threshold(probability), labels)

    def flips(self, step: int, rows: range, words: int) -> Words:
        """Return the flips after `step` steps and one more, (rows, channels, words)."""
        own = int(child_keys(self.key, [step])[0])
        keys = child_keys(child_keys(own, rows)[:, None], self.labels)
        drawn = bernoulli(keys.ravel(), words, self.threshold)
        return drawn.reshape(len(rows), len(self.labels), words)


class Chance(NamedTuple):
    """What is random in a simulation; None is not."""

    fire: Fire | None
    noise: Noise | None
