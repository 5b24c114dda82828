"""Which two inputs each gate of a layer reads. Drawn once from the seed, never learned.

Before training every gate passes its input a on, so each channel of a cell takes over one channel
of one neighbour, always the same one: the automaton carries signals, and does no more. Random
wirings carry badly. Kernels may all look in one direction; without a diagonal one, a signal takes
two steps to a diagonal neighbour; and if C channels each read a random one, hardly a sixth of the
signals are left after a dozen steps. Cells that no signal reaches are all alike and learn nothing.
`wired_to_see` and `carrying` rearrange wirings so that signals spread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from difflogic.circuit.gates import PASS_THROUGH, Op
from difflogic.circuit.grid import CENTER, NEIGHBORHOOD, NEIGHBORHOODS, NEIGHBORS, OFFSETS
from difflogic.system.array_types import Array, Bits, Int32s
from difflogic.system.errors import ConfigError


@dataclass(frozen=True)
class Wiring:
    """The inputs of one layer: gate j reads `a[j]` and `b[j]`, both in [0, inputs)."""

    inputs: int
    a: Int32s
    b: Int32s

    @property
    def gates(self) -> int:
        return len(self.a)


def compare(neighborhood: str, inputs: int, gates: int, rng: np.random.Generator) -> Wiring:
    """Wire each gate to a cell of a neighbourhood (input a) and the centre (input b), permuted.

    All cells are read equally often. Raises ConfigError unless the gates are a multiple of the
    cells.
    Source: the DiffLogic CA notebook, first layer of each perception kernel, for moore.
    """
    around = [OFFSETS.index(cell) for cell in NEIGHBORHOODS[neighborhood] if any(cell)]
    if inputs != NEIGHBORHOOD or gates < 1 or gates % len(around):
        raise ConfigError(
            f"wiring {neighborhood} compares {len(around)} neighbours with the centre: it needs "
            f"{NEIGHBORHOOD} inputs and a multiple of {len(around)} gates, not {inputs} inputs and "
            f"{gates} gates; wiring unique takes other numbers"
        )
    a = rng.permutation(np.repeat(np.array(around, np.int32), gates // len(around)))
    return Wiring(inputs, a, np.full(gates, CENTER, dtype=np.int32))


def unique(inputs: int, gates: int, rng: np.random.Generator) -> Wiring:
    """Wire each gate to a pair of inputs that no other gate of the layer reads.

    Pairs come in order of distance, (0, 1), (2, 3), … then (1, 2), (3, 4), … then all pairs at
    distance 2, 3, and so on; the first `gates` of them are taken and permuted. If they miss the
    last of an odd number of inputs, its pair replaces the last one taken.
    Raises ConfigError if 2 * gates < inputs, since some inputs would go unread, or if there are
    fewer distinct pairs than gates.
    Source: Petersen et al. 2022, section 3; the DiffLogic CA notebook.
    """
    if gates < 1:
        raise ConfigError(f"a layer needs at least one gate, not {gates}")
    if 2 * gates < inputs:
        raise ConfigError(
            f"wiring unique: {gates} gates have {2 * gates} inputs and cannot read all "
            f"{inputs} bits of the layer before: use at least {(inputs + 1) // 2} gates"
        )
    pairs = inputs * (inputs - 1) // 2
    if gates > pairs:
        raise ConfigError(
            f"wiring unique has {pairs} pairs of {inputs} inputs, too few for {gates} gates: "
            f"use at most {pairs} gates"
        )
    starts = [np.arange(0, inputs - 1, 2), np.arange(1, inputs - 1, 2)]
    distances = [1, 1]
    found = inputs - 1
    while found < gates:
        distance = distances[-1] + 1
        starts.append(np.arange(inputs - distance))
        distances.append(distance)
        found += inputs - distance
    a = np.concatenate(starts)[:gates]
    b = np.concatenate([s + d for s, d in zip(starts, distances, strict=True)])[:gates]
    if inputs % 2 and gates < inputs - 1:
        # The pairs so far leave the last of an odd number of inputs unread.
        a[-1] = inputs - 2
        b[-1] = inputs - 1
    order = rng.permutation(gates)
    return Wiring(inputs, a[order].astype(np.int32), b[order].astype(np.int32))


WiringRule = Callable[[int, int, np.random.Generator], Wiring]
"""Takes the number of inputs and gates."""

FIRST_TOPOLOGIES: dict[str, WiringRule] = {
    **{name: partial(compare, name) for name in NEIGHBORHOODS},
    "unique": unique,
}
"""Wirings for the first layer of a perception kernel, which reads nine cells."""


AROUND = tuple(NEIGHBORS.index(name) for name in ("NW", "NE", "SE", "SW", "S", "N", "W", "E"))
"""Neighbours in the order in which kernels should look at them.

