"""Automata in plain NumPy, independent of the tested code, and recordings of them."""

from collections.abc import Callable

import numpy as np

HOODS = {
    "moore": [(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1)],
    "von-neumann": [(-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)],
}
HOODS |= {f"line-{n}": [(0, x) for x in range(-n, n + 1)] for n in (1, 2, 3)}
Step = Callable[[np.ndarray], np.ndarray]


def codes(cells, hood, states=2, boundary="periodic", edges=(0, 0)):
    """The number of each cell's neighbourhood, its first cell's digit the highest.

    `edges` are the cells beyond the ends of a line whose boundary is unknown.
    """
    height, width = cells.shape[-2:]
    far = max(map(max, HOODS[hood]))
    mode = {"mode": "wrap"} if boundary == "periodic" else {}
    wide = np.pad(cells, [(0, 0)] * (cells.ndim - 2) + [(far, far)] * 2, **mode)
    if boundary == "unknown":
        wide[..., 0], wide[..., -1] = edges
    number = 0
    for y, x in HOODS[hood]:
        part = wide[..., far + y : far + y + height, far + x : far + x + width]
        number = number * states + part
    return number


def count(cells):
    """The number of true neighbours of each cell, on a torus."""
    around = (np.roll(cells, (-y, -x), (-2, -1)).astype(int) for y, x in HOODS["moore"])
    return sum(around) - cells


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
    return lambda cells: table[codes(cells, "moore")]


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
    for y, x in HOODS["von-neumann"]:
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
