"""A hard automaton: a logic circuit with its grid, steps and start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from difflogic.circuit.circuit import Circuit, reached, require_distinct
from difflogic.circuit.colors import Color
from difflogic.circuit.grid import Boundary, Start
from difflogic.system.array_types import Bits, Flags
from difflogic.system.errors import CircuitError


class Blocks(NamedTuple):
    """Channels that start as a cell's place in its block of 2×2 cells, and flip at each step."""

    row: int
    """Label of the channel that is 1 in the lower row of each block."""
    column: int
    """Label of the channel that is 1 in its right column."""
    top: int
    """The row in its block, 0 or 1, of the grid's first row at step 0."""
    left: int
    """The column in its block of the grid's first column."""

    def moved(self, rows: int, columns: int) -> Blocks:
        """Return the blocks of a grid that begins `rows` lower and `columns` further right."""
        return self._replace(top=(self.top + rows) % 2, left=(self.left + columns) % 2)

    def fill(self, bits: Bits, labels: tuple[int, ...], first: int) -> None:
        """Set both channels in bits (channels, rows, width) of a grid from row `first` on."""
        down, right = np.indices(bits.shape[1:])
        for label, place in ((self.row, down + first + self.top), (self.column, right + self.left)):
            if label in labels:
                bits[labels.index(label)] = place % 2


@dataclass(frozen=True, eq=False)
class Automaton:
    """A circuit with its grid, steps and start. Channels have labels, as in the circuit."""

    name: str
    circuit: Circuit
    visible: tuple[int, ...]
    """Labels of the visible channels: the loss channels of training."""
    boundary: Boundary
    height: int
    width: int
    """Cells of the training grid."""
    steps: int
    """The training step, at which it should be right."""
    fire_rate: float
    """Probability that a cell updates in a step; 1 is synchronous."""
    start: Start
    palette: tuple[Color, ...] = ()
    """The colour of each number that the visible bits form, lowest bit first; may be empty."""
    encoding: Mapping[str, Any] | None = None
    """What the channels say of a grid's symbols, if learned from examples: the fields of
    `difflogic.examples.encoding.Encoding`."""
    blocks: Blocks | None = None
    """Of a rule by blocks: which channels hold a cell's place. Simplifying may drop them."""
    held: tuple[int, ...] = ()
    """Labels of channels that keep what they hold, an input. Simplifying may drop them."""
    parts: tuple[str, ...] = ()
    """Names of what was joined. The n-th held channel has bit n of the number of the part that a
    cell shows, from 0."""
    before: tuple[int, ...] = ()
    """Of a rule with memory: labels of channels that hold what the visible ones showed one frame
    earlier, in their order. Simplifying may drop them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "visible", tuple(map(int, self.visible)))
        object.__setattr__(self, "palette", tuple(self.palette))
        if not self.visible:
            raise CircuitError("an automaton needs at least one visible channel")
        if self.palette and len(self.palette) != 2 ** len(self.visible):
            raise CircuitError(
                f"a palette of {len(self.palette)} colours: {len(self.visible)} visible channels "
                f"need {2 ** len(self.visible)}"
            )
        wrong = [each for each in self.palette if len(each) != 3 or {*each} - {*range(256)}]
        if wrong:
            raise CircuitError(f"palette: {wrong[0]}: give red, green and blue from 0 to 255")
        if self.blocks and self.boundary == "periodic" and (self.height % 2 or self.width % 2):
            raise CircuitError(
                f"{self.height}×{self.width} cells: blocks of 2×2 need an even number of rows and "
                "columns where the edges meet: choose another --size, or --boundary zero"
            )
        require_distinct("visible channel", self.visible)
        missing = sorted(set(self.visible) - set(self.circuit.labels))
        if missing:
            raise CircuitError(
                f"visible channel {missing[0]} is not one of the circuit's {self.circuit.channels} "
                f"channels, whose numbers are {_range(self.circuit.labels)}"
            )

    def __repr__(self) -> str:
        circuit = self.circuit
        return (
            f"Automaton({self.name!r}, {circuit.gates} gates, {circuit.channels} channels, "
            f"{self.height}×{self.width} cells)"
        )

    @property
    def visible_rows(self) -> tuple[int, ...]:
        """Places of the visible channels among the circuit's channels."""
        return places(self.circuit, self.visible)

    @property
    def held_rows(self) -> tuple[int, ...]:
        """Places of the held channels among the circuit's channels."""
        return places(
            self.circuit, tuple(each for each in self.held if each in self.circuit.labels)
        )

    def with_circuit(self, circuit: Circuit) -> Automaton:
        """Return the same automaton, run by another circuit."""
        return replace(self, circuit=circuit)


def places(circuit: Circuit, labels: tuple[int, ...]) -> tuple[int, ...]:
    """Return the places among a circuit's channels of those with these labels."""
    place = {label: number for number, label in enumerate(circuit.labels)}
    return tuple(place[label] for label in labels)


def _range(labels: tuple[int, ...]) -> str:
    if len(labels) <= 16:
        return ", ".join(map(str, labels))
    return f"{min(labels)} to {max(labels)}"


def live_channels(circuit: Circuit, visible: tuple[int, ...]) -> Flags:
    """Return which channels the future of `visible` (labels) depends on, by its wires.

    Shape (C,). The visible channels are live, and so is each channel that a live one's next state
    reads at any neighbour.
    """
    own = list(places(circuit, visible))
    outputs = circuit.outputs.tolist()
    (_, a, b) = circuit.lists
    seen = reached(circuit.inputs, a, b, [outputs[channel] for channel in own], outputs)
    live = np.zeros(circuit.channels, np.bool_)
    live[own] = True
    live |= seen[: circuit.inputs].reshape(-1, circuit.channels).any(axis=0)
    return live
