"""One automaton made of several parts: held channels say which part each cell shows.

Cells hold the bits of a part's number, show that part's next visible bits, and run all parts. So
what a part does depends on nothing that is painted, and each cell shows what the part alone would
show there. docs/regions.md has the theorem.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np

from difflogic.circuit.automaton import Automaton, places
from difflogic.circuit.colors import Color
from difflogic.circuit.grid import CENTER, NEIGHBORHOOD
from difflogic.circuit.live_part import live_part
from difflogic.circuit.xag import Xag, to_circuit
from difflogic.system.errors import CircuitError


def bits_for(numbers: int) -> int:
    """Return how many bits tell numbers from 0 on apart, at least one."""
    return max(1, (numbers - 1).bit_length())


def in_place(part: Automaton, shown: range, first: int, palette: Sequence[Color]) -> Automaton:
    """Return a part whose channels have labels from `first` on, and that shows other bits.

    The channels with the labels `shown` say the number in `palette` of the colour that the part's
    visible bits will have in the same step.
    """
    before = part.circuit.channels
    channels = len(shown) + before
    xag = Xag(NEIGHBORHOOD * channels)
    seen = [
        xag.input(neighbor * channels + len(shown) + channel)
        for neighbor in range(NEIGHBORHOOD)
        for channel in range(before)
    ]
    after = xag.next_state(part.circuit, seen)
    visible = [after[row] for row in part.visible_rows]
    numbers = [palette.index(color) for color in part.palette]
    bits = [
        xag.any_of([each for each, number in enumerate(numbers) if number >> bit & 1], visible)
        for bit in range(len(shown))
    ]
    labels = (*shown, *range(first, first + before))
    circuit = to_circuit(xag, bits + after, labels, range(channels))
    return replace(part, circuit=circuit, visible=tuple(shown), palette=tuple(palette))


def placed(parts: Sequence[Automaton], palette: Sequence[Color]) -> list[Automaton]:
    """Return the parts, each with the labels that it has in a joined circuit."""
    held = bits_for(len(parts))
    shown = range(held, held + bits_for(len(palette)))
    firsts = accumulate((each.circuit.channels for each in parts), initial=shown.stop)
    full = [*palette, *[palette[-1]] * (2 ** len(shown) - len(palette))]
    return [in_place(part, shown, first, full) for part, first in zip(parts, firsts, strict=False)]


def joined(parts: Sequence[Automaton], name: str) -> Automaton:
    """Return one automaton of all parts, which are `placed`. Codes left over show the last."""
    shown = parts[0].visible
    held = tuple(range(shown[0]))
    total = parts[-1].circuit.labels[-1] + 1
    xag = Xag(NEIGHBORHOOD * total)
    after = [
        xag.next_state(
            part.circuit,
            [
                xag.input(neighbor * total + label)
                for neighbor in range(NEIGHBORHOOD)
                for label in part.circuit.labels
            ],
        )
        for part in parts
    ]
    options = [after[min(code, len(parts) - 1)][: len(shown)] for code in range(2 ** len(held))]
    mask = [xag.input(CENTER * total + label) for label in held]
    for bit in mask:
        options = [
            [xag.or_(xag.and_(bit ^ 1, x), xag.and_(bit, y)) for x, y in zip(*pair, strict=True)]
            for pair in zip(options[::2], options[1::2], strict=True)
        ]
    outputs = [*mask, *options[0], *(bit for each in after for bit in each[len(shown) :])]
    circuit = to_circuit(xag, outputs, tuple(range(total)), range(total))
    return replace(parts[0], name=name, circuit=circuit, held=held)


def alone(automaton: Automaton, number: int) -> Automaton:
    """Return what cells run that all hold a number, without what nothing visible depends on.

    Raises CircuitError if more than what is shown depends on held channels, or on what is shown.
    """
    circuit = live_part(automaton).circuit
    held = automaton.with_circuit(circuit).held_rows
    shown = places(circuit, automaton.visible)
    kept = [place for place in range(circuit.channels) if place not in held]
    hidden = [place for place in kept if place not in shown]
    for channels, allowed in (hidden, ()), (kept, [(CENTER, place) for place in held]):
        for row in np.flatnonzero(circuit.needed(channels)[: circuit.inputs]).tolist():
            read = divmod(row, circuit.channels)
            if read[1] not in hidden and read not in allowed:
                raise CircuitError(f"its parts read {circuit.input_name(row)}, which is no part's")
    xag = Xag(circuit.inputs)
    seen = [xag.input(row) for row in range(circuit.inputs)]
    for place in held:
        bit = number >> automaton.held.index(circuit.labels[place]) & 1
        seen[CENTER * circuit.channels + place] = xag.constant(bit)
    after = xag.next_state(circuit, seen)
    labels = tuple(circuit.labels[place] for place in kept)
    part = to_circuit(xag, [after[place] for place in kept], labels, kept)
    return live_part(replace(automaton, circuit=part, held=(), parts=()))
