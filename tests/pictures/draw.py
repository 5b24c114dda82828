"""Draw the twenty pictures that recipes are tried on: `python -m tests.pictures.draw DIR [SIDE …]`.

Each is a stack of shapes over transparent cells, for a grid of any side: x and y go from -1 to 1,
y downwards. Nobody tuned anything by them when they were drawn, on 2026-11-22.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

Array = npt.NDArray[np.float64]
Shape = Callable[[Array, Array], npt.NDArray[np.bool_]]
Color = tuple[int, int, int]

RED, ORANGE, YELLOW = (214, 48, 49), (240, 140, 40), (250, 204, 72)
GREEN, DARK_GREEN, BLUE, NAVY = (76, 175, 80), (27, 94, 32), (66, 133, 244), (26, 35, 126)
BROWN, TAN, PINK, PURPLE = (121, 85, 72), (210, 180, 140), (244, 143, 177), (126, 87, 194)
WHITE, GREY, BLACK = (250, 250, 250), (120, 130, 140), (20, 20, 20)


def disc(cx: float, cy: float, r: float, ry: float | None = None) -> Shape:
    """An ellipse."""
    return lambda x, y: ((x - cx) / r) ** 2 + ((y - cy) / (ry or r)) ** 2 <= 1


def box(left: float, top: float, right: float, bottom: float) -> Shape:
    """A rectangle."""
    return lambda x, y: (x >= left) & (x <= right) & (y >= top) & (y <= bottom)


def half(a: float, b: float, c: float) -> Shape:
    """Where a x + b y <= c."""
    return lambda x, y: a * x + b * y <= c


def both(*shapes: Shape) -> Shape:
    """Where all shapes are."""
    return lambda x, y: np.logical_and.reduce([shape(x, y) for shape in shapes])


def either(*shapes: Shape) -> Shape:
    """Where any shape is."""
    return lambda x, y: np.logical_or.reduce([shape(x, y) for shape in shapes])


def less(first: Shape, *others: Shape) -> Shape:
    """The first shape without the others."""
    return lambda x, y: first(x, y) & ~either(*others)(x, y)


def ring(cx: float, cy: float, outer: float, inner: float) -> Shape:
    """A ring."""
    return less(disc(cx, cy, outer), disc(cx, cy, inner))


def roof(cx: float, top: float, bottom: float, slope: float) -> Shape:
    """A triangle that stands on its side, symmetrical about x = cx."""
    return lambda x, y: (y <= bottom) & (y - top >= slope * abs(x - cx))


HEART = either(
    disc(-0.4, -0.3, 0.42),
    disc(0.4, -0.3, 0.42),
    lambda x, y: (y >= -0.2) & (abs(x) * 1.15 + y <= 0.8),
)
MOUTH = both(ring(0, 0.05, 0.55, 0.38), half(0, -1, -0.2))
EYES = either(disc(-0.3, -0.2, 0.14), disc(0.3, -0.2, 0.14))

PICTURES: dict[str, list[tuple[Color, Shape]]] = {
    # Icons.
    "icon-heart": [(RED, HEART)],
    "icon-house": [
        (TAN, box(-0.6, -0.1, 0.6, 0.85)),
        (RED, roof(0, -0.9, -0.05, 1.0)),
        (BROWN, box(-0.15, 0.35, 0.2, 0.85)),
    ],
    "icon-tree": [
        (BROWN, box(-0.15, 0.4, 0.15, 0.9)),
        (GREEN, either(disc(0, -0.35, 0.5), disc(-0.4, 0.1, 0.4), disc(0.4, 0.1, 0.4))),
    ],
    "icon-key": [
        (YELLOW, either(ring(-0.5, 0, 0.4, 0.18), box(-0.15, -0.1, 0.9, 0.12))),
        (YELLOW, either(box(0.5, 0.1, 0.62, 0.4), box(0.75, 0.1, 0.9, 0.4))),
    ],
    "icon-boat": [
        (BROWN, both(box(-0.9, 0.4, 0.9, 0.8), half(1, 1, 1.4), half(-1, 1, 1.4))),
        (WHITE, both(box(0.05, -0.8, 0.75, 0.3), half(1.2, -1, 0.85))),
        (RED, both(box(-0.6, -0.5, -0.05, 0.3), half(-1.2, -1, 0.6))),
    ],
    # Letters.
    "letter-a": [(BLUE, either(less(roof(0, -0.9, 0.85, 2.3), roof(0, -0.25, 0.85, 2.3)),
                               box(-0.4, 0.25, 0.4, 0.45)))],
    "letter-s": [(PURPLE, either(both(ring(0, -0.4, 0.5, 0.25),
                                      either(half(1, 0, 0), half(0, 1, -0.4))),
                                 both(ring(0, 0.35, 0.5, 0.25),
                                      either(half(-1, 0, 0), half(0, -1, -0.35)))))],
    "letter-k": [(BLACK, either(box(-0.6, -0.85, -0.3, 0.85),
                                both(box(-0.3, -0.85, 0.7, 0.85),
                                     lambda x, y: abs(abs(y) - (x + 0.2)) < 0.22)))],
    "letter-r": [(RED, either(box(-0.6, -0.85, -0.3, 0.85), both(ring(-0.1, -0.4, 0.5, 0.22),
                                                                 half(-1, 0, 0.35)),
                              both(box(-0.3, 0, 0.7, 0.85),
                                   lambda x, y: abs(y - 1.2 * x - 0.1) < 0.25)))],
    "letter-e": [(GREEN, either(box(-0.6, -0.85, -0.3, 0.85), box(-0.6, -0.85, 0.6, -0.6))),
                 (ORANGE, box(-0.3, -0.1, 0.45, 0.15)),
                 (BLUE, box(-0.3, 0.6, 0.6, 0.85))],
    # Faces.
    "face-smile": [(YELLOW, disc(0, 0, 0.9)), (BLACK, either(EYES, MOUTH))],
    "face-wink": [(YELLOW, disc(0, 0, 0.9)), (BROWN, either(
        disc(-0.3, -0.2, 0.14), box(0.15, -0.25, 0.5, -0.12), MOUTH))],
    "face-cat": [(GREY, either(disc(0, 0.15, 0.75, 0.65), roof(-0.5, -0.9, 0, 2.2),
                               roof(0.5, -0.9, 0, 2.2))),
                 (GREEN, either(disc(-0.3, 0, 0.15), disc(0.3, 0, 0.15))),
                 (PINK, disc(0, 0.35, 0.14, 0.1))],
    "face-robot": [(GREY, either(box(-0.7, -0.6, 0.7, 0.8), box(-0.08, -0.95, 0.08, -0.6))),
                   (BLUE, either(box(-0.45, -0.3, -0.15, 0.0), box(0.15, -0.3, 0.45, 0.0))),
                   (RED, box(-0.4, 0.35, 0.4, 0.5))],
    "face-ghost": [(WHITE, both(either(disc(0, -0.2, 0.7), box(-0.7, -0.2, 0.7, 0.85)),
                                lambda x, y: y < 0.85 - 0.2 * abs(np.sin(6.7 * x)))),
                   (NAVY, either(disc(-0.28, -0.25, 0.17, 0.22), disc(0.28, -0.25, 0.17, 0.22)))],
    # Logos.
    "logo-target": [(RED, disc(0, 0, 0.9)), (WHITE, disc(0, 0, 0.6)), (RED, disc(0, 0, 0.3))],
    "logo-flower": [(PINK, either(*(disc(0.5 * np.cos(t), 0.5 * np.sin(t), 0.36)
                                    for t in np.arange(0.3, 6.5, 2 * np.pi / 5)))),
                    (YELLOW, disc(0, 0, 0.3))],
    "logo-bolt": [(NAVY, disc(0, 0, 0.92)), (YELLOW, either(
        both(box(-0.45, -0.7, 0.35, 0.15), lambda x, y: abs(x + 0.55 * y + 0.08) < 0.22),
        both(box(-0.35, -0.1, 0.45, 0.75), lambda x, y: abs(x + 0.55 * y - 0.08) < 0.2)))],
    "logo-quarters": [(BLUE, box(-0.9, -0.9, -0.06, -0.06)), (RED, box(0.06, -0.9, 0.9, -0.06)),
                      (YELLOW, box(-0.9, 0.06, -0.06, 0.9)), (GREEN, box(0.06, 0.06, 0.9, 0.9))],
    "logo-mountain": [(BLUE, disc(0, 0, 0.92)), (DARK_GREEN, both(disc(0, 0, 0.92),
                                                                 roof(0.25, -0.2, 1, 1.1))),
                      (GREY, both(disc(0, 0, 0.92), roof(-0.25, -0.5, 1, 1.2))),
                      (WHITE, roof(-0.25, -0.5, -0.15, 1.2)), (ORANGE, disc(0.5, -0.45, 0.17))],
}  # fmt: skip


def draw(name: str, side: int) -> Image.Image:
    """Return a picture of `side` × `side` pixels, transparent around it."""
    steps = (np.arange(side) + 0.5) / side * 2 - 1
    x, y = np.meshgrid(steps, steps)
    pixels = np.zeros((side, side, 4), np.uint8)
    for color, shape in PICTURES[name]:
        pixels[shape(x, y)] = (*color, 255)
    return Image.fromarray(pixels)


def main(directory: str, *sides: str) -> None:
    """Write all pictures, by default of 16, 32 and 48 cells."""
    for name in PICTURES:
        for side in map(int, sides or ("16", "32", "48")):
            draw(name, side).save(Path(directory) / f"{name}-{side}.png", optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
