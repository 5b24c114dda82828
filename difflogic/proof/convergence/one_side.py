"""Proves that a circuit is right on every grid if its cells look to one side: W, N and NW, say.

With zeros beyond the edge, a cell then depends on those above it and on its left alone: its future
is the same on every grid that has it. Once these have settled, to sets of values, the cell's own
sets shrink from everything to a fixpoint, in some of its own firings, whatever the order. So what
settles is a function of three neighbours, and each row follows from the row above. It repeats from
where the same sets meet the same phase of that row again. Once a whole row comes back, so do all
after it, and a finite part shows every grid. docs/one-side.md has the theorem.

Rows need not come back: hidden channels may draw Pascal's triangle modulo 2, or run any machine.
Then the question stays open.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from difflogic.circuit.grid import CENTER
from difflogic.proof.answer import Answer, Budget, Method
from difflogic.proof.convergence import orbits, sets
from difflogic.proof.convergence.every_size import (
    MOST_REFUTED,
    EverySize,
    Plane,
    answer_about,
    refute,
)
from difflogic.proof.convergence.findings import Convergence
from difflogic.proof.convergence.methods import LONGEST_SAMPLE, by_sets
from difflogic.proof.convergence.planes import Network, pack
from difflogic.proof.convergence.sets import UNKNOWN
from difflogic.proof.verdict import Verdict
from difflogic.system.array_types import Bits
from difflogic.system.deadline import Deadline

MOST_UNKNOWN = 8
"""Most channels of a cell that stay unknown, for all their values to be followed one by one."""

MOST_CELLS = 2**16
"""Cells in which rows and columns must repeat, and cells to compare: about half a second."""

Corner = tuple[int, int]
"""Rows down and columns right of the diagonal neighbour: -1 or 1."""

CORNERS: tuple[Corner, ...] = ((-1, -1), (-1, 1), (1, -1), (1, 1))

Cell = tuple[int, ...]
"""For each channel 0, 1 or UNKNOWN."""


def sees(corner: Corner) -> tuple[int, int, int]:
    """Return the neighbours that cells may look at: the diagonal one, up or down, and beside."""
    down, across = corner
    return CENTER + 3 * down + across, CENTER + 3 * down, CENTER + across


def corner_of(network: Network) -> Corner | None:
    """Return the corner that cells look at; None if they do not look to one side."""
    seen = {neighbor for neighbor, _ in network.inputs} - {CENTER}
    return next((each for each in CORNERS if seen <= {*sees(each)}), None)


class EndlessRow(NamedTuple):
    """A row without end: some cells, then others again and again."""

    first: tuple[Cell, ...]
    again: tuple[Cell, ...]

    @classmethod
    def shortest(cls, first: Sequence[Cell], again: Sequence[Cell]) -> EndlessRow:
        """Return the only way to write a row with the fewest cells."""
        size = len(again)
        start = list(first)
        periods = (n for n in range(1, size + 1) if size % n == 0)
        period = next(n for n in periods if again[n:] == again[: size - n])
        turn = list(again[:period])
        while start and start[-1] == turn[-1]:
            turn = [start.pop(), *turn[:-1]]
        return cls(tuple(start), tuple(turn))

    def at(self, place: int) -> Cell:
        late = place - len(self.first)
        return self.first[place] if late < 0 else self.again[late % len(self.again)]


@dataclass(frozen=True, eq=False)
class OneSide:
    """What every start settles in, on every grid, by the distance from the corner."""

    corner: Corner
    rows: tuple[EndlessRow, ...]
    start: int | None
    """Rows from this one on come again and again; None if that is not known."""
    firings: int
    """Most firings of a cell from when those that it sees have settled until it has."""
    picture: Bits | None = None
    """What is shown, shape (visible, height, width), again and again; None if nobody asked."""

    def row(self, place: int) -> EndlessRow:
        if self.start is not None and place >= len(self.rows):
            place = self.start + (place - self.start) % (len(self.rows) - self.start)
        return self.rows[place]

    def count(self, period: int) -> int:
        """Return how many rows have all that meet a picture's, which repeat after a period."""
        if self.start is None:
            return len(self.rows)
        return self.start + math.lcm(len(self.rows) - self.start, period)

    def from_step(self, height: int, width: int) -> int:
        """Return a step, or round, from which a grid has settled."""
        return self.firings * (height + width - 1)


