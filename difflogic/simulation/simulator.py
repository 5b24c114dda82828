"""Runs one automaton on one grid of any size, by either engine, on any number of threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.simulation import random_bits
from difflogic.simulation.bit_grid import BitGrid, Geometry, pack
from difflogic.simulation.interpreter import Interpreter, band_rows
from difflogic.simulation.schedule import schedule
from difflogic.system import memory
from difflogic.system.array_types import Words
from difflogic.system.errors import ConfigError
from difflogic.system.work import heartbeat, may_cancel

if TYPE_CHECKING:
    from difflogic.simulation.compiled import Compiled

EngineName = Literal["interpreter", "compiled"]

OPERATION_SECONDS = 1e-5
WORD_SECONDS = 4e-9
"""Time of the interpreter per gate or input: for each band of rows, and for each word of 64 cells.
Measured with 200 000 steps of 3×3 cells, and with 1024×1024 cells."""

CACHED_SECONDS = 0.05
"""Time to find and load a compiled circuit."""

FIRE_OPERATIONS = 60
"""Cost of a fire mask, or of one channel's noise, in the interpreter, in gates: ten digits of a
random number."""

FIRE_GATES = 100
"""Cost of the same in compiled code, in gates: ten digits of ten operations."""

LAST_STEP = 2**62
"""Highest step number of a state: far from the limits of 64 bits."""

OTHER_BYTES = 2**26
"""Bytes for everything but the grids: the interpreter's bands and the workers' rows."""

WORKER_WORK = 2**24
"""Cells times gates per step at which a second thread starts to pay: about 10 µs."""


@dataclass(frozen=True)
class World:
    """Everything about a simulation but its circuit: the grid, and how its cells update.

    `seed`, in [0, 2**64), determines the random bits of starts, fire masks and noise.
    """

    geometry: Geometry
    fire_rate: float = 1.0
    seed: int = 0
    noise: float = 0.0
    """Probability that a bit flips after a step."""

    @property
    def masks(self) -> int:
        """Number of random bits per cell and step."""
        return (self.fire_rate < 1) + self.geometry.channels * (self.noise > 0)


@dataclass(frozen=True, eq=False)
class Erasure:
    """Zeroes cells in `rows`, in some channels, after each of `steps`. Steps count from 1.

    `keep` has a 1 for each cell that survives: words of shape (rows, words), or (1, words) if the
    same cells survive in every row.
    """

    steps: tuple[int, ...]
    rows: slice
    keep: Words
    channels: Sequence[int] | None = None
    """Their places; None for all."""

    def apply(self, grid: BitGrid) -> None:
        hurt = slice(None) if self.channels is None else self.channels
        grid.words[self.rows, hurt, grid.columns()] &= self.keep[:, None]
        grid.refresh_ends(self.rows)


def rectangle(
    steps: Sequence[int], rows: tuple[int, int], columns: tuple[int, int], width: int
) -> Erasure:
    """Return damage of a rectangle; `rows` and `columns` are its first and past its last."""
    keep = np.ones((1, 1, width), np.uint8)
    keep[..., slice(*columns)] = 0
    return Erasure(tuple(steps), slice(*rows), pack(keep)[:, 0])


class Simulator:
    """Holds the state of one grid and runs it. Use it in a `with`.

    `workers` threads share the compiled engine's steps. Their number does not change the bits.
    """

    def __init__(
        self, circuit: Circuit, world: World, engine: EngineName = "compiled", workers: int = 1
    ) -> None:
        """Begin with zeros."""
        self.circuit = circuit
        self.world = world
        self.step = 0
        """Number of steps taken."""
        self._grids = (BitGrid(world.geometry), BitGrid(world.geometry))
        seed = world.seed
        rate = world.fire_rate
        noise = world.noise
        chance = random_bits.Chance(
            random_bits.Fire.of(seed, rate) if rate < 1 else None,
            random_bits.Noise.of(seed, noise, circuit.labels) if noise else None,
        )
        self._engine: Interpreter | Compiled
        if circuit.interpreter:
            self._engine = circuit.interpreter(circuit, chance, seed)
        elif engine == "interpreter":
            self._engine = Interpreter(circuit, chance)
        else:
            from difflogic.simulation.compiled import Compiled

            self._engine = Compiled(circuit, world.geometry, chance, workers)

    def __enter__(self) -> Simulator:
        self._engine.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._engine.__exit__(*raised)

    @property
    def grid(self) -> BitGrid:
        """The current state."""
        return self._grids[0]

    def randomize(self) -> None:
        """Set each cell of each channel to a fair bit.

        A channel's bits depend on its label, not on the other channels.
        """
        geometry = self.world.geometry
        limit = random_bits.threshold(0.5)
        key = random_bits.stream_key(self.world.seed, random_bits.Use.START)
        keys = random_bits.child_keys(key, self.circuit.labels)
        for rows in geometry.bands():
            numbers = np.arange(rows.start, rows.stop)
            for channel, own in enumerate(keys.tolist()):
                of_rows = random_bits.child_keys(own, numbers)
                packed = random_bits.bernoulli(of_rows, geometry.words, limit)
                self.grid.words[rows, channel, self.grid.columns()] = packed
            self.grid.refresh_ends(rows)
            may_cancel()

    def run(self, steps: int, damage: Sequence[Erasure] = ()) -> None:
        """Take `steps` steps, and apply each `damage` after each of its steps.

        Pauses several times a second, even within long steps. If it is stopped, the state is the
        one after the last whole step. Raises ConfigError if the step number would exceed LAST_STEP.
        """
        end = self.step + steps
        if end > LAST_STEP:
            raise ConfigError(f"{end} steps: a state can have taken at most {LAST_STEP}")
        heartbeat("simulated", 0, steps)
        while self.step < end:
            hits = (step for each in damage for step in each.steps if step > self.step)
            most = min([end, *hits]) - self.step
            taken, blocks = self._engine.take(*self._grids, self.step, most)
            self.step += taken
            if blocks % 2:
                self._grids = (self._grids[1], self._grids[0])
            for each in damage:
                if self.step in each.steps:
                    each.apply(self.grid)
            heartbeat("simulated", steps + self.step - end, steps)


def require_memory(geometry: Geometry) -> None:
    """Raise ConfigError if a simulator's grids do not fit into the available memory."""
    needed = 2 * geometry.bytes + OTHER_BYTES
    available = memory.available_memory()
    if available is None or needed <= available:
        return
    raise ConfigError(
        f"{geometry.height}×{geometry.width} cells of {geometry.channels} "
        f"channel{'' if geometry.channels == 1 else 's'} need {needed / 1e9:,.1f} GB, "
        f"but only {available / 1e9:,.1f} GB are available: choose a smaller grid, or simplify the "
        "circuit, which drops channels"
    )


