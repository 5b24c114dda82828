"""Palettes to choose for a picture."""

from __future__ import annotations

import re

from difflogic.circuit.colors import Color, parse_color

EGA = tuple(
    parse_color(f"#{number:06x}")
    for number in (
        *(0x000000, 0x0000AA, 0x00AA00, 0x00AAAA, 0xAA0000, 0xAA00AA, 0xAA5500, 0xAAAAAA),
        *(0x555555, 0x5555FF, 0x55FF55, 0x55FFFF, 0xFF5555, 0xFF55FF, 0xFFFF55, 0xFFFFFF),
    )
)
"""The 16 colours that IBM's Enhanced Graphics Adapter started with."""


def parse_palette(text: str) -> tuple[Color, ...]:
    """Return the palette that "ega" or a list such as "#ffffff,#d63031" names; () if neither.

    Colours that are listed twice count once; a palette has at least two.
    """
    if text == "ega":
        return EGA
    if not re.fullmatch(r"#[0-9a-fA-F]{6}(,#[0-9a-fA-F]{6}){1,15}", text):
        return ()
    distinct = tuple(dict.fromkeys(map(parse_color, text.split(","))))
    return distinct if len(distinct) > 1 else ()