@dataclass(eq=False)
class Settling:
    """What cells settle in, by what the neighbours that they see have settled in."""

    network: Network
    corner: Corner
    firings: int = 0
    """Most firings that a cell has needed so far."""
    known: dict[tuple[Cell, ...], tuple[Cell, frozenset[Cell]]] = field(default_factory=dict)

    def cell(self, *around: Cell) -> tuple[Cell, frozenset[Cell]]:
        """Return a cell's sets, and the states that it stays in, if these are few.

        `around` are the neighbours that it `sees`.
        """
        if around not in self.known:
            self.known[around] = self._settled(around)
        return self.known[around]

    def _settled(self, around: tuple[Cell, ...]) -> tuple[Cell, frozenset[Cell]]:
        own = (UNKNOWN,) * self.network.channels
        firings = 0
        while (after := self._after(around, [own])[0]) != own:
            own, firings = after, firings + 1
        states = frozenset[Cell]()
        if own.count(UNKNOWN) <= MOST_UNKNOWN:
            values = [(0, 1) if value == UNKNOWN else (value,) for value in own]
            states = frozenset(itertools.product(*values))
            # Where what it sees is unknown, so is what a state becomes.
            while (new := frozenset(self._after(around, [*states]))) != states and not any(
                UNKNOWN in state for state in new
            ):
                states, firings = new, firings + 1
            merged = zip(*states, strict=True)
            own = tuple(each[0] if len({*each}) == 1 else UNKNOWN for each in merged)
        self.firings = max(self.firings, firings)
        return own, states

    def _after(self, around: tuple[Cell, ...], owns: Sequence[Cell]) -> list[Cell]:
        """Return a cell's sets after it fires, for each of its sets before."""
        lanes = range(len(owns))
        places = sees(self.corner)
        full = (1 << len(owns)) - 1
        least = [0, full]
        most = [0, full]
        for neighbor, channel in self.network.inputs:
            if neighbor == CENTER:
                low = sum((owns[lane][channel] & 1) << lane for lane in lanes)
                high = sum((owns[lane][channel] > 0) << lane for lane in lanes)
            else:
                value = around[places.index(neighbor)][channel]
                low = full * (value & 1)
                high = full * (value > 0)
            least += (low, full ^ high)
            most += (high, full ^ low)
        after = sets.through(self.network, full, least, most)
        return [
            tuple(
                low >> lane & 1 if (low ^ high) >> lane & 1 == 0 else UNKNOWN
                for low, high in zip(*after, strict=True)
            )
            for lane in lanes
        ]

    def everywhere(self, deadline: Deadline) -> OneSide:
        """Return what every start settles in, or the first rows of it. Raises OutOfTimeError."""
        above = EndlessRow((), (self._outside,))
        left = MOST_CELLS
        rows = list[EndlessRow]()
        met = dict[EndlessRow, int]()
        while True:
            deadline.check()
            row = self._below(above, left)
            if row is None or row in met:
                start = None if row is None else met[row]
                return OneSide(self.corner, tuple(rows), start, self.firings)
            met[row], left = len(rows), left - len(row.first) - len(row.again)
            rows.append(row)
            above = row

    @property
    def _outside(self) -> Cell:
        return (0,) * self.network.channels

    def _below(self, above: EndlessRow, most: int) -> EndlessRow | None:
        """Return the row after a row; None if it does not repeat within `most` cells."""
        cells = list[Cell]()
        before = self._outside
        west = self._outside
        met = dict[tuple[int, Cell], int]()
        for place in range(most):
            late = place - len(above.first)
            if late > 0:  # both cells above lie where they repeat
                phase = late % len(above.again), west
                if phase in met:
                    return EndlessRow.shortest(cells[: met[phase]], cells[met[phase] :])
                met[phase] = place
            north = above.at(place)
            west, _ = self.cell(before, north, west)
            cells.append(west)
            before = north
        return None