Diagonals spread a signal fastest, but reach every second cell only, until one looks straight on."""

SPANNING = 5
"""Number of these that reach every cell in as few steps as any signal can."""


def spread_directions(outputs: int) -> list[tuple[int, ...]]:
    """Return which neighbours each of the kernels' outputs should see before training.

    One each, in the order of `AROUND`. With fewer than SPANNING outputs the last one sees two.
    """
    seen: list[tuple[int, ...]] = [(AROUND[output % len(AROUND)],) for output in range(outputs)]
    if outputs < SPANNING:
        seen[-1] += (AROUND[SPANNING - 1],)
    return seen


def wired_to_see(layers: Sequence[Wiring], seen: Sequence[Sequence[int]]) -> tuple[Wiring, ...]:
    """Return a kernel's wiring whose outputs see the neighbours `seen` if all gates pass a on.

    A second neighbour of an output reaches the input b of its gate. Gates of the first layer swap
    their inputs a, so which pairs are read stays the same. The first layer must read each neighbour
    as an input a.
    """
    first, *later = layers
    a = first.a.copy()
    settled: list[int] = []
    for output, neighbors in enumerate(seen):
        for nth, neighbor in enumerate(neighbors if later else neighbors[:1]):
            gate = _source(later, output, by_b=nth > 0)
            other = int(np.flatnonzero(a == neighbor)[0])
            # Outputs may come from the same gate: the first of them decides.
            if gate not in settled and other not in settled:
                a[gate], a[other] = a[other], a[gate]
                settled.append(gate)
    return replace(first, a=a), *later


def _source(later: Sequence[Wiring], output: int, by_b: bool) -> int:
    """Return the first layer's gate that an output comes from if all gates pass a on.

    `later` are the layers after the first. With `by_b` the output's own gate passes b on.
    """
    gate = output
    for layer in reversed(later):
        reads = layer.b if by_b and layer is later[-1] else layer.a
        gate = int(reads[gate])
    return gate


def first_ops(
    parameters: int, kernels: Sequence[Sequence[Wiring]], seen: Sequence[Sequence[Sequence[int]]]
) -> Bits:
    """Return the op that each gate begins as, (parameters,): A, or XOR if an output sees two.

    `kernels` are wired by `wired_to_see`, with `seen` as given to it. An output whose two inputs
    come from the same gate stays A, since its XOR would always be 0.
    """
    ops = np.full(parameters, PASS_THROUGH, np.uint8)
    end = 0
    for layers, outputs in zip(kernels, seen, strict=True):
        _, *later = layers
        end += sum(layer.gates for layer in layers)
        for output, neighbors in enumerate(outputs):
            # A kernel of one layer compares a neighbour with the centre: there is no second one.
            if len(neighbors) > 1 and later:
                by_a, by_b = (_source(later, output, by_b) for by_b in (False, True))
                if by_a != by_b:
                    ops[end - layers[-1].gates + output] = Op.XOR
    return ops


def carrying(
    layers: Sequence[Wiring], channels: int, run: float, rng: np.random.Generator
) -> tuple[Wiring, ...]:
    """Return an update circuit's wiring that carries signals through all channels in turn.

    If all gates pass a on, each channel reads the one before it in a cycle of all channels, at the
    centre or through a kernel. Exceptions are the few channels whose paths through `layers` meet.
    A signal keeps its direction for `run` steps on average, at least 1. Only the inputs of the
    first layer are permuted: the centre's `channels`, then what is perceived, by channel.
    """
    first = layers[0]
    reads: Array = np.arange(layers[-1].gates)
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
    # If two channels come from the same input, the first one decides where it reads.
    inputs, by = np.unique(reads, return_index=True)
    place = np.full(first.inputs, -1)
    place[inputs] = wanted[by]
    left = np.setdiff1d(np.arange(first.inputs), place)
    place[place < 0] = rng.permutation(left)
    place = place.astype(np.int32)
    return replace(first, a=place[first.a], b=place[first.b]), *layers[1:]
