"""Runs one automaton on one grid of any size, by either engine, on any number of threads."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from difflogic.logic.circuit import LogicCircuit
from difflogic.simulation.bit_grid import LINE, BitGrid, Geometry, Words, aligned
from difflogic.simulation.damage import Damage
from difflogic.simulation.fields import Field as F
from difflogic.simulation.interpreter import Interpreter
from difflogic.simulation.random_bits import (
    Use,
    bernoulli,
    child_keys,
    digits,
    stream_key,
    threshold,
)
from difflogic.simulation.schedule import schedule

if TYPE_CHECKING:
    from difflogic.engine.workers import Workers

EngineName = Literal["auto", "interpreter", "compiled"]

SMALL_WORK = 2**31
"""Cells times gates times steps up to which compiling does not pay: the interpreter needs less
than a second for it, as long as importing and compiling take."""

CALL_SECONDS = 0.2
"""Aimed-at length of one call, as Ctrl-C has to wait for its end."""

BANDS_PER_WORKER = 4
"""Bands of rows that a grid is cut into, so that nobody waits long for a slow neighbour."""

RING_BYTES = 2**20
"""What a worker may keep of the steps within a block: half of a usual second-level cache."""

MAX_DEPTH = 8
"""Steps of a block; more did not help where all fits into the cache."""

ROWS_PER_STEP = 16
"""Rows of a band per step of a block, at least: two neighbours compute so many rows less than
twice."""


@dataclass(frozen=True)
class Conditions:
    """What a simulation is, apart from its circuit: where and how cells are updated.

    `seed`, in [0, 2**64), names the random bits of start states and of fire masks.
    """

    geometry: Geometry
    fire_rate: float = 1.0
    seed: int = 0


class Simulator:
    """Holds the state of one grid and takes it through steps. Use it in a `with`.

    `workers` threads share the compiled engine's steps; the bits are the same for any number.
    Raises ValueError for a fire rate outside (0, 1], or fewer than one worker.
    """

    def __init__(
        self,
        circuit: LogicCircuit,
        conditions: Conditions,
        engine: Literal["interpreter", "compiled"] = "compiled",
        workers: int = 1,
    ) -> None:
        if not 0 < conditions.fire_rate <= 1 or workers < 1:
            raise ValueError("the fire rate must be in (0, 1], and there must be a worker")
        if conditions.geometry.channels != circuit.channels:
            raise ValueError("the grid needs the channels of the circuit")
        self.circuit, self.conditions = circuit, conditions
        self.step = 0
        """Steps taken so far."""
        self._grids = [BitGrid(conditions.geometry) for _ in range(2)]
        self._fire_key = stream_key(conditions.seed, Use.FIRE)
        self._threshold = threshold(conditions.fire_rate)
        self._engine: _Interpreted | _Compiled
        if engine == "interpreter":
            self._engine = _Interpreted(Interpreter(circuit))
        else:
            self._engine = _Compiled(circuit, conditions.geometry, workers)

    def __enter__(self) -> Simulator:
        self._engine.open()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._engine.close(*raised)

    @property
    def grid(self) -> BitGrid:
        """The state now."""
        return self._grids[0]

    def randomize(self, density: float = 0.5) -> None:
        """Draw each cell of each channel: 1 with probability `density`.

        A channel's bits depend on its label, not on which other channels there are.
        """
        geometry = self.conditions.geometry
        key, limit = stream_key(self.conditions.seed, Use.START), threshold(density)
        keys = child_keys(key, self.circuit.labels)
        for rows in geometry.bands():
            numbers = np.arange(rows.start, rows.stop)
            for channel, own in enumerate(keys.tolist()):
                packed = bernoulli(child_keys(own, numbers), geometry.words, limit)
                self.grid.words[rows, channel, self.grid.columns()] = packed
            self.grid.refresh_ends(rows)

    def run(
        self,
        steps: int,
        damage: Damage | None = None,
        progress: Callable[[int], None] = lambda done: None,
    ) -> None:
        """Take `steps` steps; zero what `damage` says after each of its steps.

        `progress` is called with the steps taken since here, several times a second, and may
        raise to stop: the state is then the one after those steps.
        """
        first, end = self.step, self.step + steps
        while self.step < end:
            stop = end if damage is None else min(end, damage.next_after(self.step))
            self._take(stop - self.step)
            if damage is not None:
                damage.apply(self.grid, self.step)
            progress(self.step - first)

    def _take(self, most: int) -> None:
        """Take at least one step and at most so many, for about CALL_SECONDS."""
        fire = None
        if self.conditions.fire_rate < 1:
            fire = (self._fire_key, self._threshold)
        steps, blocks = self._engine.take(*self._grids, self.step, most, fire)
        self.step += steps
        if blocks % 2:
            self._grids.reverse()


@dataclass
class _Pace:
    """How many steps fit into one call, learned from the calls before."""

    seconds_per_step: float | None = None

    def steps(self, most: int) -> int:
        if self.seconds_per_step is None:
            return 1
        return max(1, min(most, int(CALL_SECONDS / max(self.seconds_per_step, 1e-9))))

    def learn(self, steps: int, seconds: float) -> None:
        self.seconds_per_step = seconds / steps


@dataclass
class _Interpreted:
    """Steps by NumPy, on the calling thread."""

    interpreter: Interpreter

    def open(self) -> None:
        """Nothing is to be prepared."""

    def close(self, *raised: Any) -> None:
        """Nothing is held."""

    def take(
        self, source: BitGrid, target: BitGrid, step: int, most: int,
        fire: tuple[int, int] | None,
    ) -> tuple[int, int]:  # fmt: skip
        if fire is not None:
            key, limit = fire
            fire = int(child_keys(key, [step])[0]), limit
        self.interpreter.step(source, target, fire)
        return 1, 1


class _Compiled:
    """Steps by machine code, whose bands the workers' threads take one after the other."""

    def __init__(self, circuit: LogicCircuit, geometry: Geometry, workers: int) -> None:
        from difflogic.simulation import native

        self._native = native.native(circuit)
        self._yield = native.yield_address()
        self._geometry = geometry
        self._bands, self._depth = plan(geometry, workers)
        self._pace = _Pace()
        self._count = workers
        self._workers: Workers | None = None
        self._vectors = -(-geometry.words // self._native.vector_words)
        self._ring = LINE * -(-self._vectors * self._native.vector_words // LINE)
        size = self._ring + (self._depth - 1) * 3 * geometry.channels * geometry.stride + LINE
        self._scratch = [aligned(size) for _ in range(workers)]

    def open(self) -> None:
        if self._count > 1:
            from difflogic.engine.workers import Workers

            self._workers = Workers(self._count)
            self._workers.__enter__()

    def close(self, *raised: Any) -> None:
        if self._workers is not None:
            self._workers.__exit__(*raised)
            self._workers = None

    def take(
        self, source: BitGrid, target: BitGrid, step: int, most: int,
        fire: tuple[int, int] | None,
    ) -> tuple[int, int]:  # fmt: skip
        depth = min(self._depth, most)
        blocks = max(1, self._pace.steps(most) // depth)
        # Behind the bands' own lines comes the next ticket's.
        done = aligned((self._bands + 1) * LINE)
        parameters = self._parameters(source, target, step, fire, done)
        parameters[F.DEPTH], parameters[F.TICKETS] = depth, blocks * self._bands
        started = time.perf_counter()
        calls = [(parameters.ctypes.data, scratch.ctypes.data) for scratch in self._scratch]
        if self._workers is None:
            self._native.run(*calls[0])
        else:
            self._workers.run(self._native.run, calls)
        self._pace.learn(blocks * depth, time.perf_counter() - started)
        return blocks * depth, blocks

    def _parameters(
        self, source: BitGrid, target: BitGrid, step: int, fire: tuple[int, int] | None, done: Words
    ) -> Words:
        g = self._geometry
        seed, limit = fire or (0, 0)
        periodic = g.boundary == "periodic"
        full_rows = g.width % (64 * self._native.vector_words) == 0
        fields = {
            F.SOURCE: source.address, F.TARGET: target.address,
            F.TICKET: done.ctypes.data + 8 * LINE * self._bands, F.DONE: done.ctypes.data,
            F.TICKETS: 0, F.BANDS: self._bands, F.DEPTH: 1, F.HEIGHT: g.height,
            F.WRAP: g.height * -(-self._depth // g.height),
            F.ROW_STRIDE: g.channels * g.stride, F.CHANNEL_STRIDE: g.stride,
            F.VECTORS: self._vectors, F.RING: self._ring,
            F.LAST_WORD: g.words - 1, F.LAST_MASK: g.last_mask, F.LAST_BIT: g.last_bit,
            F.GHOST_WORD: g.width // 64, F.GHOST_BIT: g.width % 64,
            F.PERIODIC: periodic, F.ENDS: periodic or not full_rows,
            F.ASYNCHRONOUS: fire is not None, F.SEED: seed, F.FIRST_STEP: step,
            F.THRESHOLD: limit, F.DIGITS: digits(limit), F.YIELD: self._yield,
        }  # fmt: skip
        return np.array([fields[field] for field in F], np.uint64)


def plan(geometry: Geometry, workers: int) -> tuple[int, int]:
    """Return how many bands a grid is cut into, and how many steps a block has.

    Bands are high enough for the rows that two of them compute to be few.
    """
    bands = 1 if workers == 1 else max(1, min(geometry.height, BANDS_PER_WORKER * workers))
    row = 8 * geometry.channels * geometry.stride
    kept = RING_BYTES // (3 * row)
    deepest = geometry.height // bands // ROWS_PER_STEP
    return bands, max(1, min(MAX_DEPTH, 1 + kept, deepest))
