"""Automata in plain NumPy, independent of the tested code, and recordings of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

MOORE = [(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1) if (y, x) != (0, 0)]
CROSS = [(-1, 0), (0, -1), (0, 1), (1, 0)]
Step = Callable[[np.ndarray], np.ndarray]


def count(cells, around=MOORE):
    """The number of true neighbours of each cell, on a torus."""
    return sum(np.roll(cells, (-y, -x), (-2, -1)).astype(int) for y, x in around)


def totalistic(born, stays):
    """A step of the outer-totalistic rule with these counts for birth and survival."""

    def step(cells):
        near = count(cells)
        return np.where(cells == 1, np.isin(near, stays), np.isin(near, born)).astype(int)

    return step


life = totalistic([3], [2, 3])


def life_table(space):
    """The Game of Life's next state for each of a space's entries."""
    bits = space.digits
    centre = space.digits[space.centre]
    near = bits.sum(axis=0) - centre
    return ((near == 3) | (centre == 1) & (near == 2)).astype(int)[space.examples]


def elementary(number):
    def step(cells):
        index = 4 * np.roll(cells, 1, -1) + 2 * cells + np.roll(cells, -1, -1)
        return number >> index & 1

    return step


def tabulated(table):
    """A step of a rule of 512 entries, the north-west cell the highest bit."""

    def step(cells):
        index = np.zeros_like(cells)
        for y in (-1, 0, 1):
            for x in (-1, 0, 1):
                index = 2 * index + np.roll(cells, (-y, -x), (-2, -1))
        return table[index]

    return step


def brains_brain(cells):
    born = (cells == 0) & (count(cells == 1) == 2)
    return np.where(cells == 1, 2, born.astype(int))


def star(cells):
    """Brian's Brain with two states in which cells rest."""
    born = (cells == 0) & (count(cells == 1) == 2)
    return np.where(cells > 0, (cells + 1) % 4, born.astype(int))


def wireworld(cells):
    heads = np.isin(count(cells == 1), [1, 2])
    return np.choose(cells, [0 * cells, 0 * cells + 2, 0 * cells + 3, np.where(heads, 1, 3)])


def cyclic(cells, states=4):
    following = (cells + 1) % states
    eaten = np.zeros(cells.shape, bool)
    for y, x in CROSS:
        eaten |= np.roll(cells, (-y, -x), (-2, -1)) == following
    return np.where(eaten, following, cells)


def film(step: Step, start: np.ndarray, frames: int, gap: int = 1) -> np.ndarray:
    """Frames `gap` steps apart, shape (frames, …)."""
    found = [start]
    for _ in range(frames - 1):
        cells = found[-1]
        for _ in range(gap):
            cells = step(cells)
        found.append(cells)
    return np.stack(found)


def soup(rng, shape, density=0.4):
    return (rng.random(shape) < density).astype(int)
