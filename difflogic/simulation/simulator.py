"""Runs one automaton on one grid of any size, by either engine, on any number of threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.simulation.bit_grid import BitGrid, Geometry
from difflogic.simulation.damage import Damage
from difflogic.simulation.interpreter import Interpreter, band_rows
from difflogic.simulation.random_bits import Fire, Use, bernoulli, child_keys, stream_key, threshold
from difflogic.simulation.schedule import schedule
from difflogic.system import machine
from difflogic.system.errors import ConfigError

if TYPE_CHECKING:
    from difflogic.simulation.compiled import Compiled

Engine = Literal["interpreter", "compiled"]

OPERATION_SECONDS, WORD_SECONDS = 1e-5, 4e-9
"""What the interpreter needs for a gate or an input of a band of rows, by itself and for each word
of 64 cells: a few calls of NumPy. From 200 000 steps of 3×3 cells, and from 1024×1024 cells."""

CACHED_SECONDS = 0.05
"""To find and load a compiled circuit."""

FIRE_OPERATIONS = 60
"""What a mask of firing cells costs the interpreter, in gates: ten digits of a random number."""

FIRE_GATES = 100
"""What it costs compiled code: ten digits, of ten operations."""

MOST_STEPS = 2**62
"""Of a state: numbers of steps stay far from the ends of 64 bits."""

MARGIN = 2**26
"""Bytes for everything but the grids: the interpreter's bands and the workers' rows."""

WORKER_WORK = 2**24
"""Cells times gates of a step from which a second thread gains something: some 10 µs."""


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
    """

    def __init__(
        self,
        circuit: Circuit,
        conditions: Conditions,
        engine: Engine = "compiled",
        workers: int = 1,
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        """Begin with zeros. `pause` is called while a circuit is compiled; it may raise to stop."""
        self.circuit, self.conditions = circuit, conditions
        self.step = 0
        """Steps taken so far."""
        self._grids = (BitGrid(conditions.geometry), BitGrid(conditions.geometry))
        self._fire = None
        if conditions.fire_rate < 1:
            self._fire = Fire.of(conditions.seed, conditions.fire_rate)
        self._engine: Interpreter | Compiled
        if engine == "interpreter":
            self._engine = Interpreter(circuit)
        else:
            from difflogic.simulation.compiled import Compiled

            self._engine = Compiled(circuit, conditions.geometry, workers, pause)

    def __enter__(self) -> Simulator:
        self._engine.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._engine.__exit__(*raised)

    @property
    def grid(self) -> BitGrid:
        """The state now."""
        return self._grids[0]

    def randomize(self, density: float = 0.5, pause: Callable[[], None] = lambda: None) -> None:
        """Draw each cell of each channel: 1 with probability `density`.

        A channel's bits depend on its label, not on which other channels there are. `pause` is
        called between bands of rows; it may raise to stop.
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
            pause()

    def run(
        self,
        steps: int,
        damage: Sequence[Damage] = (),
        progress: Callable[[int], None] = lambda done: None,
    ) -> None:
        """Take `steps` steps; zero what each `damage` says after each of its steps.

        `progress` is called with the steps taken since here, several times a second, also amid
        steps that take long. It may raise to stop: the state is then the one after those steps.
        Raises ConfigError for more than MOST_STEPS in all.
        """
        first, end = self.step, self.step + steps
        if end > MOST_STEPS:
            raise ConfigError(f"{end} steps: no state may be older than {MOST_STEPS}")

        def report() -> None:
            progress(self.step - first)

        while self.step < end:
            stop = min([end, *(each.next_after(self.step) for each in damage)])
            taken, blocks = self._engine.take(
                *self._grids, self.step, stop - self.step, self._fire, report
            )
            self.step += taken
            if blocks % 2:
                self._grids = (self._grids[1], self._grids[0])
            for each in damage:
                each.apply(self.grid, self.step)
            report()


def require_memory(geometry: Geometry, simulators: int = 1) -> None:
    """Raise ConfigError if the simulators' grids do not fit into the available memory."""
    needed, available = 2 * simulators * geometry.bytes + MARGIN, machine.available_memory()
    if available is None or needed <= available:
        return
    beside = f" for {simulators} paths side by side" if simulators > 1 else ""
    raise ConfigError(
        f"{geometry.height}×{geometry.width} cells of {geometry.channels} "
        f"channel{'' if geometry.channels == 1 else 's'} need {needed / 1e9:,.1f} GB{beside}, and "
        f"{available / 1e9:,.1f} GB are available: choose a smaller grid, or simplify the circuit, "
        "which drops channels"
    )


def choose_engine(circuit: Circuit, conditions: Conditions, steps: int) -> Engine:
    """Return the engine that takes all steps in less time, compiling included.

    Never to compile more than `native.MOST_GATES` gates.
    """
    interpreting = steps * _interpreted_step(circuit, conditions)
    if interpreting < CACHED_SECONDS:
        return "interpreter"
    from difflogic.simulation import native

    gates = schedule(circuit).gates
    if gates > native.MOST_GATES:
        return "interpreter"
    if interpreting > CACHED_SECONDS + native.compile_seconds(gates) or native.is_cached(circuit):
        return "compiled"
    return "interpreter"


def _interpreted_step(circuit: Circuit, conditions: Conditions) -> float:
    """Estimate the interpreter's seconds for a step."""
    order, geometry = schedule(circuit), conditions.geometry
    operations = order.gates + len(order.read_inputs) + circuit.channels
    operations += FIRE_OPERATIONS if conditions.fire_rate < 1 else 0
    bands = -(-geometry.height // band_rows(geometry))
    words = geometry.height * geometry.words
    return operations * (bands * OPERATION_SECONDS + words * WORD_SECONDS)


def useful_workers(circuit: Circuit, conditions: Conditions, cores: int) -> int:
    """Return how many of the cores' threads gain more than it costs to wake them."""
    gates = schedule(circuit).gates + (FIRE_GATES if conditions.fire_rate < 1 else 0)
    work = conditions.geometry.cells * max(1, gates)
    return max(1, min(cores, work // WORKER_WORK))
