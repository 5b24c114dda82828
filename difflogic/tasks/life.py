"""Life-like automata: the target is the next board of a rule such as Conway's."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from difflogic.circuit.grid import NEIGHBORHOODS, OFFSETS, OUTSIDE, neighbors
from difflogic.circuit.life_like import CONWAY, HOODS, counts_of
from difflogic.circuit.specification import Cases
from difflogic.system.array_types import Bits, Int64s
from difflogic.system.streams import Purpose, first_bytes
from difflogic.tasks.base import Larger, Task
from difflogic.tasks.parts import Exhibit, InapplicableError, Sample
from difflogic.tasks.section import TaskSection

LifeRule = Annotated[
    str,
    Field(
        pattern=r"^(B[0-8]{0,9}/S[0-8]{0,9}|B[0-4]{0,5}/S[0-4]{0,5}V|B[0-6]{0,7}/S[0-6]{0,7}H)$",
        json_schema_extra={
            "accepted": 'B and digits 0 to 8, then /S and digits, such as "B36/S23"; with V at the '
            "end digits 0 to 4, of the von Neumann neighbourhood, with H 0 to 6, of the hexagonal"
        },
    ),
]

SHOWN_SIDE = 64
"""Side of the board that a page begins with: training boards are too small to watch."""

EPOCHS_AHEAD = 64
"""Epochs to draw boards for at once: drawing twenty 3×3 boards one by one took half of an epoch's
time."""
MOST_AHEAD = 2**14
"""Largest number of cells in an epoch's boards for which this is done."""

BOARDS = 512
"""Boards of 3×3 cells: together, each cell of the torus sees every neighbourhood once."""


class LifeSection(TaskSection):
    """Start: a random board. Target: what a B/S rule makes of that board in the same steps."""

    kind: Literal["life"] = Field(description="the task's name")
    rule: LifeRule = Field(
        default=CONWAY,
        description="numbers of living neighbours with which a cell is born and survives",
    )


class Life(Task):
    """Random boards, and the same boards after the steps of a B/S rule.

    On a 3×3 torus a random board is one of all 512, drawn with replacement.
    """

    Section = LifeSection
    section: LifeSection
    _block: tuple[tuple[int, Purpose, int, range], Sample] | None = None

    @cached_property
    def _table(self) -> Int64s:
        return neighbors(self.height, self.width, self.automaton.boundary)[self._around]

    @cached_property
    def _next(self) -> Bits:
        """The next state of a dead or living cell by its living neighbours, shape (2, 9)."""
        table = np.zeros((2, 9), np.uint8)
        for row, counts in zip(table, counts_of(self.section.rule), strict=True):
            row[counts] = 1
        return table

    @cached_property
    def _around(self) -> list[int]:
        """The numbers of the neighbours that count, among the nine cells."""
        hood = NEIGHBORHOODS[HOODS.get(self.section.rule[-1], "moore")]
        return [OFFSETS.index(offset) for offset in hood if any(offset)]

    def advance(self, board: Bits) -> Bits:
        """Return boards (…, height, width) one generation later."""
        cells = board.reshape(*board.shape[:-2], -1)
        around = np.where(self._table == OUTSIDE, 0, cells[..., self._table]).sum(axis=-2)
        following: Bits = self._next[cells, around].reshape(board.shape)
        return following

    def sample(self, rng: np.random.Generator) -> Sample:
        """Draw a board for the loss channels; the others are 0. Its future is the target."""
        starts, targets = self.draw_all([rng])
        return starts[0], targets[0]

    def draw_all(self, rngs: Iterable[np.random.Generator]) -> Sample:
        """Draw each board from its own stream, and advance all of them at once."""
        size = (self.height, self.width)
        boards = [rng.integers(0, 2, size=size, dtype=np.uint8) for rng in rngs]
        return self._samples(np.stack(boards))

    def draw_numbered(self, seed: int, purpose: Purpose, epoch: int, numbers: range) -> Sample:
        """Draw the boards of a block of epochs at once, and return those of one epoch."""
        cells = self.height * self.width
        ahead = purpose is Purpose.START and cells * len(numbers) <= MOST_AHEAD
        epochs = EPOCHS_AHEAD if ahead else 1
        first = epoch - epoch % epochs
        key = (seed, purpose, first, numbers)
        if self._block is None or self._block[0] != key:
            drawn = first_bytes(seed, purpose, range(first, first + epochs), numbers, cells)
            shape = (epochs * len(numbers), self.height, self.width)
            self._block = key, self._samples((drawn >> np.uint8(7)).reshape(shape))
        of_epoch = slice((epoch - first) * len(numbers), (epoch - first + 1) * len(numbers))
        starts, targets = self._block[1]
        return starts[of_epoch].copy(), targets[of_epoch].copy()

    def _samples(self, boards: Bits) -> Sample:
        """Return boards (n, height, width) as starts, and their futures as targets."""
        size = (self.height, self.width)
        starts = np.zeros((len(boards), self.channels, *size), np.uint8)
        starts[:, list(self.loss_channels)] = boards[:, None]
        for _ in range(self.automaton.steps):
            boards = self.advance(boards)
        shape = (len(boards), len(self.loss_channels), *size)
        return starts, np.broadcast_to(boards[:, None].astype(np.float64), shape)

    def cases(self) -> Cases | None:
        """Return all boards of a 3×3 torus, if all cells take a single step."""
        if self.automaton.steps != 1 or self.automaton.fire_rate != 1:
            return None
        torus = self.on_grid(3, 3, boundary="periodic")
        numbers = np.arange(BOARDS)
        boards = (numbers[:, None] >> np.arange(9) & 1).astype(np.uint8).reshape(-1, 3, 3)
        starts, targets = torus._samples(boards)
        note = f"Each cell of a 3×3 torus sees each of the {BOARDS} neighbourhoods once."
        name = f"all {BOARDS} boards"
        bits = targets.astype(np.uint8)
        return Cases(name, starts, bits, "periodic", 1, note, 9)

    def larger(self) -> Larger:
        """Raise: the test of exactness already compares larger boards with the rule."""
        raise InapplicableError(
            "for life, exactness already tests a larger grid for longer, against the real rule"
        )

    @property
    def exhibit(self) -> Exhibit:
        rule = self.section.rule
        game = "Conway’s Game of Life" if rule == CONWAY else f"the rule {rule}"
        born, survive = counts_of(rule)
        return Exhibit(
            f"Together they play {game}. Stop them, draw cells of your own, and go on.",
            {"kind": "life", "born": born, "survive": survive, "around": self._around},
            {"height": SHOWN_SIDE, "width": SHOWN_SIDE, "brush": "ones", "size": 1},
            "Cells whose last step was not the rule’s",
        )

    @property
    def title(self) -> str:
        return f"{self.name} {self.section.rule}"
