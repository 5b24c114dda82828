"""Beside a picture: what it shows, what its colours and signs mean, and which cells are read."""

from __future__ import annotations

from html import escape

import numpy as np

from difflogic.circuit.grid import NEIGHBORS
from difflogic.formats.diagram.graph import Diagram, Family
from difflogic.system.quantities import counted

WIDTH = 196
MOST_MAPS = 12
"""Channels that get a map of their own; with more there is one map that counts them."""

_LINE = 18
_LETTERS = 20  # of a name in a line
_SWATCH = 38
_CELL, _BIG_CELL = 15, 40
_MAPS_PER_ROW = 3
_READ, _UNREAD, _FRAME = "#0072b2", "#ffffff", "#8a8a8a"


class Sidebar:
    """A column of lines, from the top down."""

    def __init__(self, drawn: Diagram, left: float, top: float) -> None:
        self.parts: list[str] = []
        self._drawn, self._left, self._y = drawn, left, top
        self._head()
        self._legend()
        circuit = drawn.automaton.circuit
        reads = np.zeros(circuit.inputs, np.bool_)
        reads[circuit.read_inputs] = True
        self._neighbors(reads.reshape(len(NEIGHBORS), circuit.channels))
        self.height = self._y - top

    def _text(self, text: str, x: float = 0, size: int = 12, more: str = "") -> None:
        self.parts.append(
            f'<text x="{self._left + x:g}" y="{self._y:g}" font-size="{size}"{more}>'
            f"{escape(text)}</text>"
        )

    def _line(self, text: str, size: int = 12, bold: bool = False) -> None:
        self._y += _LINE
        self._text(text, size=size, more=' font-weight="bold"' if bold else "")

    def _head(self) -> None:
        automaton = self._drawn.automaton
        circuit, name = automaton.circuit, automaton.name
        for first in range(0, len(name), _LETTERS):
            self._line(name[first : first + _LETTERS], 15, bold=True)
        self._line(f"{counted(circuit.gates, 'gate')}, depth {circuit.depth}")
        self._line(counted(circuit.channels, "channel"))
        unread = circuit.gates - int(
            circuit.needed(range(circuit.channels))[circuit.inputs :].sum()
        )
        if unread:
            self._line(f"{unread} unread gates left out")

    def _legend(self) -> None:
        self._y += _LINE / 2
        for family in self._drawn.families:
            self._y += _LINE + 5
            self.parts.append(
                f'<rect x="{self._left:g}" y="{self._y - 14:g}" width="{_SWATCH}" height="19" '
                f'rx="{4 if family.is_named else 8}" '
                f'fill="{family.fill}" stroke="{family.stroke}" stroke-width="1.4"/>'
            )
            self._text(family.sign, _SWATCH / 2, 12, ' text-anchor="middle"')
            self._text(family.title, _SWATCH + 8)
            if family is Family.OUTPUT:
                self._y += _LINE - 3
                self._text("(thick frame: visible)", _SWATCH + 8, 11)
        if self._drawn.inverts:
            self._y += _LINE + 5
            self.parts.append(
                f'<circle class="circle" cx="{self._left + _SWATCH / 2:g}" cy="{self._y - 4:g}" '
                'r="4"/>'
            )
            self._text("inverts", _SWATCH + 8)

    def _neighbors(self, reads: np.ndarray) -> None:
        labels = self._drawn.automaton.circuit.labels
        self._y += _LINE / 2
        if len(labels) > MOST_MAPS:
            self._line("channels read at each cell")
            self._counts(reads.sum(axis=1))
            return
        self._line("cells read, by channel")
        self._y += 6
        for first in range(0, len(labels), _MAPS_PER_ROW):
            self._y += 14
            for column, channel in enumerate(range(len(labels))[first : first + _MAPS_PER_ROW]):
                x = column * (3 * _CELL + 18)
                self._text(str(labels[channel]), x + 1.5 * _CELL, 11, ' text-anchor="middle"')
                for neighbor, read in enumerate(reads[:, channel]):
                    self._cell(neighbor, x, 5, _CELL, _READ if read else _UNREAD)
            self._y += 3 * _CELL + 10

    def _counts(self, counts: np.ndarray) -> None:
        for neighbor, count in enumerate(counts.tolist()):
            row, column = divmod(neighbor, 3)
            self._cell(neighbor, 0, 8, _BIG_CELL, "#cfe6f5" if count else _UNREAD)
            middle = self._left + (column + 0.5) * _BIG_CELL
            base = self._y + 8 + row * _BIG_CELL
            for text, down, size in ((NEIGHBORS[neighbor], 16, 10), (str(count), 31, 12)):
                self.parts.append(
                    f'<text x="{middle:g}" y="{base + down:g}" font-size="{size}" '
                    f'text-anchor="middle">{text}</text>'
                )
        self._y += 3 * _BIG_CELL + 8

    def _cell(self, neighbor: int, x: float, down: float, size: float, fill: str) -> None:
        row, column = divmod(neighbor, 3)
        self.parts.append(
            f'<rect x="{self._left + x + column * size:g}" y="{self._y + down + row * size:g}" '
            f'width="{size:g}" height="{size:g}" fill="{fill}" stroke="{_FRAME}"/>'
        )