@dataclass(frozen=True, eq=False)
class SideComparison:
    """What cells settle in, and what they should show."""

    plane: Plane
    settling: Settling
    found: OneSide

    @cached_property
    def wanted(self) -> list[list[set[tuple[int, ...]]]]:
        """What cells should show, by their distance from the corner, again and again.

        Grids are the upper left parts of a picture: seen from a lower or right corner, a cell's row
        or column of it may be any. Empty if any known values will do.
        """
        if self.found.picture is None:
            return []
        shown = self.found.picture.transpose(1, 2, 0).tolist()
        cells = [[{tuple(cell)} for cell in row] for row in shown]
        if self.found.corner[0] > 0:
            cells = [[set().union(*column) for column in zip(*cells, strict=True)]]
        if self.found.corner[1] > 0:
            cells = [[set().union(*row)] for row in cells]
        return cells

    def shown(self, y: int, x: int) -> tuple[int, ...]:
        """Return what a cell settles in, by its distance from the corner."""
        cell = self.found.row(y).at(x)
        return tuple(cell[row] for row in self.plane.automaton.visible_rows)

    def wrong(self) -> tuple[list[tuple[int, int]], bool]:
        """Return cells that may be wrong, by their distance from the corner, near ones first.

        And whether these are all kinds of cells.
        """
        wanted = self.wanted or [[set()]]
        high = len(wanted)
        wide = len(wanted[0])
        places = list[tuple[int, int]]()
        left = MOST_CELLS
        for y in range(self.found.count(high)):
            row = self.found.row(y)
            width = len(row.first) + math.lcm(len(row.again), wide)
            for x in range(min(left, width)):
                shown = self.shown(y, x)
                if UNKNOWN in shown or (self.wanted and wanted[y % high][x % wide] != {shown}):
                    places.append((y, x))
            left = max(0, left - width)
        places.sort(key=lambda place: (max(place), place))
        return places, left > 0 and self.found.start is not None

    def refutation(self, y: int, x: int, budget: Budget) -> EverySize:
        """Look for a state that refutes the smallest grid on which a cell is wrong.

        If all that it sees settles in one state, a cell comes back to each of its `states`,
        whatever fires when, so a wrong one refutes.
        """
        plane = self.plane
        (down, across) = self.found.corner
        more = plane.repeats or 1
        for height, width in itertools.product(
            range(y + 1, y + 2 + more * (down > 0)), range(x + 1, x + 2 + more * (across > 0))
        ):
            asked = Convergence.of(plane.automaton, plane.target(height, width))
            wanted = tuple(asked.target[:, ::-down, ::-across][:, y, x].tolist())
            if wanted != self.shown(y, x):
                break
        outside = (0,) * self.settling.network.channels
        seen = {
            place: self.found.row(place[0]).at(place[1])
            for place in itertools.product(range(y + 1), range(x + 1))
        }
        around = (seen.get(each, outside) for each in ((y - 1, x - 1), (y - 1, x), (y, x - 1)))
        visible = plane.automaton.visible_rows
        states = (
            each
            for each in self.settling.cell(*around)[1]
            if tuple(each[row] for row in visible) != wanted
        )
        seen[y, x] = next(states, (UNKNOWN,))
        if not any(UNKNOWN in cell for cell in seen.values()):
            start = np.zeros((len(outside), height, width), np.uint8)
            start[:, : y + 1, : x + 1] = np.array([*seen.values()]).T.reshape(-1, y + 1, x + 1)
            planes = pack(asked.board, start[:, ::-down, ::-across])
            found = orbits.counterexample(asked, planes, budget.deadline, LONGEST_SAMPLE)
            if found is not None:
                finding = replace(
                    by_sets(asked),
                    verdict=Verdict.refuted,
                    method=ONE_SIDE.name,
                    counterexample=found,
                )
                return EverySize(plane, refuted=finding)
        return refute(plane, [(height, width)], budget)


def _fits(question: object) -> bool:
    """Return whether a question is about cells that look to one side."""
    if not isinstance(question, Plane):
        return False
    if question.compared and question.repeats is None:
        return False
    return corner_of(Network(question.automaton.circuit)) is not None


def _decide(question: Plane, budget: Budget, before: Answer | None) -> Answer | str:
    plane = replace(question, automaton=replace(question.automaton, boundary="zero"))
    network = Network(plane.automaton.circuit)
    corner = corner_of(network)
    assert corner is not None
    settling = Settling(network, corner)
    # Half of the time is left for the method after this one.
    found = settling.everywhere(Deadline.after(budget.deadline.left / 2))
    if plane.compared and plane.repeats is not None:
        found = replace(found, picture=plane.target(plane.repeats, plane.repeats))
    compared = SideComparison(plane, settling, found)
    wrong, are_all = compared.wrong()
    if not wrong:
        if not are_all:
            return "rows and columns do not repeat"
        answer = answer_about(EverySize(plane, found), ONE_SIDE)
        # Damage needs the settled states of small grids, which the next method may give.
        if plane.wound is not None:
            answer = replace(answer, outcome="proved, but not how damage spreads")
        return answer
    for place in wrong[:MOST_REFUTED]:
        refuted = compared.refutation(*place, budget)
        if refuted.verdict is Verdict.refuted:
            break
    return answer_about(refuted, ONE_SIDE)


ONE_SIDE = Method("cells that look to one side", 0.05, _fits, _decide)
