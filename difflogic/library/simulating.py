"""Running circuits on grids of any size: `Conditions` and `simulate`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.identification import drawn
from difflogic.inspection.reversal import Reversal, reversal
from difflogic.library import starts
from difflogic.library.conditions import AS_TRAINED, Conditions
from difflogic.library.loaded import Loaded, Source, load
from difflogic.simulation import state_picture
from difflogic.simulation.bit_grid import BitGrid, Geometry
from difflogic.simulation.schedule import schedule
from difflogic.simulation.simulator import (
    EngineName,
    Simulator,
    World,
    choose_engine,
    require_memory,
    useful_workers,
)
from difflogic.system import machine
from difflogic.system.declaration import BackwardsOption, EngineOption, WorkersOption, checked
from difflogic.system.errors import ConfigError
from difflogic.system.files import require_output
from difflogic.system.json_values import chosen
from difflogic.system.work import checking, say, tell


@dataclass(frozen=True, eq=False)
class Simulated:
    """The last state of a simulation, and how it was computed."""

    source: Loaded
    automaton: Automaton
    """The automaton that was run."""
    simulator: Simulator
    start: str
    seed: int
    steps: int
    engine: EngineName
    workers: int
    seconds: float
    """Wall time of the steps, in seconds."""
    backwards: bool = False

    @property
    def grid(self) -> BitGrid:
        """The last state; `bits()` gives it as an array (channels, height, width)."""
        return self.simulator.grid

    @property
    def step(self) -> int:
        """Step number of the last state, counted from the original start."""
        return self.simulator.step

    @property
    def geometry(self) -> Geometry:
        return self.grid.geometry

    @property
    def updates_per_second(self) -> float | None:
        """Cell updates per second; None without steps."""
        return self.geometry.cells * self.steps / self.seconds if self.steps else None

    def populations(self) -> dict[int, int]:
        """Return the number of ones in each visible channel, by channel number."""
        counts = self.grid.populations()
        rows = self.automaton.visible_rows
        return {label: counts[row] for label, row in zip(self.automaton.visible, rows, strict=True)}

    def digest(self) -> str:
        """Return a SHA-256 of the visible channels, the same for all engines and workers."""
        return self.grid.digest(self.automaton.visible_rows)

    def as_dict(self) -> dict[str, Any]:
        """Return the results as values for JSON."""
        names = "start seed step steps backwards engine workers seconds updates_per_second"
        return {
            "source": self.source.name,
            "gates": self.automaton.circuit.gates,
            **chosen(self.automaton, "name", "boundary", "fire_rate"),
            **chosen(self.geometry, "channels", "height", "width"),
            **chosen(self, *names.split()),
            "noise": self.simulator.world.noise,
            "populations": self.populations(),
            "sha256": self.digest(),
        }

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write all channels to an .npz file that `simulate` can start from."""
        require_output(path, ".npz", force)
        starts.save_state(Path(path), self.simulator)

    def save_picture(self, path: str | Path, *, force: bool = False) -> int:
        """Draw the visible channels as PNG; return the cells per side of a pixel."""
        require_output(path, ".png", force)
        return state_picture.save_picture(
            Path(path), self.grid, self.automaton.visible_rows, self.automaton.palette
        )


@checked
def simulate(
    source: Source,
    conditions: Conditions = AS_TRAINED,
    *,
    engine: EngineOption = "auto",
    workers: WorkersOption = "auto",
    backwards: BackwardsOption = False,
) -> Simulated:
    """Run a circuit under some conditions, by default as in training.

    All engines and numbers of workers give the same bits; "auto" chooses the fastest engine, and as
    many workers as pay off.

    Raises what `load` raises, ConfigError for impossible conditions, and ProofError.
    """
    loaded = load(source, drawn.parse)
    frame = "" if conditions.frame is None else f"{conditions.start}, frame {conditions.frame}"
    conditions = conditions.begun(loaded.automaton)
    automaton = conditions.automaton(loaded)
    start = conditions.start_of(automaton)
    steps = automaton.steps
    back = _reversal(automaton, conditions) if backwards else None
    world = world_of(automaton, conditions)
    spared = automaton.held_rows
    damage = [each.place(world.geometry, steps, spared) for each in conditions.damage]
    chosen, count = _engine(automaton, world, engine, workers)
    with checking(partial(tell, f"compiling {automaton.circuit.gates} gates:")):
        running = Simulator(automaton.circuit, world, chosen, count)
    with running:
        with checking(partial(tell, "start:")):
            starts.prepare(running, automaton, conditions)
        if back is not None:
            _exchange(running.grid, back)
        first = running.step
        began = time.perf_counter()
        tell("steps:", 0, steps)
        with checking(lambda: tell("steps:", running.step - first, steps)):
            running.run(steps, damage)
        seconds = time.perf_counter() - began
        if back is not None:
            _exchange(running.grid, back)
            running.step = max(0, first - steps)
    name = frame or (start if isinstance(start, str) else "array")
    return Simulated(
        loaded, automaton, running, name, conditions.seed, steps, chosen, count, seconds, backwards
    )


def world_of(automaton: Automaton, conditions: Conditions) -> World:
    """Return what a simulator needs besides the circuit. Raises ConfigError without the memory."""
    geometry = Geometry(
        automaton.circuit.channels, automaton.height, automaton.width, automaton.boundary
    )
    require_memory(geometry)
    return World(geometry, automaton.fire_rate, conditions.seed, conditions.noise)


def _reversal(automaton: Automaton, conditions: Conditions) -> Reversal:
    """Return how to run backwards, or raise ConfigError."""
    found = reversal(automaton.circuit)
    if (
        found is None
        and automaton.before
        and automaton.circuit.channels > 2 * len(automaton.before)
    ):
        raise ConfigError(
            "--backwards: a rule of radius 2 or 3 takes several steps for one, and runs forwards "
            "only: start it from a film of the two last frames in the other order"
        )
    if found is None or automaton.fire_rate < 1 or conditions.noise or conditions.damage:
        raise ConfigError(
            "--backwards: is for rules that remember one frame and are proved reversible (dct "
            "inspect), without damage and noise, at fire rate 1"
        )
    return found


def _exchange(grid: BitGrid, back: Reversal) -> None:
    """Let the states now and before change places, to run backwards."""
    order = np.arange(grid.geometry.channels)
    order[[*back.now, *back.before]] = [*back.before, *back.now]
    for rows in grid.geometry.bands():
        grid.load(rows, grid.cells(rows)[:, order])


def _engine(
    automaton: Automaton, world: World, engine: str, workers: int | Literal["auto"]
) -> tuple[EngineName, int]:
    """Return the engine and its number of workers; say if compiling takes long, or too long."""
    from difflogic.simulation import native

    circuit = automaton.circuit
    steps = automaton.steps
    gates = schedule(circuit).gates
    if engine == "interpreter" or circuit.interpreter:
        if workers not in ("auto", 1):
            raise ConfigError(f"--workers {workers}: the interpreter has one: leave it out")
        return "interpreter", 1
    if gates > native.MOST_GATES:
        if steps:
            say(
                f"using the interpreter: compiling more than {native.MOST_GATES} gates takes "
                "minutes; dct simplify may leave fewer"
            )
        return "interpreter", 1
    if engine == "auto" and choose_engine(circuit, world, steps) == "interpreter":
        return "interpreter", 1
    if not native.is_cached(circuit):
        say(f"compiling {circuit.gates} gates, once …")
        problem = native.CACHE.problem()
        if problem is not None:
            say(problem)
    if workers != "auto":
        return "compiled", workers
    return "compiled", useful_workers(circuit, world, machine.cpu_count())
