"""What an automaton does before it has learned anything: it carries signals, and no more.

Every gate then passes its input a on, so each channel of a cell takes over one channel of one cell
of its neighbourhood, always the same one. Wirings that are drawn at random carry badly. Kernels may
all look one way, and where none looks along a diagonal a signal needs two steps for what is one
step away; of C channels that each read a random one, hardly a sixth of the signals are left after a
dozen steps. Cells that no signal reaches are all alike, and learn nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from difflogic.circuit.gates import PASS_THROUGH, Op
from difflogic.circuit.grid import NEIGHBORS
from difflogic.circuit.wiring import Wiring

AROUND = tuple(NEIGHBORS.index(name) for name in ("NW", "NE", "SE", "SW", "S", "N", "W", "E"))
"""The neighbours in the order in which they are needed: along diagonals a signal is everywhere
soonest, but only in every second cell, until one looks straight on."""

SPANNING = 5
"""How many of these reach every cell in as few steps as any signal can."""


def looks(outputs: int) -> list[tuple[int, ...]]:
    """Return which neighbours each output of the kernels is to see at first.

    One each, in the order of `AROUND`. Where these are too few the last one sees two.
    """
    seen: list[tuple[int, ...]] = [(AROUND[output % len(AROUND)],) for output in range(outputs)]
    if outputs < SPANNING:
        seen[-1] += (AROUND[SPANNING - 1],)
    return seen


def looking(layers: Sequence[Wiring], seen: Sequence[Sequence[int]]) -> tuple[Wiring, ...]:
    """Return a kernel's wiring by which its outputs, if all gates pass a on, see neighbours.

    `seen` has those of each output; a second one is what the output's gate gets as its input b.
    In `layers`, whose first one has to read each neighbour as a, the readers of these swap
    inputs a with the gates that the outputs come from: what pairs are read stays as it was.
    """
    first, *later = layers
    a = first.a.copy()
    settled: list[int] = []
    for output, neighbors in enumerate(seen):
        for nth, neighbor in enumerate(neighbors if later else neighbors[:1]):
            gate = _source(later, output, by_b=nth > 0)
            other = int(np.flatnonzero(a == neighbor)[0])
            # Outputs may come from the same gate; the first one decides what it sees.
            if gate not in settled and other not in settled:
                a[gate], a[other] = a[other], a[gate]
                settled.append(gate)
    return replace(first, a=a), *later


def _source(later: Sequence[Wiring], output: int, by_b: bool) -> int:
    """Return the first layer's gate that an output comes from, if all gates pass a on.

    `later` are the layers behind the first one. The output's own gate passes b on if `by_b`.
    """
    gate = output
    for layer in reversed(later):
        reads = layer.b if by_b and layer is later[-1] else layer.a
        gate = int(reads[gate])
    return gate


def first_ops(
    parameters: int, kernels: Sequence[Sequence[Wiring]], seen: Sequence[Sequence[Sequence[int]]]
) -> npt.NDArray[np.uint8]:
    """Return the op that each gate begins as, (parameters,): A, or XOR where an output sees two.

    `kernels` are wired as by `looking`; `seen` has what each of their outputs is to see. One whose
    inputs come from the same gate sees one neighbour only, and passes it on: its XOR is always 0.
    """
    ops = np.full(parameters, PASS_THROUGH, np.uint8)
    end = 0
    for layers, outputs in zip(kernels, seen, strict=True):
        _, *later = layers
        end += sum(layer.gates for layer in layers)
        for output, neighbors in enumerate(outputs):
            # A kernel of one layer compares a neighbour with the centre, and sees no second one.
            if len(neighbors) > 1 and later:
                by_a, by_b = (_source(later, output, by_b) for by_b in (False, True))
                if by_a != by_b:
                    ops[end - layers[-1].gates + output] = Op.XOR
    return ops


def carrying(
    layers: Sequence[Wiring], channels: int, run: float, rng: np.random.Generator
) -> tuple[Wiring, ...]:
    """Return an update circuit's wiring that carries signals through all channels in turn.

    If all gates pass a on, each channel is read by the next one of a cycle through them all, by
    way of the centre or of what a kernel sees, but for those few whose paths through `layers`
    meet. A signal keeps to a way for `run` steps, 1 at least, on the average. The inputs of the
    first of `layers` change places, no more: the centre's `channels` come first, then what is
    perceived, by channel.
    """
    first = layers[0]
    reads: npt.NDArray[Any] = np.arange(layers[-1].gates)
    for layer in reversed(layers):
        reads = layer.a[reads]
    ways = (first.inputs - channels) // channels
    cycle = rng.permutation(channels)
    turns = rng.random(channels) < 1 / run
    turns[0] = True
    way = rng.integers(1 + ways, size=channels)
    way = way[np.maximum.accumulate(np.where(turns, np.arange(channels), 0))]
    source = np.roll(cycle, 1)
    wanted = np.empty(channels, np.int64)
    wanted[cycle] = np.where(way == 0, source, channels + source * ways + way - 1)
    # Where two channels come from the same input, the second goes where the first does.
    inputs, by = np.unique(reads, return_index=True)
    place = np.full(first.inputs, -1)
    place[inputs] = wanted[by]
    left = np.setdiff1d(np.arange(first.inputs), place)
    place[place < 0] = rng.permutation(left)
    place = place.astype(np.int32)
    return replace(first, a=place[first.a], b=place[first.b]), *layers[1:]