def choose_engine(circuit: Circuit, world: World, steps: int) -> EngineName:
    """Return the engine that finishes first, counting the time to compile.

    Circuits of more than `native.MOST_GATES` gates are never compiled.
    """
    interpreting = steps * _interpreted_step(circuit, world)
    if circuit.interpreter or interpreting < CACHED_SECONDS:
        return "interpreter"
    from difflogic.simulation import native

    gates = schedule(circuit).gates
    if gates > native.MOST_GATES:
        return "interpreter"
    if interpreting > CACHED_SECONDS + native.compile_seconds(gates) or native.is_cached(circuit):
        return "compiled"
    return "interpreter"


def _interpreted_step(circuit: Circuit, world: World) -> float:
    """Estimate how long a step takes in the interpreter, in seconds."""
    order = schedule(circuit)
    geometry = world.geometry
    operations = order.gates + len(order.read_inputs) + circuit.channels
    operations += FIRE_OPERATIONS * world.masks
    bands = -(-geometry.height // band_rows(geometry))
    words = geometry.height * geometry.words
    return operations * (bands * OPERATION_SECONDS + words * WORD_SECONDS)


def useful_workers(circuit: Circuit, world: World, cores: int) -> int:
    """Return how many threads, up to `cores`, gain more than it costs to wake them."""
    gates = schedule(circuit).gates + FIRE_GATES * world.masks
    work = world.geometry.cells * max(1, gates)
    return max(1, min(cores, work // WORKER_WORK))
