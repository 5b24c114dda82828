"""Which two inputs each gate of a layer reads. Drawn once from the seed, never learned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from difflogic.circuit.grid import CENTER, NEIGHBORHOOD, NEIGHBORHOODS, OFFSETS
from difflogic.system.errors import ConfigError


@dataclass(frozen=True)
class Wiring:
    """The inputs of one layer: gate j reads `a[j]` and `b[j]`, both in [0, inputs)."""

    inputs: int
    a: npt.NDArray[np.int32]
    b: npt.NDArray[np.int32]

    @property
    def gates(self) -> int:
        return len(self.a)


def compare(neighborhood: str, inputs: int, gates: int, rng: np.random.Generator) -> Wiring:
    """Wire each gate to a cell of a neighbourhood (input a) and the centre (input b), permuted.

    All cells are read equally often. The inputs are those of one channel or several, nine each;
    the centre is the first one's. Raises ConfigError unless the gates are a multiple of the cells.
    Source: the DiffLogic CA notebook, first layer of each perception kernel, for moore.
    """
    around = [OFFSETS.index(cell) for cell in NEIGHBORHOODS[neighborhood] if any(cell)]
    seen, rest = divmod(inputs, NEIGHBORHOOD)
    cells = np.array([n + NEIGHBORHOOD * channel for channel in range(seen) for n in around])
    if rest or not cells.size or gates < 1 or gates % len(cells):
        raise ConfigError(
            f"wiring {neighborhood} compares {len(around)} neighbours with the centre: it needs "
            f"{NEIGHBORHOOD} inputs and a multiple of {len(around)} gates for each channel, not "
            f"{inputs} inputs and {gates} gates; wirings unique and random take other numbers"
        )
    a = rng.permutation(np.repeat(cells, gates // len(cells)).astype(np.int32))
    return Wiring(inputs, a, np.full(gates, CENTER, dtype=np.int32))


def unique(inputs: int, gates: int, rng: np.random.Generator) -> Wiring:
    """Wire each gate to a pair of inputs that no other gate of the layer reads.

    Pairs come in order of distance, (0, 1), (2, 3), … then (1, 2), (3, 4), … then all pairs at
    distance 2, 3, and so on; the first `gates` of them are taken and permuted. Where these
    miss the last of an odd number of inputs, its pair replaces the last one taken.
    Raises ConfigError if 2 * gates < inputs, since some inputs would go unread, and if there
    are fewer distinct pairs than gates.
    Source: Petersen et al. 2022, section 3; the DiffLogic CA notebook.
    """
    _require_every_input_read("unique", inputs, gates)
    pairs = inputs * (inputs - 1) // 2
    if gates > pairs:
        raise ConfigError(
            f"wiring unique has {pairs} pairs of {inputs} inputs, too few for {gates} gates: "
            f"use at most {pairs} gates, or wiring random"
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
        a[-1], b[-1] = inputs - 2, inputs - 1
    order = rng.permutation(gates)
    return Wiring(inputs, a[order].astype(np.int32), b[order].astype(np.int32))


def random(inputs: int, gates: int, rng: np.random.Generator) -> Wiring:
    """Wire both inputs of each gate from a permutation: every input is read about equally often.

    Raises ConfigError if 2 * gates < inputs, since some inputs would go unread.
    Source: Petersen et al. 2022, section 3.
    """
    _require_every_input_read("random", inputs, gates)
    reads = rng.permutation(2 * gates) % inputs
    relabel = rng.permutation(inputs)
    a, b = relabel[reads].reshape(2, gates).astype(np.int32)
    return Wiring(inputs, a, b)


TOPOLOGIES = {"unique": unique, "random": random}
"""The wirings of layers of any size."""

FIRST_TOPOLOGIES: dict[str, Callable[[int, int, np.random.Generator], Wiring]] = {
    **{name: partial(compare, name) for name in NEIGHBORHOODS},
    **TOPOLOGIES,
}
"""Those of a perception kernel's first layer, which reads the nine cells of a neighbourhood."""


def _require_every_input_read(topology: str, inputs: int, gates: int) -> None:
    if gates < 1:
        raise ConfigError(f"a layer needs at least one gate, not {gates}")
    if 2 * gates < inputs:
        raise ConfigError(
            f"wiring {topology}: {gates} gates have {2 * gates} inputs and cannot read all "
            f"{inputs} bits before it: use at least {(inputs + 1) // 2} gates"
        )
