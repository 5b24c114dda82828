"""Colours of cells."""

from __future__ import annotations

Color = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""


def hex_color(color: Color) -> str:
    """Return a colour as "#rrggbb"."""
    return "#" + bytes(color).hex()


def parse_color(text: str) -> Color:
    """Return the colour that "#rrggbb" names."""
    r, g, b = bytes.fromhex(text.removeprefix("#"))
    return r, g, b
